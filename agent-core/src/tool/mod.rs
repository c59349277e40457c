//! Tools: what a model may call, and how it is run.
//!
//! A [`ToolDefinition`] is what the model reads: name, description, input schema. A
//! [`ToolCallback`] is what runs. `#[tool]` makes both from a function. A [`ToolSet`] holds
//! the tools of an agent, each name once.
//!
//! ```
//! use agent_core::{ToolSet, tool, tools};
//!
//! /// Adds two numbers.
//! #[tool]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! let set = ToolSet::new(tools![add])?;
//! assert_eq!(set.names().collect::<Vec<_>>(), ["add"]);
//! # Ok::<(), agent_core::tool::ToolSetError>(())
//! ```
//!
//! Not here: which tools a model sees and when they run (`agent`).

pub(crate) mod by_reference;
pub(crate) mod const_check;
pub(crate) mod definition;
pub(crate) mod input;
pub(crate) mod input_schema;
pub(crate) mod of_function;
pub(crate) mod param;

pub(crate) mod callback;
mod cancel;
mod choice;
pub(crate) mod context;
pub(crate) mod error;
pub(crate) mod host;
mod metadata;

mod arguments;
mod bounds;
mod check;
mod cursor;
mod expected;
mod fault;
mod fit;
mod nearest;
pub(crate) mod output;
pub(crate) mod probe;
pub(crate) mod reader;
pub(crate) mod returns;
mod scalar;
mod split;
pub(crate) mod typed;
pub(crate) mod whole;

mod augment;
pub(crate) mod blocking;
mod closure;
mod closure_output;
mod closure_result;
#[cfg(feature = "process")]
mod command;
pub(crate) mod executor;
mod function;
pub(crate) mod method;
mod place;
mod provider;
mod renamed;
mod report;
mod resolver;
pub(crate) mod set;
#[cfg(feature = "validate")]
mod validate;

pub use augment::ExtraArguments;
pub use callback::{InterruptRequest, ToolOutcome};
pub use cancel::CancelGuard;
pub use closure::ToolFn;
#[cfg(feature = "process")]
pub use command::run_command;
pub use context::Emit;
pub use error::ToolErrorKind;
pub use function::FunctionTool;
pub use input_schema::InputSchema;
pub use metadata::{Effect, ToolMetadata};
pub use output::Json;
pub use param::{HostType, ParamKind, ToolParam};
pub use provider::{IntoTools, ToolProvider};
pub use report::{Finding, ReportedTool, Severity, ToolReport};
pub use resolver::ToolResolver;
pub use set::ToolSetError;

pub(crate) use callback::{NestedRequest, ToolCallback};
pub(crate) use context::{
    CallAnswer, CallContext, CallId, Progress, RESULT, RunContext, ToolContext, TurnContext,
};
pub(crate) use definition::ToolDefinition;
pub(crate) use error::ToolError;
pub(crate) use host::{Host, Hosts};
pub(crate) use output::{IntoToolOutput, ToolOutput};
pub(crate) use place::Leftovers;
pub(crate) use set::ToolSet;
#[cfg(feature = "validate")]
pub(crate) use validate::Validator;
