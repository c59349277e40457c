use agent_core::{ToolSchema, tool};
use serde::Deserialize;

#[derive(Deserialize, ToolSchema)]
struct Guest {
    /// Full name
    name: String,
    age: u8,
}

/// Books a table.
#[tool(require_docs)]
fn book(
    /// Who comes
    guest: Guest,
) -> usize {
    guest.name.len() + usize::from(guest.age)
}

fn main() {}
