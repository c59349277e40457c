use agent_core::{tool, tools};

#[tool]
async fn search(query: String) -> String {
    query
}

#[tool]
fn search(text: &str, limit: u8) -> String {
    text.repeat(limit.into())
}

fn main() {
    let _ = tools![search];
}
