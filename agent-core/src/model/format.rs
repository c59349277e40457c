//! The form a reply's text must have.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::schema::{Dialect, DialectSchema, Translations};

/// The form a reply's text must have, held by the provider itself.
///
/// A provider that cannot hold it leaves it out of the request:
/// [`ChatModel::holds_json_schema`](super::ChatModel::holds_json_schema) tells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ResponseFormat {
    /// Any JSON object.
    JsonObject,
    /// JSON that fits this schema.
    JsonSchema(OutputSchema),
}

/// The schema of a reply, with the name a provider wants for it. Clones are shared.
///
/// ```
/// use agent_core::model::OutputSchema;
/// use agent_core::schema::Dialect;
/// use serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"degrees": {"type": "number"}},
///     "required": ["degrees"],
///     "additionalProperties": false,
/// });
/// let output = OutputSchema::new("weather", schema);
/// assert!(output.in_dialect(Dialect::OpenAiStrict).strict);
/// ```
#[derive(Clone)]
pub struct OutputSchema(Arc<Inner>);

struct Inner {
    name: String,
    description: String,
    schema: Value,
    translations: Translations,
}

impl OutputSchema {
    /// A schema under a name of at most 64 ASCII letters, digits, `_` and `-`; what else stands
    /// in `name` becomes `_`.
    pub fn new(name: &str, schema: Value) -> Self {
        Self::described(name, "", schema)
    }

    /// The same with words for the model about what is asked for.
    pub fn described(name: &str, description: impl Into<String>, schema: Value) -> Self {
        let plain = |character: char| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => character,
            _ => '_',
        };
        let name: String = name.chars().take(64).map(plain).collect();
        Self(Arc::new(Inner {
            name: match &*name {
                "" => "output".to_owned(),
                _ => name,
            },
            description: description.into(),
            schema,
            translations: Translations::default(),
        }))
    }

    /// The name the provider is given.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// What is asked for, in words; empty if nobody said.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// The schema as it was given.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.0.schema
    }

    /// The schema as a provider takes it; written at first use and kept.
    #[must_use]
    pub fn in_dialect(&self, dialect: Dialect) -> &DialectSchema {
        self.0.translations.get(dialect, &self.0.schema)
    }
}

impl PartialEq for OutputSchema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || (self.name() == other.name()
                && self.description() == other.description()
                && self.schema() == other.schema())
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputSchema")
            .field("name", &self.0.name)
            .field("schema", &self.0.schema)
            .finish_non_exhaustive()
    }
}
