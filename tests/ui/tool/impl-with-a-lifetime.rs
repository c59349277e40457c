use agent_core::tool;

struct Station<'a>(&'a str);

#[tool]
impl<'a> Station<'a> {
    #[tool]
    async fn weather(&self) -> &str {
        self.0
    }
}

fn main() {}
