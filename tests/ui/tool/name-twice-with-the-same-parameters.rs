use agent_core::{tool, tools};

#[tool]
async fn search(query: String) -> String {
    query
}

#[tool]
async fn search(query: String) -> String {
    query
}

fn main() {
    let _ = tools![search];
}
