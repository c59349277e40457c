use agent_core::tool;

#[tool]
unsafe fn answer() -> u8 {
    42
}

fn main() {}
