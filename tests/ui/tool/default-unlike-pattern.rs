use agent_core::tool;

#[tool]
async fn forecast(#[param(pattern = "^[a-z]+$", default = "Oslo")] _city: String) -> String {
    String::new()
}

fn main() {}
