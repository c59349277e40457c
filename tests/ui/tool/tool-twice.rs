use agent_core::{tool, tools};

#[tool]
#[tool(name = "forecast")]
async fn weather() {}

fn main() {
    let _ = tools![weather];
}
