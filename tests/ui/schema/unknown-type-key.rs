use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[param(name = "Visitor")]
struct Guest {
    name: String,
}

fn main() {}
