use agent_core::tool;

#[tool]
async fn forecast(#[param(exclusive_minimum = 2.5, maximum = 2.5)] _scale: f64) -> String {
    String::new()
}

fn main() {}
