use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn weather<T>(&self, city: T) {
        drop(city);
    }
}

fn main() {
    let _ = agent_core::ToolSet::new(Station);
}
