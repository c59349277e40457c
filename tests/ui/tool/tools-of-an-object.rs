use agent_core::{tool, tools};

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn weather(&self) {}
}

fn main() {
    let _ = tools![Station];
}
