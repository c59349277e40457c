use agent_core::tool;

#[tool]
async fn forecast(#[param(example = "three")] _days: u8) -> String {
    String::new()
}

fn main() {}
