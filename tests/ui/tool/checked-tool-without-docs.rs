use agent_core::tool;

#[tool(require_docs)]
fn show() {}

fn main() {}
