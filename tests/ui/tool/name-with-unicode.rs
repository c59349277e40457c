use agent_core::tool;

#[tool(name = "größe")]
async fn size() {}

fn main() {}
