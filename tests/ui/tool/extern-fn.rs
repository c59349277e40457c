use agent_core::tool;

#[tool]
extern "C" fn answer() -> u8 {
    42
}

fn main() {}
