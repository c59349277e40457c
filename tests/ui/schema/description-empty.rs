use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[param(description = " ")]
    name: String,
}

fn main() {}
