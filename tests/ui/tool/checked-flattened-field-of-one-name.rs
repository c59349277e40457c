use agent_core::{ToolSchema, tool};
use serde::Deserialize;

#[derive(Deserialize, ToolSchema)]
struct Person {
    name: String,
}

#[derive(Deserialize, ToolSchema)]
struct Guest {
    name: String,
    #[serde(flatten)]
    person: Person,
}

#[tool]
fn book(guest: Guest) -> usize {
    guest.name.len() + guest.person.name.len()
}

fn main() {}
