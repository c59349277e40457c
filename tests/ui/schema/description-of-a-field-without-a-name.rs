use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Celsius(#[param(description = "degrees")] f64);

fn main() {}
