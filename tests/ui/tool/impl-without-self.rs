use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn weather(city: String) {
        drop(city);
    }
}

fn main() {
    let _ = agent_core::ToolSet::new(Station);
}
