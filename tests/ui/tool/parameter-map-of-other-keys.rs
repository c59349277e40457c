use std::collections::HashMap;

use agent_core::{ToolSchema, tool};

#[derive(PartialEq, Eq, Hash, serde::Deserialize, ToolSchema)]
enum Unit {
    Mile,
}

#[tool]
async fn convert(lengths: HashMap<Unit, f64>) -> usize {
    lengths.len()
}

fn main() {}
