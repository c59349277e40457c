//! Tools.
mod definition;
mod error;
pub use definition::ToolDefinition;
pub use error::{ToolError, ToolErrorKind};
