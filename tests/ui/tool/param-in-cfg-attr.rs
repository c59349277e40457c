use agent_core::tool;

#[tool]
async fn forecast(#[cfg_attr(all(), param(minimum = 1))] days: u8) -> u8 {
    days
}

fn main() {}
