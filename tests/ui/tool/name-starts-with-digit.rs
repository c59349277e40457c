use agent_core::tool;

#[tool(name = "2fast")]
async fn fast() {}

fn main() {}
