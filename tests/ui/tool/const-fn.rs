use agent_core::tool;

#[tool]
const fn answer() -> u8 {
    42
}

fn main() {}
