use agent_core::tool;

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn weather(&self, city: Option<str>) -> usize {
        city.map_or(0, |city| city.len())
    }
}

fn main() {
    let _ = agent_core::ToolSet::new(Station);
}
