use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[param(rename = "fullName")]
    name: &'static str,
    #[param(default = 1)]
    seats: u8,
}

fn main() {}
