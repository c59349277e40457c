use agent_core::ToolSchema;

#[derive(serde::Deserialize)]
struct Name;

#[derive(ToolSchema)]
struct Guest {
    #[param(schemars)]
    name: Name,
}

fn main() {}
