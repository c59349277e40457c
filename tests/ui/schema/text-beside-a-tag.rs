use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[serde(tag = "kind")]
enum Seat {
    Named(String),
}

fn main() {}
