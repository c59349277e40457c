use agent_core::tool;

struct Station;

#[tool(block = 1)]
impl Station {
    #[tool]
    async fn weather(&self) {}
}

fn main() {}
