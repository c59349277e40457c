use agent_core::ToolSchema;

#[derive(ToolSchema)]
#[param(crate = "core_renamed")]
struct Guest {
    name: String,
}

fn main() {}
