use agent_core::ToolSchema;

struct Name;

#[derive(ToolSchema)]
struct Guest {
    name: Option<Name>,
}

fn main() {}
