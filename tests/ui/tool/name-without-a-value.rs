use agent_core::tool;

#[tool(name)]
async fn get_weather() {}

fn main() {}
