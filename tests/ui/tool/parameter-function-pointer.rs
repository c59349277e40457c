use agent_core::tool;

#[tool]
async fn apply(to: fn(u8) -> u8) -> u8 {
    to(1)
}

fn main() {}
