use agent_core::tool;

const TEXT: &str = "Weather of a city.";

#[tool(description = TEXT)]
async fn get_weather() {}

fn main() {}
