use agent_core::tool;

#[tool]
async fn shout(text: str) -> usize {
    text.len()
}

fn main() {}
