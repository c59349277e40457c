use agent_core::ToolSchema;
use serde::Deserialize;

#[derive(Deserialize, ToolSchema)]
struct Forecast {
    #[param(min_length = 1)]
    days: u8,
}

fn main() {
    let _ = Forecast { days: 1 }.days;
}
