use agent_core::tool;

#[tool(effect = "none")]
async fn read() {}

fn main() {}
