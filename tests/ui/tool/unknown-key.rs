use agent_core::tool;

#[tool(nmae = "weather")]
async fn get_weather() {}

fn main() {}
