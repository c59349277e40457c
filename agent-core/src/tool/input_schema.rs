//! The input of a tool, as the JSON Schema a model is given.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::check::{Check, check_value};
use super::input::Input;
use super::param::HostType;
use crate::schema::{Dialect, DialectSchema, Schema, Translations, root};

/// The JSON Schema of a tool's input or output.
///
/// For a `#[tool]` whose parameters have [`ToolSchema`](crate::ToolSchema) it is a
/// constant text; with a `#[param(schemars)]` inside it is put together at first use, once.
///
/// The keys of the text stand in the order `type`, `$defs`, `properties`, `required`,
/// `additionalProperties`; in a property its keywords, then `description`, then `default`.
///
/// ```
/// use agent_core::tool::InputSchema;
/// use serde_json::json;
///
/// let schema = InputSchema::from_value(json!({"type": "object", "properties": {}}));
/// assert_eq!(schema.text(), r#"{"type":"object","properties":{}}"#);
/// assert_eq!(schema.const_text(), None);
/// ```
#[derive(Clone)]
pub struct InputSchema(Source);

#[derive(Clone)]
enum Source {
    Constant {
        input: Input,
        text: Option<&'static str>,
        composed: &'static Composed,
    },
    Dynamic {
        composition: Arc<Composition>,
        hosts: Vec<HostType>,
        check: Check,
    },
    Output {
        schema: &'static Schema,
        composed: &'static Composed,
    },
}

struct Composition {
    text: String,
    value: Value,
    translations: Translations,
}

impl Composition {
    fn new(value: Value) -> Self {
        Self {
            text: value.to_string(),
            value,
            translations: Translations::default(),
        }
    }
}

/// Where a schema that is no constant text is kept once it is made.
///
/// It stands beside the definition, as a cell inside would end its use in constants.
#[derive(Default)]
pub struct Composed(OnceLock<Composition>);

impl Composed {
    /// An empty place.
    #[must_use]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }
}

impl fmt::Debug for Composed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.0.get().map(|composition| &composition.text);
        f.debug_tuple("Composed").field(&text).finish()
    }
}

impl InputSchema {
    /// The schema of this input; `text` is its text, or `None` to make it at first use.
    #[doc(hidden)]
    #[must_use]
    pub const fn constant(
        input: Input,
        text: Option<&'static str>,
        composed: &'static Composed,
    ) -> Self {
        Self(Source::Constant {
            input,
            text,
            composed,
        })
    }

    /// The schema of what a tool returns, if it has one; made at first use.
    #[doc(hidden)]
    #[must_use]
    pub const fn output(
        schema: Option<&'static Schema>,
        composed: &'static Composed,
    ) -> Option<Self> {
        match schema {
            Some(schema) => Some(Self(Source::Output { schema, composed })),
            None => None,
        }
    }

    /// A schema known only at run time; it is taken as it is.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        Self::checked_by(Check::Value(check_value), value)
    }

    fn checked_by(check: Check, value: Value) -> Self {
        Self(Source::Dynamic {
            composition: Arc::new(Composition::new(value)),
            hosts: Vec::new(),
            check,
        })
    }

    /// The same for parameters that also ask for these host values.
    pub(crate) fn asking(mut self, asked: Vec<HostType>) -> Self {
        if let Source::Dynamic { hosts, .. } = &mut self.0 {
            *hosts = asked;
        }
        self
    }

    /// How arguments are held to it; `None` for what a tool returns.
    pub(super) fn check_of_arguments(&self) -> Option<Check> {
        match &self.0 {
            Source::Constant { input, .. } => Some(Check::Input(*input)),
            Source::Dynamic { check, .. } => Some(*check),
            Source::Output { .. } => None,
        }
    }

    /// The schema of a whole input of one type; that of no input is an empty object.
    pub(crate) fn of_input(schema: Option<&'static Schema>) -> Self {
        let schema = schema.unwrap_or(&Schema::Object(&[]));
        Self::checked_by(Check::Type(schema), root(schema))
    }

    /// The JSON text, if it was written at compile time.
    #[must_use]
    pub const fn const_text(&self) -> Option<&'static str> {
        match &self.0 {
            Source::Constant { text, .. } => *text,
            Source::Output { .. } | Source::Dynamic { .. } => None,
        }
    }

    /// The JSON text.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.0 {
            Source::Constant {
                text: Some(text), ..
            } => text,
            _ => &self.composition().text,
        }
    }

    /// The schema as a JSON value.
    #[must_use]
    pub fn value(&self) -> Value {
        self.composition().value.clone()
    }

    /// The schema as a provider takes it; written at first use and kept.
    ///
    /// ```
    /// use agent_core::schema::Dialect;
    /// use agent_core::tool::InputSchema;
    /// use serde_json::json;
    ///
    /// let schema = InputSchema::from_value(json!({
    ///     "$schema": "https://json-schema.org/draft/2020-12/schema",
    ///     "type": "object",
    ///     "properties": {"x": {"type": "integer"}},
    /// }));
    /// assert_eq!(
    ///     schema.in_dialect(Dialect::OpenAi).text,
    ///     r#"{"type":"object","properties":{"x":{"type":"integer"}}}"#,
    /// );
    /// ```
    #[must_use]
    pub fn in_dialect(&self, dialect: Dialect) -> &DialectSchema {
        let composition = self.composition();
        composition.translations.get(dialect, &composition.value)
    }

    fn composition(&self) -> &Composition {
        match &self.0 {
            Source::Constant {
                input, composed, ..
            } => composed.0.get_or_init(|| Composition::new(input.compose())),
            Source::Output { schema, composed } => {
                composed.0.get_or_init(|| Composition::new(root(schema)))
            }
            Source::Dynamic { composition, .. } => composition,
        }
    }

    /// What the schema says in place of an object, if it does not say `"type": "object"`.
    pub(crate) fn misses_object(&self) -> Option<String> {
        let Source::Dynamic { composition, .. } = &self.0 else {
            return None;
        };
        match composition.value.get("type") {
            Some(Value::String(name)) if name == "object" => None,
            Some(Value::String(name)) => Some(format!("of the type `{name}`")),
            Some(types) => Some(format!("of the types {types}")),
            None => Some("of no single type".to_owned()),
        }
    }

    /// The types of host values the parameters ask for.
    pub(crate) fn required_hosts(&self) -> Vec<HostType> {
        match &self.0 {
            Source::Constant { input, .. } => input.required_hosts(),
            Source::Output { .. } => Vec::new(),
            Source::Dynamic { hosts, .. } => hosts.clone(),
        }
    }
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InputSchema").field(&self.text()).finish()
    }
}
