use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[param(crate = nowhere)]
struct Guest {
    name: String,
}

fn main() {}
