use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[serde(tag = "kind")]
enum Seat {
    Window { kind: String },
}

fn main() {}
