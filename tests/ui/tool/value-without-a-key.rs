use agent_core::tool;

#[tool("Current weather of a city.")]
async fn get_weather() {}

fn main() {}
