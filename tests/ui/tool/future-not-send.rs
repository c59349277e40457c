use std::rc::Rc;

use agent_core::tool;

#[tool]
async fn count() -> usize {
    let shared = Rc::new(1);
    std::future::ready(()).await;
    Rc::strong_count(&shared)
}

fn main() {}
