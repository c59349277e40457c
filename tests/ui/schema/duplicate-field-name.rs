use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[serde(rename_all = "camelCase")]
struct Guest {
    first_name: String,
    #[serde(rename = "firstName")]
    name: String,
}

fn main() {}
