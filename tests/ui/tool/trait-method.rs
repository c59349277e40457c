use agent_core::tool;

trait Weather {
    #[tool]
    async fn weather(&self, city: String) -> String;
}

fn main() {}
