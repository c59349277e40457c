use agent_core::tool;

trait Weather {}

#[tool]
impl dyn Weather {
    #[tool]
    async fn weather(&self) {}
}

fn main() {}
