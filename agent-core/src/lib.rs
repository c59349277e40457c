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
/// Gives a struct or an enum the schema of what serde reads it from.
///
/// It stands beside `serde::Deserialize`. Doc comments become descriptions, of the type and
/// of each field; those of variants are gathered in the description of the enum. An unknown
/// `#[serde(…)]` key, or one that makes serde read something a schema cannot say, is a
/// compile error that names the way out.
///
/// ```
/// use agent_core::{ToolSchema, tool};
/// use serde::Deserialize;
///
/// /// Who comes.
/// #[derive(Deserialize, ToolSchema)]
/// #[serde(rename_all = "camelCase")]
/// struct Guest {
///     /// Full name
///     full_name: String,
///     #[serde(default)]
///     seat: Seat,
/// }
///
/// /// Where to sit.
/// #[derive(Default, Deserialize, ToolSchema)]
/// #[serde(rename_all = "lowercase")]
/// enum Seat {
///     #[default]
///     Anywhere,
///     /// With a view
///     Window,
/// }
///
/// #[tool]
/// async fn invite(guest: Guest) {}
///
/// assert_eq!(
///     invite::DEFINITION.input_schema().const_text(),
///     Some(concat!(
///         r#"{"type":"object","properties":{"guest":{"type":"object","properties":{"#,
///         r#""fullName":{"type":"string","description":"Full name"},"#,
///         r#""seat":{"type":"string","enum":["anywhere","window"],"#,
///         r#""description":"Where to sit.\n\n- `window`: With a view"}},"#,
///         r#""required":["fullName"],"additionalProperties":false,"#,
///         r#""description":"Who comes."}},"required":["guest"],"additionalProperties":false}"#,
///     )),
/// );
/// ```
///
/// # What is read
///
/// | type | schema |
/// |---|---|
/// | `struct` with named fields | an object of these properties and no others |
/// | `struct Celsius(f64);`, `#[serde(transparent)]` | that of the field |
/// | `#[serde(from = "T")]`, `#[serde(try_from = "T")]` | that of `T` |
/// | `struct Nothing;` | `null` |
/// | `enum` of plain names | one of these texts |
/// | any other `enum` | `anyOf`, one branch for each variant, in the form of `tag`, `content` and `untagged` |
/// | `#[serde(flatten)]` | the members of that struct, map or enum among the others |
///
/// A name is that of serde: `rename`, `rename_all`, `rename_all_fields`. The model is not
/// told of what it need not know: an `alias`, what is skipped, and an `other` variant.
/// A field is required unless its type is an `Option` or it has `#[serde(default)]`.
///
/// A type parameter needs a [`ToolSchema`], which the derive asks for. A type that names
/// itself stands once in `$defs`; where several types lead back to each other, one of the
/// fields on the way says so by `#[param(recursive)]` (else rustc tells of a cycle, E0391),
/// and the text is then put together at first use.
///
/// # Keys of `#[param(…)]`
///
/// | key on a field | meaning | else |
/// |---|---|---|
/// | `description = "…"` | what the model reads about it | the doc comment |
/// | `default = value` | a literal is shown as the value serde's `default` gives | not shown |
/// | `schemars` | the schema is what `schemars::JsonSchema` says, put together at first use | [`ToolSchema`] |
/// | `like(T)` | the schema is that of `T`; needed beside serde's `with` and `deserialize_with` | |
/// | `recursive` | the type leads back to this one; its schema is asked for at first use | |
///
/// On a type: `description`, `crate = path` as for [`tool`](macro@tool), and `open`, which
/// allows members beside the fields.
#[cfg(feature = "macros")]
pub use agent_macros::ToolSchema;
/// Makes a tool of a function: `async fn` or `fn`, free, and not generic; or, on an `impl`
/// block, tools of its [methods](#methods).
///
/// The function stays as it is. Beside it comes a type of the same name and visibility,
/// which [`tools!`] takes and which has `DEFINITION`, a constant, and `callback()`.
/// An `async fn` is called on the agent's own task, a plain `fn` on a thread that may block.
///
/// ```
/// use agent_core::{ToolDefinition, tool};
///
/// /// Current weather of a city.
/// #[tool]
/// async fn get_weather(
///     /// City name
///     city: &str,
///     #[param(default = 1)] days: u8,
/// ) -> String {
///     format!("{city}, {days} day(s): sunny")
/// }
///
/// const DEFINITION: &ToolDefinition = get_weather::DEFINITION;
/// assert_eq!(DEFINITION.name(), "get_weather");
/// assert_eq!(DEFINITION.description(), "Current weather of a city.");
/// assert_eq!(
///     DEFINITION.input_schema().const_text(),
///     Some(concat!(
///         r#"{"type":"object","properties":{"city":{"type":"string","description":"City name"},"#,
///         r#""days":{"type":"integer","minimum":0,"maximum":255,"default":1}},"#,
///         r#""required":["city"],"additionalProperties":false}"#,
///     )),
/// );
/// ```
///
/// # Keys of `#[tool(…)]`
///
/// | key | meaning | else |
/// |---|---|---|
/// | `name = "…"` | what the model calls the tool: `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$` | the function's name |
/// | `description = "…"` | what the model reads about it | the doc comment, else the name in words: `get weather` |
/// | `type = Name` | the name of the generated type | the function's name |
/// | `args` | the one parameter that is no context is [the whole input](#the-whole-input) | each is a property |
/// | `return_direct` | the result is the run's answer | the model reads it |
/// | `timeout = "30s"` | how long a call may take: a whole number and `ms`, `s`, `m` or `h` | the agent's limit |
/// | `effect = "…"` | what a second call would do: `"pure"`, `"idempotent"` or `"once"` | `"once"` |
/// | `max_calls = n` | how often a turn may call it; an agent's [limits](agent::Limits) hold as well | the agent's limits |
/// | `sequential` | no other call of the turn runs at the same time: those before it end first, those after it start later | calls may run side by side |
/// | `approval` | a person must [approve](agent::Answer::approve) each call before it runs; the run pauses, and is resumed by its thread | it runs |
/// | `strict` | the compiler checks that the schema can be sent strict: it has no maps and no values of any type | a [dialect](schema::Dialect) decides |
/// | `open` | the schema allows properties that it does not name: `"additionalProperties":true` | `"additionalProperties":false` |
/// | `require_docs` | a description of the tool, of each argument and of each field is needed to compile | |
/// | `schemars` | `#[param(schemars)]` for every parameter | |
/// | `register = false` | [`registry::registered`] does not find the tool | it does |
/// | `crate = path` | where this crate is, for a renamed dependency | `::agent_core` |
///
/// # Parameters
///
/// A parameter is a property of the input, unless its type takes it from the context:
/// [`ToolContext`], [`Host`], a cancellation token, or an own [`tool::ToolParam`]. It can be
/// of any type with [`ToolSchema`] and `Deserialize`, or a reference to one; inside another
/// type a reference cannot stand (`Option<String>`, not `Option<&str>`). All are required
/// but an `Option` and those with a default. `_city` is the property `city`.
///
/// | key of `#[param(…)]` | meaning | else |
/// |---|---|---|
/// | `description = "…"` | what the model reads about it | the parameter's doc comment |
/// | `rename = "…"` | the property's name: `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$` | the parameter's name |
/// | `default`, `default = value` | taken when the model gives nothing; a literal is shown to it | required |
/// | `schemars` | the schema is what `schemars::JsonSchema` says, put together at first use | [`ToolSchema`] |
/// | `required` | the model must give it, if only `null` | as the type says |
/// | `minimum`, `maximum`, `exclusive_minimum`, `exclusive_maximum` | bounds of a number | the type's |
/// | `min_length`, `max_length` | how many characters a text has | |
/// | `pattern = "…"` | a regular expression found in the text; its syntax is that of the crate `regex-lite` | |
/// | `min_items`, `max_items` | how many items a list has | |
/// | `example = …` | a literal or a list of them, shown in the schema and in errors | |
///
/// A constraint stands in the schema and is checked when a call is read; on an `Option` it holds
/// for the value, if there is one. One that cannot apply to the type does not compile.
///
/// ```
/// use agent_core::{Host, ToolContext, ToolError, tool};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// struct Db;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Filter {
///     words: Vec<String>,
/// }
///
/// /// Finds articles.
/// #[tool(timeout = "10s", effect = "pure")]
/// fn find(
///     #[param(schemars)] filter: Filter,
///     #[param(rename = "max", default = 10)] limit: usize,
///     db: Host<Db>,
///     context: &ToolContext,
/// ) -> Result<Vec<String>, ToolError> {
///     context.check_cancelled()?;
///     Ok(filter.words.into_iter().take(limit).collect())
/// }
///
/// assert_eq!(find::DEFINITION.input_schema().value()["required"], serde_json::json!(["filter"]));
/// ```
///
/// # The whole input
///
/// With `args`, the input is an object of its own type, which [derives](derive@ToolSchema) its
/// schema, or has one of `schemars`. Beside it there may be parameters from the context.
///
/// ```
/// use agent_core::{ToolContext, ToolSchema, tool};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, ToolSchema)]
/// struct Search {
///     /// Words to look for
///     words: Vec<String>,
///     limit: Option<u8>,
/// }
///
/// /// Finds articles.
/// #[tool(args)]
/// async fn search(search: Search, context: &ToolContext) -> usize {
///     search.words.len()
/// }
///
/// let schema = search::DEFINITION.input_schema().value();
/// assert_eq!(schema["properties"]["words"]["description"], "Words to look for");
/// ```
///
/// # What it returns
///
/// Anything with [`IntoToolOutput`] or `Serialize`, alone or in a `Result` whose error is an
/// `Error`. Text is shown as it is, `()` as `Done`, other values as JSON. If the type, or that
/// in a `Result`, an `Option` or a [`Json`](tool::Json), has [`ToolSchema`] and is no text, it is
/// the [schema of the output](ToolDefinition::output_schema).
///
/// # Methods
///
/// On an `impl` block, each method that carries `#[tool]` too is a tool; the others, and
/// constants, stay what they are. All tools share one object, so a method takes `&self`, and
/// the type is `Send` and `Sync`, but need not be `Clone`. The object, or an `Arc` of it, goes
/// into `.tools(…)`; it is a [`ToolProvider`](tool::ToolProvider).
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// use agent_core::{ToolSet, tool};
///
/// #[derive(Default)]
/// struct Counter {
///     value: AtomicU32,
/// }
///
/// #[tool]
/// impl Counter {
///     /// Adds to the counter and tells what it is now.
///     #[tool(effect = "once")]
///     async fn add(&self, #[param(default = 1)] amount: u32) -> u32 {
///         self.value.fetch_add(amount, Ordering::SeqCst) + amount
///     }
///
///     /// What the counter is.
///     #[tool(name = "read_counter", effect = "pure")]
///     fn read(&self) -> u32 {
///         self.value.load(Ordering::SeqCst)
///     }
/// }
///
/// let set = ToolSet::new(Counter::default())?;
/// assert_eq!(set.names().collect::<Vec<_>>(), ["add", "read_counter"]);
/// # Ok::<(), agent_core::tool::ToolSetError>(())
/// ```
///
/// The keys of a method are those of a function but `type` and `register`; `crate` stands at
/// the block. A block is of one type (`impl Store<Db>`), not a trait's. Further blocks of the same
/// type, wherever they stand, have numbers: `#[tool(block = 2)] impl Counter`, then `block = 3`.
/// In a set of registered tools methods are not found: they need their object.
///
/// # One name for two things
///
/// The type makes `use search::search;` a clash with a `mod search` (E0255), and so does a function
/// `search` beside that module (E0428). Give the type another name:
///
/// ```
/// mod search {
///     #[agent_core::tool(type = SearchTool)]
///     pub async fn search(text: String) -> String {
///         text
///     }
/// }
/// use search::{SearchTool, search};
/// # fn main() {
/// # let _ = (search("x".to_owned()), SearchTool::callback());
/// # }
/// ```
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
