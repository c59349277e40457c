//! One tool call's arguments: the raw object, taken apart into one value per parameter.
//!
//! Each parameter decodes its own raw value, so an error can name it, and the code
//! generated for a tool stays small. All faults of a call are told at once.

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::fault::{Fault, What, shown};
use super::fit::{Fit, MOST_NAMES, container, misnamed};
use super::nearest::nearest;
use super::param::Parameter;
use super::split::{Entry, split};
use super::{ParamKind, ToolContext, ToolError, ToolErrorKind, ToolParam};
use crate::schema::{Constraints, Property, Schema, absent, example};

/// Reads one value of type `T`; an error does not name the argument.
pub(crate) fn decode<T: DeserializeOwned>(
    schema: &'static Schema,
    required: bool,
    argument: Option<&RawValue>,
) -> Result<T, ToolError> {
    let Some(raw) = argument else {
        return absent()
            .or_else(|| (!required).then(|| serde_json::from_str("null").ok())?)
            .ok_or_else(|| {
                let property = Property::new("value", schema, true);
                invalid(&[Fault::missing("", &property)])
            });
    };
    if let Ok(value) = serde_json::from_str(raw.get()) {
        if schema.is_constrained() {
            kept(schema, None, raw, "").map_err(|faults| invalid(&faults))?;
        }
        return Ok(value);
    }
    let value = fitted(schema, None, raw, "").map_err(|faults| invalid(&faults))?;
    T::deserialize(value).map_err(|error| invalid(&[Fault::refused("", error)]))
}

/// The raw value as the schema means it, or every place where it does not fit.
fn fitted(
    schema: &'static Schema,
    constraints: Option<&'static Constraints>,
    raw: &RawValue,
    path: &str,
) -> Result<Value, Vec<Fault>> {
    let value: Value =
        serde_json::from_str(raw.get()).map_err(|error| vec![Fault::refused(path, error)])?;
    let mut fit = Fit::at(path);
    let value = match (schema, fit.fit_within(schema, constraints, value)) {
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

/// Checks the constraints of a value that its type has read.
fn kept(
    schema: &'static Schema,
    constraints: Option<&'static Constraints>,
    raw: &RawValue,
    path: &str,
) -> Result<(), Vec<Fault>> {
    let mut faults = fitted(schema, constraints, raw, path)
        .err()
        .unwrap_or_default();
    // What the type reads in spite of its schema is not for us to refuse.
    faults.retain(|fault| fault.is_bound);
    if faults.is_empty() {
        Ok(())
    } else {
        Err(faults)
    }
}

fn invalid(faults: &[Fault]) -> ToolError {
    let lines: Vec<String> = faults.iter().map(Fault::to_string).collect();
    ToolError::invalid_arguments(lines.join("\n"))
}

/// Takes the arguments of one call apart, parameter by parameter.
#[derive(Debug)]
pub struct ArgumentReader<'a> {
    entries: Vec<Entry<'a>>,
    context: &'a ToolContext,
    /// Why there is no object to read from; then no argument counts as missing.
    broken: Option<String>,
    /// The parameters that were not given, as far as somebody may want to know.
    absent: Vec<Property>,
    faults: Vec<Fault>,
    error: Option<ToolError>,
}

impl<'a> ArgumentReader<'a> {
    /// Splits the arguments. No text at all and `null` are no arguments.
    ///
    /// What is no JSON object is told by [`finish`](Self::finish), like any other fault.
    #[must_use]
    pub fn new(arguments: &'a str, context: &'a ToolContext) -> Self {
        let (entries, broken) = match split(arguments) {
            Ok(entries) => (entries, None),
            Err(why) => (Vec::new(), Some(why)),
        };
        Self {
            entries,
            context,
            broken,
            absent: Vec::new(),
            faults: Vec::new(),
            error: None,
        }
    }

    /// The value of a parameter; `None` if there is a fault. `default` stands for an argument
    /// that is absent or `null`.
    pub(super) fn read<T: ToolParam>(
        &mut self,
        parameter: &Parameter,
        default: Option<&mut dyn FnMut() -> T>,
    ) -> Option<T> {
        let raw = self.raw(parameter.property.name);
        if raw.is_none() && parameter.argument().is_some() && self.has_more() {
            self.absent.push(parameter.property);
        }
        if let Some(default) = default
            && raw.is_none_or(|raw| raw.get() == "null")
        {
            return self.broken.is_none().then(default);
        }
        if raw.is_none() && parameter.property.is_demanded {
            let property = &parameter.property;
            self.faults.push(Fault::missing(property.name, property));
            return None;
        }
        let value = match T::take(raw, self.context) {
            Ok(value) => value,
            Err(error) => {
                self.fail(parameter, raw, error);
                return None;
            }
        };
        let property = &parameter.property;
        if let (Some(raw), Some(constraints)) = (raw, property.constraints)
            && let Err(faults) = kept(property.schema, Some(constraints), raw, property.name)
        {
            self.faults.extend(faults);
            return None;
        }
        Some(value)
    }

    /// Ends the reading. Arguments nobody asked for are dropped, and logged.
    ///
    /// # Errors
    ///
    /// All faults of the call in one error.
    pub fn finish(self) -> Result<(), ToolError> {
        if self.error.is_some() || self.broken.is_some() || !self.faults.is_empty() {
            return Err(self.into_error());
        }
        for (name, _) in &self.entries {
            tracing::debug!(argument = %name, "an argument the tool does not know was dropped");
        }
        Ok(())
    }

    /// The error of a call that cannot run: the host's fault first, else all of the model's.
    #[must_use]
    pub fn into_error(mut self) -> ToolError {
        if let Some(error) = self.error {
            return error;
        }
        if let Some(broken) = self.broken {
            let required = self.absent.iter().filter(|it| it.is_required());
            let members = required.map(|it| Some((it.name.to_owned(), example(it)?)));
            let whole: Option<Map<String, Value>> = members.collect();
            return ToolError::invalid_arguments(match whole {
                Some(whole) => format!("{broken}; for example: {}", Value::from(whole)),
                None => broken,
            });
        }
        self.explain_names();
        invalid(&self.faults)
    }

    /// Says of each name nobody asked for which one it may have been meant for.
    fn explain_names(&mut self) {
        for (given, _) in self.entries.iter().take(MOST_NAMES) {
            let names = self.absent.iter().map(|property| property.name);
            let Some(meant) = nearest(given, names) else {
                continue;
            };
            let is_missing = |fault: &&mut Fault| {
                fault.path == meant && matches!(fault.what, What::Missing { .. })
            };
            match self.faults.iter_mut().find(is_missing) {
                Some(fault) => fault.hint = Some(misnamed(given)),
                None => self.faults.push(Fault::unknown(shown(given), meant)),
            }
        }
    }

    /// True if what is absent is worth a note: there is a name it may have been meant by, or an
    /// example of the whole will be wanted.
    fn has_more(&self) -> bool {
        self.broken.is_some() || !self.entries.is_empty()
    }

    fn raw(&mut self, name: &str) -> Option<&'a RawValue> {
        let index = self.entries.iter().position(|(key, _)| key == name)?;
        Some(self.entries.swap_remove(index).1)
    }

    /// Notes a failure under the argument's name, with the place inside it if that is known.
    fn fail(&mut self, parameter: &Parameter, raw: Option<&RawValue>, error: ToolError) {
        if error.kind() != ToolErrorKind::InvalidArguments {
            self.error.get_or_insert(error);
            return;
        }
        let property = &parameter.property;
        let Some(raw) = raw else {
            self.faults.push(Fault::missing(property.name, property));
            return;
        };
        if let ParamKind::Argument { schema, .. } = parameter.kind
            && let Err(faults) = fitted(schema, property.constraints, raw, property.name)
        {
            self.faults.extend(faults);
            return;
        }
        let text = error.to_string();
        let why = text.strip_prefix(Fault::UNNAMED).unwrap_or(&text);
        self.faults
            .push(Fault::refused(property.name, why).with_example(property));
    }
}

/// A parameter whose schema `schemars` gives.
pub(super) struct Described<T>(pub(super) T);

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
