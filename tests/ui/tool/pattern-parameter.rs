use agent_core::tool;

#[tool]
async fn distance((x, y): (f64, f64)) -> f64 {
    x.hypot(y)
}

fn main() {}
