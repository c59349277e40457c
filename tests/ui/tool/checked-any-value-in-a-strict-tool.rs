use agent_core::tool;

#[tool(strict)]
fn show(value: Option<serde_json::Value>) -> bool {
    value.is_some()
}

fn main() {}
