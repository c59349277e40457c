use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool(register = false)]
    async fn weather(&self) {}
}

fn main() {
    let _ = agent_core::ToolSet::new(Station);
}
