//! An agent: a graph of a model node and a tool node, and the runs of it.
//!
//! [`ReactAgent::builder`](crate::ReactAgent::builder) puts one together,
//! [`ReactAgent::run`](crate::ReactAgent::run) gives a [`RunRequest`] that is awaited or
//! streamed. A pause, a limit and a cancellation are outcomes; an error is what keeps a run
//! from having any.
//!
//! Not here: the loop over steps (`graph`), how one tool call runs (`tool`).

pub(crate) mod react;

mod agent_tool;
mod approval;
mod brought;
mod build;
mod builder;
mod counts;
pub(crate) mod error;
mod handle;
mod hook;
mod input;
mod interceptor;
mod limits;
mod model_fallback;
#[cfg(feature = "retry")]
mod model_retry;
mod nested;
mod output;
mod policy;
#[cfg(feature = "retry")]
mod retry;
mod run;
mod template;

mod ask;
mod call;
mod call_end;
mod cap;
mod drive;
mod earlier;
mod early;
mod hook_node;
mod lookup;
mod model_node;
mod origin;
mod plan;
mod reply;
mod scope;
mod slots;
mod start;
mod thread;
mod tool_node;
mod turn_end;
mod wiring;

pub use crate::event::output::{Interrupt, InterruptKind, Limit};
pub use crate::graph::Answer;
pub use agent_tool::AgentTool;
pub use builder::ReactAgentBuilder;
pub use earlier::InDoubt;
pub use error::{BuildError, BuildFault};
pub use handle::RunHandle;
pub use hook::{Hook, HookAction, HookContext, HookFuture, HookPosition, Jump};
pub use input::Input;
pub use interceptor::{ModelInterceptor, ModelNext, ToolInterceptor, ToolNext, ToolRequest};
pub use limits::{Limits, OnLimit};
pub use model_fallback::ModelFallback;
#[cfg(feature = "retry")]
pub use model_retry::ModelRetry;
pub use output::{OutputError, OutputMode};
pub use policy::{ErrorAction, ErrorPolicy};
#[cfg(feature = "retry")]
pub use retry::ToolRetry;
pub use run::{RunRequest, RunStream};
pub use template::TemplateError;
pub use thread::SendError;
