use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[serde(remote = "std::time::Duration")]
struct Duration {
    secs: u64,
}

fn main() {}
