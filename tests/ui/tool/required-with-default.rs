use agent_core::tool;

#[tool]
async fn forecast(#[param(required, default = 1)] _days: u8) -> String {
    String::new()
}

fn main() {}
