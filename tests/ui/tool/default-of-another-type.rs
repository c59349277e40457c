use agent_core::tool;

#[tool]
async fn forecast(#[param(default = "three")] days: u8) -> u8 {
    days
}

fn main() {}
