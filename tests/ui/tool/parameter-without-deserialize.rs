use agent_core::schema::{Schema, ToolSchema};
use agent_core::tool;

struct Celsius(f64);

impl ToolSchema for Celsius {
    const SCHEMA: Schema = Schema::Number;
}

#[tool]
async fn heat(to: Celsius) -> f64 {
    to.0
}

fn main() {}
