use agent_core::tool;

#[tool]
async fn forecast(#[param(max_length = 2, min_length = 3)] _city: String) -> String {
    String::new()
}

fn main() {}
