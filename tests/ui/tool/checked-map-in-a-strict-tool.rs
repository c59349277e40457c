use std::collections::HashMap;

use agent_core::tool;

#[tool(strict)]
fn show(city: String, labels: HashMap<String, u8>) -> usize {
    city.len() + labels.len()
}

fn main() {}
