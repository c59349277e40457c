use std::rc::Rc;

use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn count(&self) -> usize {
        let shared = Rc::new(1);
        std::future::ready(()).await;
        Rc::strong_count(&shared)
    }
}

fn main() {}
