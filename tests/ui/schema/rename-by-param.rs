use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[param(rename = "fullName")]
    name: String,
}

fn main() {}
