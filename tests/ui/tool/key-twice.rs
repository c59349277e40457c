use agent_core::tool;

#[tool(name = "weather", name = "get_weather")]
async fn get_weather() {}

fn main() {}
