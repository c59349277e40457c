use agent_core::{tool, tools};

#[tool]
async fn get_weather() {}

fn main() {
    let _ = tools!["get_weather"];
}
