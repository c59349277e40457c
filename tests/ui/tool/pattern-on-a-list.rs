use agent_core::tool;

#[tool]
async fn forecast(#[param(pattern = "^[a-z]+$")] _cities: Vec<String>) -> String {
    String::new()
}

fn main() {}
