use agent_core::tool;

#[tool]
async fn forecast(#[param(minimum = 1, min_length = 1)] _city: String) -> String {
    String::new()
}

fn main() {}
