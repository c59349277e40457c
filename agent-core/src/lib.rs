//! Rust functions as tools of language models, and the agent graph that runs them.
//!
//! `#[tool]` turns an ordinary function into a tool with a schema made at compile time; a
//! [`ReactAgent`] lets a model call it, as often as it needs, and answers.
//!
//! ```
//! # #[cfg(feature = "macros")]
//! # mod program {
//! use agent_core::model::{ScriptedModel, scripted::{calls, says}};
//! use agent_core::{ReactAgent, tool, tools};
//!
//! /// Current weather of a city.
//! #[tool]
//! async fn get_weather(
//!     /// City name, for example "Oslo".
//!     city: &str,
//! ) -> String {
//!     format!("{city}: 4 °C")
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! # pub(crate)
//! async fn main() -> Result<(), agent_core::Error> {
//!     // Stands in for `agent_core::model::OpenAi::from_env()?`.
//!     let model = ScriptedModel::new([
//!         calls("get_weather", serde_json::json!({"city": "Oslo"})),
//!         says("It is 4 °C in Oslo."),
//!     ]);
//!     let agent = ReactAgent::builder("assistant", model)
//!         .tools(tools![get_weather])
//!         .build()?;
//!
//!     let output = agent.run("How warm is Oslo?").await?;
//!     assert_eq!(output.text(), "It is 4 °C in Oslo.");
//!     Ok(())
//! }
//! # }
//! # #[cfg(feature = "macros")]
//! # program::main().unwrap();
//! ```
//!
//! # What there is
//!
//! - [`message`]: what is said; a [`Transcript`](message::Transcript) pairs every call with a result.
//! - [`schema`] and [`tool`](mod@tool): what a model is told about a function, and how it is run.
//! - [`model`]: what a model is asked and answers; one trait, [`ChatModel`](model::ChatModel).
//! - [`graph`]: nodes, edges and the state they share; knows neither models nor tools. In
//!   [`graph::checkpoint`]: what is kept of a thread.
//! - [`agent`] and [`event`]: the graph of a model and its tools, and what a run tells.
//! - [`registry`]: every `#[tool]` linked into the program.
//!
//! # Features
//!
//! | feature | default | opens |
//! |---|---|---|
//! | `macros` | yes | `#[tool]`, `tools![]` and `#[derive(ToolSchema)]` |
//! | `openai` | yes | [`model::openai`], a client for any chat-completions endpoint; without it and `anthropic` there is no HTTP dependency |
//! | `anthropic` | yes | [`model::anthropic`], a client for Anthropic's Messages API |
//! | `process` | no | [`tool::run_command`](mod@tool): programs that end with the call that runs them |
//! | `retry` | yes | [`agent::ToolRetry`], [`agent::ModelRetry`]: failed calls of safe tools, and of models, are tried again |
//! | `validate` | no | arguments of [`tool::FunctionTool::from_schema`] are validated before each call, answers against their schema |
//! | `chrono`, `jiff`, `url`, `uuid` | no | [`ToolSchema`] for the types of these crates |
//!
//! # Foreign types in this API
//!
//! `serde_json::{Value, Map, RawValue}`, serde's traits, `schemars::JsonSchema`, tokio's `runtime::Handle`,
//! tokio-util's `CancellationToken`, `futures_core::Stream`, and `tracing` spans.

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod agent;
mod answer;
#[cfg(feature = "retry")]
mod backoff;
mod boxed;
mod cancelled;
mod clock;
mod error;
pub mod event;
pub mod graph;
mod id;
mod json;
pub mod message;
pub mod model;
mod panics;
pub mod registry;
pub mod schema;
mod secrets;
mod state;
pub mod telemetry;
pub mod tool;
mod wire_cache;

pub use agent::error::AgentError;
pub use agent::react::ReactAgent;
#[doc = include_str!("docs/derive.md")]
#[cfg(feature = "macros")]
pub use agent_macros::ToolSchema;
#[doc = include_str!("docs/tool.md")]
#[cfg(feature = "macros")]
pub use agent_macros::tool;
pub use boxed::{BoxError, BoxFuture, BoxStream};
pub use error::Error;
pub use event::numbered::AgentEvent;
pub use event::output::{Outcome, RunOutput};
pub use message::envelope::Message;
pub use schema::tool_schema::ToolSchema;
pub use tool::callback::ToolCallback;
pub use tool::context::ToolContext;
pub use tool::definition::ToolDefinition;
pub use tool::error::ToolError;
pub use tool::host::Host;
pub use tool::output::{IntoToolOutput, ToolOutput};
pub use tool::set::ToolSet;

/// The tools of these `#[tool]` functions, in this order, as a `Vec<Arc<dyn ToolCallback>>`.
///
/// ```
/// use agent_core::{tool, tools};
///
/// #[tool]
/// async fn get_weather() {}
///
/// mod maths {
///     #[agent_core::tool]
///     pub fn add(a: i64, b: i64) -> i64 {
///         a + b
///     }
/// }
///
/// let tools = tools![get_weather, maths::add];
/// assert_eq!(tools[1].definition().name(), "add");
/// ```
///
/// It takes the types beside the functions, so of a function without `#[tool]` rustc says
/// "expected type, found function" (E0573).
#[cfg(feature = "macros")]
#[macro_export]
macro_rules! tools {
    ($($tool:ty),* $(,)?) => {
        {
            // For a type that is no function's, so that rustc tells what to pass.
            #[allow(unused_imports)]
            use $crate::__private::tools::*;
            $crate::__private::callbacks([$(<$tool>::callback()),*])
        }
    };
    ($($other:tt)*) => {
        ::core::compile_error!(
            "`tools!` takes the names of functions with `#[tool]`, as they are: `tools![get_weather, maths::add]`"
        )
    };
}
