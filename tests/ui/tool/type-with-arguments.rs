use agent_core::tool;

#[tool(type = Weather<u8>)]
async fn get_weather() {}

fn main() {}
