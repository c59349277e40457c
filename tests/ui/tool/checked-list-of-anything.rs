use agent_core::tool;

#[tool]
fn show(values: Vec<serde_json::Value>) -> usize {
    values.len()
}

fn main() {}
