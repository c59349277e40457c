use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Nothing();

fn main() {}
