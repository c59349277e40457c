//! What `#[derive(ToolSchema)]` says of a type.

mod structs;
mod unit_enums;

use agent_core::ToolSchema;

fn schema<T: ToolSchema>() -> String {
    T::SCHEMA.to_string()
}
