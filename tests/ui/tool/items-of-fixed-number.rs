use agent_core::tool;

#[tool]
async fn forecast(#[param(min_items = 1)] _point: [f64; 2]) -> String {
    String::new()
}

fn main() {}
