use agent_core::schema::{Property, Schema};
use agent_core::{ToolSchema, tool};
use serde::Deserialize;

#[derive(Deserialize)]
struct Guest {
    name: String,
}

impl ToolSchema for Guest {
    const SCHEMA: Schema = Schema::Object(&[
        Property::of::<String>("name"),
        Property::of::<String>("name"),
    ]);
}

#[tool]
fn book(guest: Guest) -> usize {
    guest.name.len()
}

fn main() {}
