//! One tool call's arguments: the raw object, taken apart into one value per parameter.
//!
//! Each parameter decodes its own raw value, so an error can name it, and the code
//! generated for a tool stays small. All faults of a call are told at once.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fit::{Fit, container, misfit, missing, shown};
use super::{ParamKind, ToolContext, ToolError, ToolErrorKind, ToolParam};
use crate::schema::{Schema, absent};

/// Reads one value of type `T`; an error does not name the argument.
pub(crate) fn decode<T: DeserializeOwned>(
    schema: &Schema,
    required: bool,
    argument: Option<&RawValue>,
) -> Result<T, ToolError> {
    let Some(raw) = argument else {
        return absent()
            .or_else(|| (!required).then(|| serde_json::from_str("null").ok())?)
            .ok_or_else(|| ToolError::invalid_arguments(missing("")));
    };
    if let Ok(value) = serde_json::from_str(raw.get()) {
        return Ok(value);
    }
    let value = fitted(schema, raw, "").map_err(|faults| invalid(&faults))?;
    T::deserialize(value)
        .map_err(|error| ToolError::invalid_arguments(misfit("", &error.to_string())))
}

/// The raw value as the schema means it, or every place where it does not fit.
fn fitted(schema: &Schema, raw: &RawValue, path: &str) -> Result<Value, Vec<String>> {
    let value: Value =
        serde_json::from_str(raw.get()).map_err(|error| vec![misfit(path, &error.to_string())])?;
    let mut fit = Fit::at(path);
    let value = match (schema, fit.fit(schema, value)) {
        // Only `schemars` knows the type: as the text itself was refused, what it holds is meant.
        (Schema::Schemars(_), Value::String(text)) => container(&text).unwrap_or(text.into()),
        (_, value) => value,
    };
    let faults = fit.into_faults();
    if faults.is_empty() {
        Ok(value)
    } else {
        Err(faults)
    }
}

fn invalid(faults: &[String]) -> ToolError {
    ToolError::invalid_arguments(faults.join("; "))
}

/// Takes the arguments of one call apart, parameter by parameter.
#[derive(Debug)]
pub struct ArgumentReader<'a> {
    entries: Vec<(Cow<'a, str>, &'a RawValue)>,
    context: &'a ToolContext,
    /// True if there is no object to read from; then no argument counts as missing.
    broken: bool,
    faults: Vec<String>,
    error: Option<ToolError>,
}

impl<'a> ArgumentReader<'a> {
    /// Splits the arguments. No text at all and `null` are no arguments.
    ///
    /// What is no JSON object is told by [`finish`](Self::finish), like any other fault.
    #[must_use]
    pub fn new(arguments: &'a str, context: &'a ToolContext) -> Self {
        let (entries, fault) = match split(arguments) {
            Ok(entries) => (entries, None),
            Err(fault) => (Vec::new(), Some(fault)),
        };
        Self {
            entries,
            context,
            broken: fault.is_some(),
            faults: Vec::from_iter(fault),
            error: None,
        }
    }

    /// The value of a parameter; `None` if there is a fault.
    pub fn take<T: ToolParam>(&mut self, name: &str) -> Option<T> {
        let raw = self.raw(name);
        self.take_raw(name, raw)
    }

    /// The value of a parameter, or `default` if the model gave none or `null`.
    pub fn take_or<T: ToolParam>(&mut self, name: &str, default: impl FnOnce() -> T) -> Option<T> {
        match self.raw(name) {
            Some(raw) if raw.get() != "null" => self.take_raw(name, Some(raw)),
            _ => (!self.broken).then(default),
        }
    }

    /// As [`take`](Self::take), for a type whose schema `schemars` gives.
    pub fn take_schemars<T: schemars::JsonSchema + DeserializeOwned>(
        &mut self,
        name: &str,
    ) -> Option<T> {
        let raw = self.raw(name);
        self.take_raw(name, raw).map(|Described(value)| value)
    }

    /// As [`take_or`](Self::take_or), for a type whose schema `schemars` gives.
    pub fn take_schemars_or<T: schemars::JsonSchema + DeserializeOwned>(
        &mut self,
        name: &str,
        default: impl FnOnce() -> T,
    ) -> Option<T> {
        self.take_or(name, || Described(default()))
            .map(|Described(value)| value)
    }

    /// Ends the reading. Arguments nobody asked for are dropped, and logged.
    ///
    /// # Errors
    ///
    /// All faults of the call in one error.
    pub fn finish(self) -> Result<(), ToolError> {
        if self.error.is_some() || !self.faults.is_empty() {
            return Err(self.into_error());
        }
        for (name, _) in &self.entries {
            tracing::debug!(argument = %name, "an argument the tool does not know was dropped");
        }
        Ok(())
    }

    /// The error of a call that cannot run: the host's fault first, else all of the model's.
    #[must_use]
    pub fn into_error(self) -> ToolError {
        self.error.unwrap_or_else(|| invalid(&self.faults))
    }

    fn raw(&mut self, name: &str) -> Option<&'a RawValue> {
        let index = self.entries.iter().position(|(key, _)| key == name)?;
        Some(self.entries.swap_remove(index).1)
    }

    fn take_raw<T: ToolParam>(&mut self, name: &str, raw: Option<&RawValue>) -> Option<T> {
        match T::take(raw, self.context) {
            Ok(value) => Some(value),
            Err(error) => {
                self.fail(name, raw, T::KIND, error);
                None
            }
        }
    }

    /// Notes a failure under the argument's name, with the place inside it if that is known.
    fn fail(&mut self, name: &str, raw: Option<&RawValue>, kind: ParamKind, error: ToolError) {
        if error.kind() != ToolErrorKind::InvalidArguments {
            self.error.get_or_insert(error);
            return;
        }
        if self.broken {
            return;
        }
        let Some(raw) = raw else {
            self.faults.push(missing(name));
            return;
        };
        if let ParamKind::Argument { schema, .. } = kind
            && let Err(faults) = fitted(schema, raw, name)
        {
            self.faults.extend(faults);
            return;
        }
        let text = error.to_string();
        self.faults.push(match text.strip_prefix("the argument ") {
            Some(text) => format!("argument `{name}` {text}"),
            None => format!("argument `{name}`: {text}"),
        });
    }
}

/// A parameter whose schema `schemars` gives.
struct Described<T>(T);

impl<T: schemars::JsonSchema + DeserializeOwned> Described<T> {
    const SCHEMA: Schema = Schema::Schemars(crate::schema::SchemarsPart::of::<T>());
}

impl<T: schemars::JsonSchema + DeserializeOwned> ToolParam for Described<T> {
    const KIND: ParamKind = ParamKind::Argument {
        schema: &Self::SCHEMA,
        required: true,
    };

    fn take(argument: Option<&RawValue>, _: &ToolContext) -> Result<Self, ToolError> {
        decode(&Self::SCHEMA, true, argument).map(Self)
    }
}

/// The members of the arguments object, or why there is none.
pub(super) fn split(arguments: &str) -> Result<Vec<(Cow<'_, str>, &RawValue)>, String> {
    let text = arguments.trim();
    if text.is_empty() || text == "null" {
        return Ok(Vec::new());
    }
    match serde_json::from_str(text) {
        Ok(Entries(entries)) => match repeated(&entries) {
            Some(name) => Err(format!("argument `{name}` is given twice")),
            None => Ok(entries),
        },
        Err(error) if error.is_data() => Err(format!(
            "the arguments are not a JSON object, got {}",
            shown(text)
        )),
        Err(error) => Err(format!("the arguments are not valid JSON: {error}")),
    }
}

fn repeated<'a>(entries: &'a [(Cow<'_, str>, &RawValue)]) -> Option<&'a str> {
    let twice = |(index, (name, _)): &(usize, &(Cow<'_, str>, _))| {
        entries[..*index].iter().any(|(other, _)| other == name)
    };
    let (_, (name, _)) = entries.iter().enumerate().find(twice)?;
    Some(name)
}

/// The members of a JSON object, each value as its text.
struct Entries<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor).map(Self)
    }
}

struct EntriesVisitor;

impl<'de> Visitor<'de> for EntriesVisitor {
    type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        #[derive(Deserialize)]
        struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

        let mut entries = Vec::new();
        while let Some((Key(name), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
            entries.push((name, value));
        }
        Ok(entries)
    }
}
