use agent_core::tool;

#[derive(serde::Deserialize)]
struct Filter;

struct Station;

#[tool]
impl Station {
    #[tool]
    async fn weather(&self, filter: Filter) {
        drop(filter);
    }
}

fn main() {}
