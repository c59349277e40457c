//! The input of a tool, as the JSON Schema a model is given.

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::param::{HostType, ParamKind, Parameter};
use crate::schema::{
    Composer, Dialect, DialectSchema, Members, Schema, Translations, Writer, root,
};

/// The JSON Schema of a tool's input or output.
///
/// For a `#[tool]` whose parameters have [`ToolSchema`](crate::schema::ToolSchema) it is a
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
        parameters: &'static [Parameter],
        text: Option<&'static str>,
        composed: &'static Composed,
    },
    Dynamic {
        composition: Arc<Composition>,
        hosts: Vec<HostType>,
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
    /// The schema of these parameters; `text` is theirs, or `None` to make it at first use.
    #[doc(hidden)]
    #[must_use]
    pub const fn constant(
        parameters: &'static [Parameter],
        text: Option<&'static str>,
        composed: &'static Composed,
    ) -> Self {
        Self(Source::Constant {
            parameters,
            text,
            composed,
        })
    }

    /// A schema known only at run time; it is taken as it is.
    #[must_use]
    pub fn from_value(value: Value) -> Self {
        Self(Source::Dynamic {
            composition: Arc::new(Composition::new(value)),
            hosts: Vec::new(),
        })
    }

    /// The same for parameters that also ask for these host values.
    pub(crate) fn asking(mut self, asked: Vec<HostType>) -> Self {
        if let Source::Dynamic { hosts, .. } = &mut self.0 {
            *hosts = asked;
        }
        self
    }

    /// The schema of a whole input of one type; that of no input is an empty object.
    pub(crate) fn of_input(schema: Option<&'static Schema>) -> Self {
        Self::from_value(root(schema.unwrap_or(&Schema::Object(&[]))))
    }

    /// The JSON text, if it was written at compile time.
    #[must_use]
    pub const fn const_text(&self) -> Option<&'static str> {
        match &self.0 {
            Source::Constant { text, .. } => *text,
            Source::Dynamic { .. } => None,
        }
    }

    /// The JSON text.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.0 {
            Source::Constant {
                text: Some(text), ..
            } => text,
            Source::Constant { .. } | Source::Dynamic { .. } => &self.composition().text,
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
                parameters,
                composed,
                ..
            } => composed.0.get_or_init(|| compose(parameters)),
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
        let parameters = match &self.0 {
            Source::Constant { parameters, .. } => *parameters,
            Source::Dynamic { hosts, .. } => return hosts.clone(),
        };
        let host = |parameter: &Parameter| match parameter.kind {
            ParamKind::Host(host) => Some(host()),
            _ => None,
        };
        parameters.iter().filter_map(host).collect()
    }
}

impl fmt::Debug for InputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InputSchema").field(&self.text()).finish()
    }
}

fn compose(parameters: &[Parameter]) -> Composition {
    let mut composer = Composer::new();
    for property in parameters.iter().filter_map(Parameter::argument) {
        composer.add(property, property.is_required());
    }
    Composition::new(composer.finish())
}

/// True if the text of these parameters can be written at compile time.
#[must_use]
pub const fn has_const_text(parameters: &[Parameter]) -> bool {
    let mut index = 0;
    while index < parameters.len() {
        if !parameters[index].property.schema.is_const() {
            return false;
        }
        index += 1;
    }
    true
}

/// The length of the text of these parameters in bytes; 0 if it is no constant.
#[must_use]
pub const fn text_length(parameters: &[Parameter]) -> usize {
    if !has_const_text(parameters) {
        return 0;
    }
    let mut writer = Writer::new(&mut []);
    write(&mut writer, parameters);
    writer.length()
}

/// The first `N` bytes of the text of these parameters.
#[must_use]
pub const fn text_bytes<const N: usize>(parameters: &[Parameter]) -> [u8; N] {
    let mut bytes = [0; N];
    if N > 0 {
        write(&mut Writer::new(&mut bytes), parameters);
    }
    bytes
}

/// The bytes as text, or `None` if these parameters have no constant text.
#[must_use]
pub const fn text<'a>(parameters: &[Parameter], bytes: &'a [u8]) -> Option<&'a str> {
    if !has_const_text(parameters) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(_) => None,
    }
}

const fn write(writer: &mut Writer<'_>, parameters: &[Parameter]) {
    let mut index = 0;
    while index < parameters.len() {
        if let Some(property) = parameters[index].argument() {
            writer.gather(property.schema);
        }
        index += 1;
    }
    writer.raw("{\"type\":\"object\"");
    writer.definitions();
    writer.raw(",\"properties\":{");
    let mut members = Members::new();
    let mut index = 0;
    while index < parameters.len() {
        if let Some(property) = parameters[index].argument() {
            members.property(writer, property);
        }
        index += 1;
    }
    writer.raw("},\"required\":[");
    let mut members = Members::new();
    let mut index = 0;
    while index < parameters.len() {
        if let Some(property) = parameters[index].argument() {
            members.required(writer, property);
        }
        index += 1;
    }
    writer.raw("],\"additionalProperties\":false}");
}
