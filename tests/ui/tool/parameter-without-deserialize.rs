use agent_core::schema::Schema;
use agent_core::{ToolSchema, tool};

struct Celsius(f64);

impl ToolSchema for Celsius {
    const SCHEMA: Schema = Schema::Number;
}

#[tool]
async fn heat(to: Celsius) -> f64 {
    to.0
}

fn main() {}
