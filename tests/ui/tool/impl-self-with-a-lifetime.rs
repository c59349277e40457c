use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn weather<'a>(&'a self) {}
}

fn main() {
    let _ = agent_core::ToolSet::new(Station);
}
