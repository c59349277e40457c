use agent_core::tool;

#[tool]
async fn forecast(#[param(min_items = 1)] _city: Option<String>) -> String {
    String::new()
}

fn main() {}
