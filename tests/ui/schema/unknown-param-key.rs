use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[param(descripton = "Full name")]
    name: String,
}

fn main() {}
