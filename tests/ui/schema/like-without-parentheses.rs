use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    #[serde(with = "seconds")]
    #[param(like = u64)]
    wait: std::time::Duration,
}

fn main() {}
