use agent_core::{ToolSet, tool};

#[tool]
async fn get_weather() {}

fn main() {
    let _ = ToolSet::new(get_weather);
}
