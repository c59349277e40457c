//! Tools.
mod callback;
mod context;
mod error;
mod metadata;
pub use callback::{InterruptRequest, ToolCallback, ToolOutcome};
pub use context::{Host, ToolContext};
pub use error::{ToolError, ToolErrorKind};
pub use metadata::{Effect, ToolMetadata};

pub(crate) mod arguments;
pub(crate) mod definition;
mod fit;
pub(crate) mod input_schema;
pub(crate) mod output;
pub(crate) mod param;
pub(crate) mod probe;

pub(crate) use definition::ToolDefinition;
pub use input_schema::InputSchema;
pub use output::Json;
pub(crate) use output::{IntoToolOutput, ToolOutput};
pub use param::{HostType, ParamKind, ToolParam};
