use std::rc::Rc;

use agent_core::tool;

struct Station(Rc<u8>);

#[tool]
impl Station {
    #[tool]
    async fn weather(&self) -> u8 {
        std::future::ready(()).await;
        *self.0
    }

    #[tool]
    fn forecast(&self) -> u8 {
        *self.0
    }
}

fn main() {}
