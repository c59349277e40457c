use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[serde(flatten)]
    names: Vec<String>,
}

fn main() {}
