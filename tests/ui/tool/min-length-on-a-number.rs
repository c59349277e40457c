use agent_core::tool;

#[tool]
async fn forecast(#[param(min_length = 1)] _days: u8) -> String {
    String::new()
}

fn main() {}
