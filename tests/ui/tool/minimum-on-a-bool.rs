use agent_core::tool;

#[tool]
async fn forecast(#[param(minimum = 1)] _detailed: bool) -> String {
    String::new()
}

fn main() {}
