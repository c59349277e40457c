use agent_core::tool;

mod search {}

#[tool]
async fn search(query: String) -> String {
    query
}

fn main() {}
