use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn weather(&mut self, city: Option<&str>) {}

    #[tool(timeout = 3)]
    async fn forecast(&self) {}
}

fn main() {
    let _ = agent_core::ToolSet::new(Station);
}
