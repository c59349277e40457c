use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[param(open)]
enum Seat {
    Window,
}

fn main() {}
