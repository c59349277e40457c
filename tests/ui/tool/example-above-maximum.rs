use agent_core::tool;

#[tool]
async fn forecast(#[param(maximum = 7, example = 8)] _days: u8) -> String {
    String::new()
}

fn main() {}
