use agent_core::tool;

trait Weather {}

#[tool]
impl Weather {
    #[tool]
    async fn weather(&self) {}
}

fn main() {}
