use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn weather(self: Box<Self>) {}
}

fn main() {
    let _ = agent_core::ToolSet::new(Station);
}
