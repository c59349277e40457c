use agent_core::tool;

#[tool]
async fn forecast(#[param(pattern = "[a-z")] _city: String) -> String {
    String::new()
}

fn main() {}
