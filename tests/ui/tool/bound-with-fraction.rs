use agent_core::tool;

#[tool]
async fn forecast(#[param(minimum = 0.5)] _days: u8) -> String {
    String::new()
}

fn main() {}
