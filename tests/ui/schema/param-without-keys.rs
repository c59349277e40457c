use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[param]
    name: String,
}

fn main() {}
