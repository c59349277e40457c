use agent_core::tool;

struct Station;

#[tool(name = "station")]
impl Station {
    #[tool]
    async fn weather(&self) {}
}

fn main() {}
