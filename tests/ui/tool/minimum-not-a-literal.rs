use agent_core::tool;

const LEAST: u8 = 1;

#[tool]
async fn forecast(#[param(minimum = LEAST)] days: u8) -> u8 {
    days
}

fn main() {}
