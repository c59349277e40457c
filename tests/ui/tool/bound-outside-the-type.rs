use agent_core::tool;

#[tool]
async fn forecast(#[param(maximum = 300)] _days: u8) -> String {
    String::new()
}

fn main() {}
