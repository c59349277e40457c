use agent_core::tool;

#[tool(crate = "agent_core")]
async fn get_weather() {}

fn main() {}
