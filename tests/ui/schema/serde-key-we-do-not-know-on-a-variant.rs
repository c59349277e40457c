use agent_core::ToolSchema;

#[derive(ToolSchema)]
enum Seat {
    #[serde(case_insensitive)]
    Window,
}

fn main() {}
