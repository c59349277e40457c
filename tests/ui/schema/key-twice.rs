use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[param(description = "Full name", description = "Name")]
    name: String,
}

fn main() {}
