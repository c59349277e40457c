use agent_core::tool;

#[tool]
async fn forecast(#[param(pattern = 7)] _city: String) -> String {
    String::new()
}

fn main() {}
