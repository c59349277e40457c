use agent_core::{Host, tool};

trait Store: Send + Sync {
    fn len(&self) -> usize;
}

#[tool]
async fn count(store: Host<dyn Store>) -> usize {
    store.len()
}

fn main() {}
