use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest {
    names: Vec<Option<&'static str>>,
}

fn main() {}
