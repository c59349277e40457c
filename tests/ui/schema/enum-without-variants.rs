use agent_core::ToolSchema;

#[derive(ToolSchema)]
enum Seat {}

fn main() {}
