use agent_core::tool;

#[tool]
async fn forecast(#[param(required = false)] _days: u8) -> String {
    String::new()
}

fn main() {}
