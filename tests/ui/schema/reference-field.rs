use agent_core::ToolSchema;

#[derive(ToolSchema)]
struct Guest<'a> {
    name: &'a str,
}

fn main() {}
