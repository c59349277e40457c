//! Rust functions as tools of language models, and the agent graph that runs them.

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod agent;
mod boxed;
pub mod event;
pub mod graph;
mod id;
pub mod message;
pub mod model;
pub mod registry;
pub mod schema;
mod state;
pub mod telemetry;
pub mod tool;
mod wire_cache;

pub use boxed::{BoxError, BoxFuture, BoxStream};
pub use message::Message;
pub use schema::ToolSchema;
pub use tool::callback::ToolCallback;
pub use tool::context::ToolContext;
pub use tool::definition::ToolDefinition;
pub use tool::error::ToolError;
pub use tool::host::Host;
pub use tool::output::{IntoToolOutput, ToolOutput};
pub use tool::set::ToolSet;
