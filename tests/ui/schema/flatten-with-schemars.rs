use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[serde(flatten)]
    #[param(schemars)]
    names: std::collections::BTreeMap<String, String>,
}

fn main() {}
