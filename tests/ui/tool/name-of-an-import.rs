use agent_core::tool;
use index::search;

mod index {
    pub(crate) fn search() {}
}

#[tool]
async fn search(query: String) -> String {
    query
}

fn main() {}
