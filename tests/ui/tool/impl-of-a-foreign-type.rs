use agent_core::tool;

#[tool]
impl String {
    #[tool]
    async fn weather(&self, city: &str, days: u8) -> String {
        city.repeat(days.into())
    }

    #[tool]
    fn place(&self) -> &str {
        self
    }
}

fn main() {}
