use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Point(f64, f64);

fn main() {}
