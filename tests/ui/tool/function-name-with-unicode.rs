use agent_core::tool;

#[tool]
async fn größe() {}

fn main() {}
