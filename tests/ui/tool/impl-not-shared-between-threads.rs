use std::cell::Cell;

use agent_core::tool;

struct Station(Cell<u8>);

#[tool]
impl Station {
    #[tool]
    async fn weather(&self) -> u8 {
        std::future::ready(()).await;
        self.0.get()
    }

    #[tool]
    fn forecast(&self) -> u8 {
        self.0.get()
    }
}

fn main() {}
