use agent_core::tool;

#[tool(type = "Weather")]
async fn get_weather() {}

fn main() {}
