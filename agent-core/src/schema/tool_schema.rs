//! How a type says what it looks like to a model.

use super::Schema;

/// What a type looks like to a model.
///
/// Implemented for the types of std that JSON can carry, and behind features of their names
/// for those of `chrono`, `jiff`, `uuid` and `url`; bytes are a [`Base64`](crate::schema::Base64).
/// For an own type it is derived, by [`#[derive(ToolSchema)]`](derive@crate::ToolSchema), or written
/// by hand:
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
///
/// Properties stand in the order of their declaration, parameters and fields alike; Spring AI
/// sorts those of objects by name.
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
