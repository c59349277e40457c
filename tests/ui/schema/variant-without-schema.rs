use agent_core::ToolSchema;

struct Name;

#[derive(ToolSchema)]
enum Guest {
    Named(Name),
}

fn main() {}
