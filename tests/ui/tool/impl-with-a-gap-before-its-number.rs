use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn weather(&self) {}
}

#[tool(block = 3)]
impl Station {
    #[tool]
    async fn forecast(&self) {}
}

fn main() {}
