use agent_core::tool;

#[tool]
async fn serde_json(text: String) -> String {
    text
}

#[tool]
async fn show(value: serde_json::Map<String, serde_json::Value>) -> usize {
    value.len()
}

fn main() {}
