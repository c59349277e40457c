use agent_core::tool;

#[tool(name = "")]
async fn nothing() {}

fn main() {}
