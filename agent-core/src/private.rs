//! What generated code may name. Not public API: it changes without notice.
//!
//! The definition of a tool, its text made at compile time. A constant per parameter is the
//! only place that asks something of its type, so an error about it is told once:
//!
//! ```
//! # #![forbid(unsafe_code)]
//! use agent_core::__private as P;
//!
//! const CITY: P::TypedParameter<<str as P::TakenByReference>::Owned> =
//!     P::typed::<<str as P::TakenByReference>::Owned>("city").described("City name");
//! const CONTEXT: P::TypedParameter<P::ToolContext> = P::typed::<P::ToolContext>("context");
//!
//! const DEFINITION: &'static P::ToolDefinition = {
//!     const PARAMETERS: &[P::Parameter] = &[CITY.parameter(), CONTEXT.parameter()];
//!     const INPUT: P::Input = P::Input::of(PARAMETERS);
//!     const LENGTH: usize = P::text_length(INPUT);
//!     const BYTES: [u8; LENGTH] = P::text_bytes::<LENGTH>(INPUT);
//!     static COMPOSED: P::Composed = P::Composed::new();
//!     &P::ToolDefinition::constant(
//!         "get_weather",
//!         "Current weather of a city.",
//!         P::InputSchema::constant(INPUT, P::text(INPUT, &BYTES), &COMPOSED),
//!     )
//! };
//!
//! const TEXT: P::Option<&'static str> = DEFINITION.input_schema().const_text();
//! assert_eq!(
//!     TEXT,
//!     P::Some(concat!(
//!         r#"{"type":"object","properties":{"city":{"type":"string","description":"City name"}},"#,
//!         r#""required":["city"],"additionalProperties":false}"#,
//!     )),
//! );
//! ```
//!
//! The body of its call. The traits of `convert` pick the conversion of the return type; a
//! glob, as one of them is used and the others would be warned about:
//!
//! ```
//! # use agent_core::__private as P;
//! # const CITY: P::TypedParameter<String> = P::typed::<String>("city");
//! # const DAYS: P::TypedParameter<u8> = P::typed::<u8>("days");
//! # async fn get_weather(city: &str, days: u8) -> P::Result<f64, std::io::Error> { Ok(0.5) }
//! async fn call(
//!     arguments: &str,
//!     context: &P::ToolContext,
//! ) -> P::Result<P::ToolOutcome, P::ToolError> {
//!     use P::convert::*;
//!     let mut reader = P::ArgumentReader::new(arguments, context);
//!     let city = P::TypedParameter::take(&CITY, &mut reader);
//!     let days = P::TypedParameter::take_or(&DAYS, &mut reader, || 1);
//!     let P::Some(city) = city else { return P::Err(reader.into_error()) };
//!     let P::Some(days) = days else { return P::Err(reader.into_error()) };
//!     reader.finish()?;
//!     let value = P::require_send(get_weather(<str as P::TakenByReference>::lend(&city), days)).await;
//!     (&&&&&&P::Probe::of(&value)).__agent_conversion().convert(value)
//! }
//! ```

pub use std::boxed::Box;
pub use std::clone::Clone;
pub use std::option::Option::{self, None, Some};
pub use std::result::Result::{self, Err, Ok};
pub use std::sync::Arc;
pub use std::vec::Vec;

pub use inventory;

pub use crate::boxed::BoxFuture;
pub use crate::registry::ToolRegistration;
pub use crate::schema::tool_schema::ToolSchema;
pub use crate::schema::{Bound, Constraints, Property, Schema};
pub use crate::tool::blocking::run as blocking;
pub use crate::tool::by_reference::TakenByReference;
pub use crate::tool::callback::ToolCallback;
pub use crate::tool::const_check::{check_parameter, check_tool};
pub use crate::tool::context::ToolContext;
pub use crate::tool::definition::ToolDefinition;
pub use crate::tool::error::ToolError;
pub use crate::tool::host::Host;
pub use crate::tool::input::{Input, text, text_bytes, text_length};
pub use crate::tool::input_schema::Composed;
pub use crate::tool::method::{
    Missing, NextBlock, Shared, ToolMethod, WriteToolBlock2AboveTheSecondBlock,
};
pub use crate::tool::output::IntoToolOutput;
pub use crate::tool::param::Parameter;
pub use crate::tool::probe::Probe;
pub use crate::tool::reader::ArgumentReader;
pub use crate::tool::returns::Returns;
pub use crate::tool::typed::{TypedParameter, typed, typed_schemars};
pub use crate::tool::whole::{WholeParameter, whole, whole_schemars};
pub use crate::tool::{
    Effect, InputSchema, IntoTools, ParamKind, ToolMetadata, ToolOutcome, ToolParam, ToolProvider,
};

/// The traits between which method lookup picks a conversion.
pub mod convert {
    pub use crate::tool::probe::{
        ConvertLast, ConvertNoError, ConvertResult, ConvertSerialize, ConvertSerializeNoError,
        ConvertTool,
    };
}

/// The trait that has a schema for return types without one.
pub mod returns {
    pub use crate::tool::returns::ReturnsAny;
}

/// The trait that has a word for types that are no function's.
pub mod tools {
    pub use crate::tool::of_function::NotOfAFunction;
}

/// The trait that has no tools for a type without a further `impl` block.
pub mod blocks {
    pub use crate::tool::method::NoBlock;
}

/// Asks for a future that may move between threads, so that rustc can point at the
/// function that makes it.
pub fn require_send<F>(future: F) -> F
where
    // rustc shows the line of the bound.
    F: Future + Send, // no `Rc`, `RefCell` or guard over an `.await`: use `Arc`, `Mutex`, or drop it before
{
    future
}

/// The tools of `tools![]`.
#[must_use]
pub fn callbacks<const N: usize>(tools: [Arc<dyn ToolCallback>; N]) -> Vec<Arc<dyn ToolCallback>> {
    Vec::from(tools)
}

/// The tools of an `impl` block, before those of the blocks after it.
#[must_use]
pub fn methods<S, const N: usize>(
    methods: [ToolMethod<S>; N],
    others: Vec<ToolMethod<S>>,
) -> Vec<ToolMethod<S>> {
    methods.into_iter().chain(others).collect()
}

/// Asks for the block before one with a number.
pub fn block_before<S: WriteToolBlock2AboveTheSecondBlock<NUMBER>, const NUMBER: u32>() {}

/// The tools of an object with a `#[tool] impl` block.
pub fn callbacks_of<P>(object: P) -> Vec<Arc<dyn ToolCallback>>
where
    // rustc shows the line of the bound.
    P: ToolProvider, // calls share the object: write `Arc` for `Rc`, `Mutex` or an atomic for a cell
{
    Arc::new(object).callbacks()
}
