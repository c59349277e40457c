use agent_core::tool;

#[tool(name = "weather.get")]
async fn get_weather() {}

fn main() {}
