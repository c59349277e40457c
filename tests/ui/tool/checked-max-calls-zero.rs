use agent_core::tool;

#[tool(max_calls = 0)]
fn show() {}

fn main() {}
