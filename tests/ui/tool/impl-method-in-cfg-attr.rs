use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[cfg_attr(all(), tool)]
    async fn weather(&self) {}
}

fn main() {
    let _ = agent_core::ToolSet::new(Station);
}
