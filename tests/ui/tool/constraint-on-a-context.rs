use agent_core::{ToolContext, tool};
#[tool]
async fn forecast(#[param(minimum = 1)] _context: &ToolContext) -> String {
    String::new()
}

fn main() {}
