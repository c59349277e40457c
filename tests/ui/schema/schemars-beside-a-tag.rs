use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[serde(tag = "kind")]
enum Seat {
    Named(#[param(schemars)] std::collections::BTreeMap<String, String>),
}

fn main() {}
