use agent_core::tool;

struct Station;

impl Station {
    #[tool]
    async fn weather(city: String) -> String {
        city
    }
}

fn main() {}
