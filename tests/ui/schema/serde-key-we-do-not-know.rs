use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[serde(case_insensitive)]
    name: String,
}

fn main() {}
