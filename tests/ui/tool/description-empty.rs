use agent_core::tool;

#[tool(description = "")]
async fn get_weather() {}

fn main() {}
