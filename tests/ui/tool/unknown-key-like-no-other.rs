use agent_core::tool;

#[tool(cache = 3)]
async fn get_weather() {}

fn main() {}
