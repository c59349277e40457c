use agent_core::ToolSchema;

struct Name;

#[derive(ToolSchema)]
#[serde(from = "Name")]
struct Guest {
    name: String,
}

fn main() {}
