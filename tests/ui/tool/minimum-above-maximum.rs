use agent_core::tool;

#[tool]
async fn forecast(#[param(minimum = 5, maximum = 1)] _days: u8) -> String {
    String::new()
}

fn main() {}
