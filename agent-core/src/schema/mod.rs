//! JSON Schema of tool parameters, as const data.
//!
//! A type says what it looks like to a model by [`ToolSchema::SCHEMA`], a constant that
//! composes through generics. The JSON text of a whole tool is written from it by a
//! `const fn`, so it is there at compile time.
//!
//! Not here: which values a parameter takes beside the model's arguments (`tool::param`),
//! how arguments are decoded (`tool::arguments`).

mod absent;
mod accepts;
mod base64;
mod check;
mod compose;
mod constraints;
mod definitions;
mod described;
mod dialect;
mod example;
mod impls;
mod impls_by_feature;
mod inside;
mod joined;
mod json;
mod keywords;
mod merge;
mod model;
mod root;
mod same;
mod tidy;
mod writer;

pub(crate) use absent::{absent, is_required};
pub use base64::Base64;
pub(crate) use check::checked;
pub use check::{SchemaError, SchemaFault};
pub(crate) use compose::Composer;
pub use constraints::{Bound, Constraints};
pub use described::Schemars;
pub use dialect::{
    Change, ChangeEffect, Dialect, DialectLimits, DialectSchema, Size, UnknownDialect,
    without_optional_nulls,
};
pub(crate) use dialect::{Sent, Translations, plan};
pub(crate) use example::{Chance, example, example_within, sample};
pub(crate) use json::Members;
pub(crate) use merge::move_definitions;
pub use model::{Property, RecursivePart, Schema, SchemarsPart};
pub(crate) use root::root;
pub(crate) use writer::Writer;

/// What a type looks like to a model.
///
/// Implemented for the types of std that JSON can carry, and behind features of their names
/// for those of `chrono`, `jiff`, `uuid` and `url`; bytes are a [`Base64`]. For an own type it
/// is derived, by [`#[derive(ToolSchema)]`](derive@crate::ToolSchema), or written by hand:
///
/// ```
/// use agent_core::ToolSchema;
/// use agent_core::schema::Schema;
/// use serde::Deserialize;
///
/// /// Degrees Celsius.
/// #[derive(Deserialize)]
/// struct Celsius(f64);
///
/// impl ToolSchema for Celsius {
///     const SCHEMA: Schema = Schema::Number;
/// }
///
/// #[derive(Deserialize)]
/// #[serde(rename_all = "lowercase")]
/// enum Unit {
///     Metric,
///     Imperial,
/// }
///
/// impl ToolSchema for Unit {
///     const SCHEMA: Schema = Schema::Enum(&["metric", "imperial"]);
/// }
///
/// assert_eq!(
///     <Vec<Unit>>::SCHEMA.to_string(),
///     r#"{"type":"array","items":{"type":"string","enum":["metric","imperial"]}}"#,
/// );
/// ```
///
/// The constant must accept every value the type's `Deserialize` accepts in its usual
/// form: the model is told the constant, and the value is read by `Deserialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no schema a model could be told",
    label = "has no `ToolSchema`",
    note = "implement or derive `ToolSchema` for it, or put `#[param(schemars)]` on the parameter or field if it has `schemars::JsonSchema`"
)]
pub trait ToolSchema {
    /// The schema.
    const SCHEMA: Schema;
    /// False for a type that has a value when the model gives none, like `Option`.
    const REQUIRED: bool = true;
}
