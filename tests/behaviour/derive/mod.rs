//! What `#[derive(ToolSchema)]` says of a type.

mod agreement;
mod cases;
mod definitions;
mod enums;
mod reading;
mod recursion;
mod structs;
mod unit_enums;

use agent_core::ToolSchema;

fn schema<T: ToolSchema>() -> String {
    T::SCHEMA.to_string()
}

fn value<T: ToolSchema>() -> serde_json::Value {
    serde_json::from_str(&schema::<T>()).expect("the text is JSON")
}
