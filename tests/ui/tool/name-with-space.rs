use agent_core::tool;

#[tool(name = "get weather")]
async fn get_weather() {}

fn main() {}
