use agent_core::tool;

fn search() {}

#[tool]
async fn search(query: String) -> String {
    query
}

fn main() {
    search();
}
