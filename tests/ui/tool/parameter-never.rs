use agent_core::tool;

#[tool]
async fn read(value: !) -> u8 {
    value
}

fn main() {}
