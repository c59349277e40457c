use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[param(default = 1)]
    seats: u8,
}

fn main() {}
