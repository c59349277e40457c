//! The input of a `#[tool]`, as const data: its parameters, or one that is the whole input.
//!
//! Not here: how the schema is kept and shown (`tool::input_schema`).

use serde_json::Value;

use super::param::{HostType, ParamKind, Parameter};
use crate::schema::{Composer, Members, Property, Schema, Writer, root};

/// The input of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Input {
    parameters: &'static [Parameter],
    open: bool,
    whole: bool,
}

impl Input {
    /// Each parameter that the model gives is a property.
    #[must_use]
    pub const fn of(parameters: &'static [Parameter]) -> Self {
        Self {
            parameters,
            open: false,
            whole: false,
        }
    }

    /// The one parameter that the model gives is the whole input.
    #[must_use]
    pub const fn whole(parameters: &'static [Parameter]) -> Self {
        Self {
            parameters,
            open: false,
            whole: true,
        }
    }

    /// Allows properties that are not named.
    #[must_use]
    pub const fn open(mut self) -> Self {
        self.open = true;
        self
    }

    /// The schema of the parameter that is the whole input, without what is said of the type
    /// as such: the tool's description says that.
    const fn object(&self) -> Option<&'static Schema> {
        let mut index = 0;
        while self.whole && index < self.parameters.len() {
            if let Some(property) = self.parameters[index].argument() {
                return Some(undescribed(property.schema));
            }
            index += 1;
        }
        None
    }

    /// The parameter that is the whole input, if one is.
    pub(super) fn whole_property(&self) -> Option<&'static Property> {
        self.properties().find(|_| self.whole)
    }

    /// The properties that the model gives.
    pub(super) fn properties(&self) -> impl Iterator<Item = &'static Property> {
        self.parameters.iter().filter_map(Parameter::argument)
    }

    /// True if the text can be written at compile time.
    const fn has_const_text(&self) -> bool {
        if let Some(object) = self.object() {
            return is_plain(object) && object.is_const() && !self.open;
        }
        let mut index = 0;
        while index < self.parameters.len() {
            if !self.parameters[index].property.schema.is_const() {
                return false;
            }
            index += 1;
        }
        true
    }

    const fn write(&self, writer: &mut Writer<'_>) {
        if let Some(object) = self.object() {
            writer.document(object);
            return;
        }
        let mut index = 0;
        while index < self.parameters.len() {
            if let Some(property) = self.parameters[index].argument() {
                writer.gather(property.schema);
            }
            index += 1;
        }
        writer.raw("{\"type\":\"object\"");
        writer.definitions();
        writer.raw(",\"properties\":{");
        let mut members = Members::new();
        let mut index = 0;
        while index < self.parameters.len() {
            if let Some(property) = self.parameters[index].argument() {
                members.property(writer, property);
            }
            index += 1;
        }
        writer.raw("},\"required\":[");
        let mut members = Members::new();
        let mut index = 0;
        while index < self.parameters.len() {
            if let Some(property) = self.parameters[index].argument() {
                members.required(writer, property);
            }
            index += 1;
        }
        writer.raw("],\"additionalProperties\":");
        writer.raw(if self.open { "true}" } else { "false}" });
    }

    /// The schema, put together at run time.
    pub(crate) fn compose(&self) -> Value {
        let mut value = match self.object() {
            Some(object) => root(object),
            None => self.composed(),
        };
        if let (true, Some(root)) = (self.open, value.as_object_mut()) {
            root.insert("additionalProperties".to_owned(), true.into());
        }
        value
    }

    fn composed(&self) -> Value {
        let mut composer = Composer::new();
        for property in self.parameters.iter().filter_map(Parameter::argument) {
            composer.add(property, property.is_required());
        }
        composer.finish()
    }

    /// The types of host values the parameters ask for.
    pub(crate) fn required_hosts(&self) -> Vec<HostType> {
        let host = |parameter: &Parameter| match parameter.kind {
            ParamKind::Host(host) => Some(host()),
            _ => None,
        };
        self.parameters.iter().filter_map(host).collect()
    }
}

const fn undescribed(schema: &'static Schema) -> &'static Schema {
    match schema {
        Schema::Described(_, inner) => undescribed(inner),
        other => other,
    }
}

/// True if the writer makes one object of it.
const fn is_plain(schema: &Schema) -> bool {
    match schema {
        Schema::Object(_) | Schema::Map(_) => true,
        Schema::Def(_, inner) => is_plain(inner),
        _ => false,
    }
}

/// The length of the text of this input in bytes; 0 if it is no constant.
#[must_use]
pub const fn text_length(input: Input) -> usize {
    if !input.has_const_text() {
        return 0;
    }
    let mut writer = Writer::new(&mut []);
    input.write(&mut writer);
    writer.length()
}

/// The first `N` bytes of the text of this input.
#[must_use]
pub const fn text_bytes<const N: usize>(input: Input) -> [u8; N] {
    let mut bytes = [0; N];
    if N > 0 {
        input.write(&mut Writer::new(&mut bytes));
    }
    bytes
}

/// The bytes as text, or `None` if this input has no constant text.
#[must_use]
pub const fn text(input: Input, bytes: &[u8]) -> Option<&str> {
    if !input.has_const_text() {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(_) => None,
    }
}
