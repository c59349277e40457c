//! A model's value made to fit a schema, where there is exactly one reading.
//!
//! Models write numbers in quotes, whole numbers as `3.0` and lists as JSON text. Such a
//! value is read as it was meant; every value with no reading, or with two, is a fault
//! with a text for the model.

use serde_json::{Map, Number, Value};

use super::bounds;
use super::expected::expected;
use super::fault::{Fault, What, received, shown};
use super::nearest::nearest;
use crate::schema::{Constraints, Property, Schema};
use crate::secrets::Secrets;

/// Whole numbers below this are exact in a float (2^53); from here on one float is several.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// More names than these are not compared.
pub(crate) const MOST_NAMES: usize = 64;

/// More faults of one value are not told: each costs a line, and a model repairs what it reads.
const MOST_FAULTS: usize = 32;

/// Fits values and gathers what does not fit.
pub(crate) struct Fit<'a> {
    pub(super) path: String,
    pub(super) faults: Vec<Fault>,
    /// The recursive types around the place, the outermost first.
    pub(super) definitions: Vec<&'static Schema>,
    /// How many branches of choices were tried.
    pub(super) tries: usize,
    /// What is not to be repeated.
    pub(super) secrets: &'a Secrets,
}

impl<'a> Fit<'a> {
    /// `path` names the value; empty if the caller will.
    pub(crate) fn at(path: &str, secrets: &'a Secrets) -> Self {
        Self {
            path: path.to_owned(),
            faults: Vec::new(),
            definitions: Vec::new(),
            tries: 0,
            secrets,
        }
    }

    /// The faults found, in order.
    pub(crate) fn into_faults(self) -> Vec<Fault> {
        self.faults
    }

    /// True if no more faults are told.
    pub(super) fn is_full(&self) -> bool {
        self.faults.len() >= MOST_FAULTS
    }

    /// The value of a property as its schema means it, checked against its constraints.
    pub(crate) fn fit_within(
        &mut self,
        schema: &'static Schema,
        constraints: Option<&'static Constraints>,
        value: Value,
    ) -> Value {
        let before = self.faults.len();
        let value = self.fit(schema, value);
        let Some(constraints) = constraints else {
            return value;
        };
        let own = |fault: &Fault| fault.path == self.path;
        match self.faults[before..].iter().position(own) {
            Some(index) => {
                self.faults[before + index] = self.misfit(schema, Some(constraints), &value);
            }
            None if self.is_full() || bounds::hold(schema, constraints, &value) => {}
            None => {
                let fault = self.misfit(schema, Some(constraints), &value);
                self.faults.push(Fault {
                    is_bound: true,
                    ..fault
                });
            }
        }
        value
    }

    /// The value as the schema means it; unchanged where it does not fit.
    pub(crate) fn fit(&mut self, schema: &'static Schema, value: Value) -> Value {
        match (schema, value) {
            (Schema::Any, value) => value,
            (Schema::Schemars(part), value) => part.without_optional_nulls(value),
            (Schema::AnyOf(branches), value) => self.any_of(schema, branches, value),
            (Schema::Joined(parts), value @ Value::Object(_)) => self.joined(parts, value),
            (Schema::Def(_, body), value) => self.definition(schema, body, value),
            (Schema::Ref(name), value) => self.reference(name, value),
            (Schema::Recursive(part), value) => self.fit((part.schema)(), value),
            (Schema::Described(_, inner), value) => self.fit(inner, value),
            (Schema::Null | Schema::Nullable(_), Value::Null) => Value::Null,
            (Schema::Nullable(inner), value) => self.fit(inner, value),
            (Schema::Boolean, value @ Value::Bool(_))
            | (Schema::Number, value @ Value::Number(_)) => value,
            (Schema::Integer { minimum, maximum }, Value::Number(number)) => match whole(&number) {
                Some(number) if in_range(&number, *minimum, *maximum) => number.into(),
                whole => self.fault(schema, whole.unwrap_or(number).into()),
            },
            (
                Schema::String {
                    min_length,
                    max_length,
                },
                Value::String(text),
            ) if is_of_length(&text, *min_length, *max_length) => text.into(),
            (Schema::Format(_) | Schema::Base64, text @ Value::String(_)) => text,
            (Schema::Enum(values), Value::String(text)) if values.contains(&text.as_str()) => {
                text.into()
            }
            (Schema::Array { items, length, .. }, Value::Array(values))
                if length.is_none_or(|length| length == values.len()) =>
            {
                self.list(values, |_| items)
            }
            (Schema::Tuple(places), Value::Array(values)) if places.len() == values.len() => {
                self.list(values, |index| places[index])
            }
            (Schema::Map(inner), Value::Object(members)) => self.map(members, inner),
            (Schema::Object(properties), Value::Object(members)) => {
                self.object(properties, members)
            }
            (schema, Value::String(text)) => match unquoted(schema, &text) {
                Some(value) => self.fit(schema, value),
                None => self.fault(schema, text.into()),
            },
            (schema, value) => self.fault(schema, value),
        }
    }

    fn list(&mut self, values: Vec<Value>, place: impl Fn(usize) -> &'static Schema) -> Value {
        let fit = |(index, value)| self.within(&format!("[{index}]"), place(index), None, value);
        values.into_iter().enumerate().map(fit).collect()
    }

    fn map(&mut self, mut members: Map<String, Value>, inner: &'static Schema) -> Value {
        for (key, value) in &mut members {
            // A key is the model's own, and may be anything.
            let key = shown(key, self.secrets).replace(char::is_control, " ");
            *value = self.within(&format!(".{key}"), inner, None, value.take());
        }
        members.into()
    }

    pub(super) fn within(
        &mut self,
        step: &str,
        schema: &'static Schema,
        constraints: Option<&'static Constraints>,
        value: Value,
    ) -> Value {
        let length = self.path.len();
        self.path.push_str(step);
        let value = self.fit_within(schema, constraints, value);
        self.path.truncate(length);
        value
    }

    fn object(
        &mut self,
        properties: &'static [Property],
        mut members: Map<String, Value>,
    ) -> Value {
        for property in properties {
            match members.get_mut(property.name) {
                Some(Value::Null) if !property.is_required() => {
                    members.shift_remove(property.name);
                }
                Some(value) => {
                    let step = format!(".{}", property.name);
                    let constraints = property.constraints;
                    *value = self.within(&step, property.schema, constraints, value.take());
                }
                None if property.is_required() && !self.is_full() => {
                    let path = format!("{}.{}", self.path, property.name);
                    let unknown = members
                        .keys()
                        .filter(|key| properties.iter().all(|other| other.name != *key));
                    let meant =
                        nearest(property.name, unknown.map(String::as_str).take(MOST_NAMES));
                    self.faults.push(Fault {
                        is_bound: property.is_demanded,
                        hint: meant.map(misnamed),
                        ..self.missing(path, property)
                    });
                }
                None => {}
            }
        }
        members.into()
    }

    pub(super) fn fault(&mut self, schema: &'static Schema, value: Value) -> Value {
        if !self.is_full() {
            let fault = self.misfit(schema, None, &value);
            self.faults.push(fault);
        }
        value
    }

    fn missing(&self, path: String, property: &Property) -> Fault {
        let expected = expected(self.known(property.schema), property.constraints);
        Fault::new(path, What::Missing { expected }).with_example(&self.definitions, property)
    }

    fn misfit(
        &self,
        schema: &'static Schema,
        constraints: Option<&'static Constraints>,
        value: &Value,
    ) -> Fault {
        let what = What::Misfit {
            expected: expected(schema, constraints),
            received: received(&self.path, value, self.secrets),
        };
        let property = Property {
            constraints,
            ..Property::new("value", schema, true)
        };
        let mut fault =
            Fault::new(self.path.clone(), what).with_example(&self.definitions, &property);
        if let (Schema::Enum(values), Value::String(text)) = (schema.bare(), value) {
            let meant = nearest(text, values.iter().copied());
            fault.hint = meant.map(|meant| format!("did you mean {}?", Value::from(meant)));
            if let Some(meant) = meant {
                fault.example = Some(Value::from(meant).to_string());
            }
        }
        fault
    }
}

/// The hint at a name that was given in place of the one that is missing.
pub(crate) fn misnamed(given: &str) -> String {
    format!("`{given}` was given, which is not known")
}

/// What a text holds if the schema wants no text.
fn unquoted(schema: &Schema, text: &str) -> Option<Value> {
    match schema {
        Schema::Boolean if text.eq_ignore_ascii_case("true") => Some(true.into()),
        Schema::Boolean if text.eq_ignore_ascii_case("false") => Some(false.into()),
        Schema::Number | Schema::Integer { .. } => serde_json::from_str::<Number>(text.trim())
            .ok()
            .map(Value::Number),
        Schema::Array { .. } | Schema::Tuple(_) => container(text).filter(Value::is_array),
        Schema::Map(_) | Schema::Object(_) | Schema::Joined(_) => {
            container(text).filter(Value::is_object)
        }
        _ => None,
    }
}

/// A list or an object written as JSON text.
pub(crate) fn container(text: &str) -> Option<Value> {
    let text = text.trim_start();
    if !text.starts_with(['[', '{']) {
        return None;
    }
    serde_json::from_str(text).ok()
}

fn whole(number: &Number) -> Option<Number> {
    if number.is_i64() || number.is_u64() {
        return Some(number.clone());
    }
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() < EXACT).then(|| Number::from(float as i64))
}

fn is_of_length(text: &str, minimum: Option<u32>, maximum: Option<u32>) -> bool {
    let length = text.chars().count();
    minimum.is_none_or(|minimum| length >= minimum as usize)
        && maximum.is_none_or(|maximum| length <= maximum as usize)
}

fn in_range(number: &Number, minimum: Option<i64>, maximum: Option<i64>) -> bool {
    match number.as_i64() {
        Some(number) => {
            minimum.is_none_or(|minimum| number >= minimum)
                && maximum.is_none_or(|maximum| number <= maximum)
        }
        // A whole number that is no `i64` is larger than any.
        None => maximum.is_none(),
    }
}
