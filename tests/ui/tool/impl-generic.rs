use agent_core::tool;

struct Station<T>(T);

#[tool]
impl<T: Copy> Station<T> {
    #[tool]
    async fn weather(&self) {}
}

fn main() {}
