use agent_core::ToolSchema;

#[derive(ToolSchema)]
enum Wait {
    #[serde(deserialize_with = "seconds")]
    For(std::time::Duration),
}

fn main() {}
