use agent_core::ToolSchema;
use serde::Deserialize;

#[derive(Deserialize, ToolSchema)]
struct Celsius(#[param(minimum = -273)] f64);

fn main() {
    let _ = Celsius(0.0).0;
}
