use agent_core::tool;

struct Station;

impl Station {
    #[tool]
    async fn weather(&self, city: String) -> String {
        city
    }
}

fn main() {}
