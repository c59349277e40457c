use agent_core::ToolSchema;

struct Name;

#[derive(ToolSchema)]
struct Guest(Name);

fn main() {}
