use agent_core::{ToolContext, tool};

/// Shows a city.
#[tool(require_docs)]
fn show(
    /// Which one
    city: String,
    days: u8,
    _context: &ToolContext,
) -> usize {
    city.len() + usize::from(days)
}

fn main() {}
