use agent_core::tool;

#[tool(timeout = 30)]
async fn slow() {}

fn main() {}
