use agent_core::tool;

struct Station;

#[tool]
impl Station {
    pub async fn weather(&self, city: String) -> String {
        city
    }
}

fn main() {}
