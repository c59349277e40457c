use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[serde(with = "seconds")]
    wait: std::time::Duration,
}

fn main() {}
