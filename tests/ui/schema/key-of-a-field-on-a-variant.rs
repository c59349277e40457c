use agent_core::ToolSchema;

#[derive(ToolSchema)]
enum Seat {
    #[param(default)]
    Window,
}

fn main() {}
