use agent_core::tool;

#[tool]
async fn forecast(#[param(example = 300)] _days: u8) -> String {
    String::new()
}

fn main() {}
