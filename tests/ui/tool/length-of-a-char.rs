use agent_core::tool;

#[tool]
async fn forecast(#[param(max_length = 1)] _letter: char) -> String {
    String::new()
}

fn main() {}
