use agent_core::tool;

#[tool]
async fn forecast(#[param(example = 1.5)] _days: u8) -> String {
    String::new()
}

fn main() {}
