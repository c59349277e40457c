use agent_core::ToolSchema;

#[derive(ToolSchema)]
enum Seat {
    #[serde(skip)]
    Window,
    #[serde(other)]
    Unknown,
}

fn main() {}
