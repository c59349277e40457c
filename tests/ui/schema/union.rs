use agent_core::ToolSchema;

#[derive(ToolSchema)]
union Number {
    whole: u32,
    real: f32,
}

fn main() {}
