use agent_core::tool;

#[tool]
async fn now(_: String) -> String {
    "noon".to_owned()
}

fn main() {}
