use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[serde(rename_all = "lowercase")]
enum Seat {
    Window,
    #[serde(rename = "window")]
    View,
}

fn main() {}
