use agent_core::tool;

#[tool]
async fn forecast(#[param(min_length = 1, default = 7)] _city: String) -> String {
    String::new()
}

fn main() {}
