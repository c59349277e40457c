use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool(nmae = "forecast")]
    async fn weather(&self) {}
}

fn main() {
    let _ = agent_core::ToolSet::new(Station);
}
