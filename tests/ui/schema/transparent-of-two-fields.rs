use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[serde(transparent)]
struct Guest {
    name: String,
    age: u8,
}

fn main() {}
