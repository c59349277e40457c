use agent_core::tool;

#[tool(timeout = "1.5s")]
async fn slow() {}

fn main() {}
