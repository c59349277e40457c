use agent_core::tool;

#[tool]
async fn forecast(#[param(minimum = "1")] _days: u8) -> String {
    String::new()
}

fn main() {}
