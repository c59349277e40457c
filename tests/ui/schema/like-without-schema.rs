use agent_core::ToolSchema;

struct Seconds;

#[derive(ToolSchema)]
struct Guest {
    #[param(like(Seconds))]
    wait: std::time::Duration,
}

fn main() {}
