use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    name: Box<dyn std::fmt::Debug>,
}

fn main() {}
