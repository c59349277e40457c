//! A model's value made to fit a schema, where there is exactly one reading.
//!
//! Models write numbers in quotes, whole numbers as `3.0` and lists as JSON text. Such a
//! value is read as it was meant; every value with no reading, or with two, is a fault
//! with a text for the model.

use serde_json::{Map, Number, Value};

use crate::schema::{Property, Schema};

/// Whole numbers below this are exact in a float (2^53); from here on one float is several.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The longest part of a model's value that is repeated to it, in characters.
const SHOWN: usize = 60;

/// Fits values and gathers what does not fit.
pub(crate) struct Fit {
    path: String,
    faults: Vec<String>,
}

impl Fit {
    /// `path` names the value; empty if the caller will.
    pub(crate) fn at(path: &str) -> Self {
        Self {
            path: path.to_owned(),
            faults: Vec::new(),
        }
    }

    /// The faults found, in order.
    pub(crate) fn into_faults(self) -> Vec<String> {
        self.faults
    }

    /// The value as the schema means it; unchanged where it does not fit.
    pub(crate) fn fit(&mut self, schema: &Schema, value: Value) -> Value {
        match (schema, value) {
            (Schema::Any, value) => value,
            (Schema::Schemars(part), value) => part.without_optional_nulls(value),
            (
                Schema::AnyOf(_)
                | Schema::Joined(_)
                | Schema::Def(..)
                | Schema::Ref(_)
                | Schema::Recursive(_),
                value,
            ) => value,
            (Schema::Described(_, inner), value) => self.fit(inner, value),
            (Schema::Null | Schema::Nullable(_), Value::Null) => Value::Null,
            (Schema::Nullable(inner), value) => self.fit(inner, value),
            (Schema::Boolean, value @ Value::Bool(_))
            | (Schema::Number, value @ Value::Number(_)) => value,
            (Schema::Integer { minimum, maximum }, Value::Number(number)) => {
                self.integer(*minimum, *maximum, number)
            }
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

    fn integer(&mut self, minimum: Option<i64>, maximum: Option<i64>, number: Number) -> Value {
        match whole(&number) {
            Some(number) if in_range(&number, minimum, maximum) => number.into(),
            Some(number) => self.fault_of(&range(minimum, maximum), number.into()),
            None => self.fault_of("an integer", number.into()),
        }
    }

    fn list<'s>(&mut self, values: Vec<Value>, place: impl Fn(usize) -> &'s Schema) -> Value {
        let fit = |(index, value)| self.within(&format!("[{index}]"), place(index), value);
        values.into_iter().enumerate().map(fit).collect()
    }

    fn map(&mut self, mut members: Map<String, Value>, inner: &Schema) -> Value {
        for (key, value) in &mut members {
            *value = self.within(&format!(".{key}"), inner, value.take());
        }
        members.into()
    }

    fn within(&mut self, step: &str, schema: &Schema, value: Value) -> Value {
        let length = self.path.len();
        self.path.push_str(step);
        let value = self.fit(schema, value);
        self.path.truncate(length);
        value
    }

    fn object(&mut self, properties: &[Property], mut members: Map<String, Value>) -> Value {
        for property in properties {
            match members.get_mut(property.name) {
                Some(Value::Null) if !property.required => {
                    members.shift_remove(property.name);
                }
                Some(value) => {
                    let step = format!(".{}", property.name);
                    *value = self.within(&step, property.schema, value.take());
                }
                None if property.required => {
                    let path = format!("{}.{}", self.path, property.name);
                    self.faults.push(missing(&path));
                }
                None => {}
            }
        }
        members.into()
    }

    fn fault(&mut self, schema: &Schema, value: Value) -> Value {
        self.fault_of(&expected(schema), value)
    }

    fn fault_of(&mut self, expected: &str, value: Value) -> Value {
        let what = format!("expected {expected}, got {}", shown(&value.to_string()));
        self.faults.push(misfit(&self.path, &what));
        value
    }
}

/// The fault of an argument that is there and cannot be read.
pub(crate) fn misfit(path: &str, why: &str) -> String {
    format!("{} does not fit its type: {why}", argument(path))
}

/// The fault of a required argument that is not there.
pub(crate) fn missing(path: &str) -> String {
    format!("{} is missing", argument(path))
}

fn argument(path: &str) -> String {
    // The properties of a whole input have no argument before them.
    let path = path.strip_prefix('.').unwrap_or(path);
    if path.is_empty() {
        "the argument".to_owned()
    } else {
        format!("argument `{path}`")
    }
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
        Schema::Map(_) | Schema::Object(_) => container(text).filter(Value::is_object),
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

/// The text, shortened so that an error stays short.
pub(crate) fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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

fn range(minimum: Option<i64>, maximum: Option<i64>) -> String {
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) => format!("an integer from {minimum} to {maximum}"),
        (Some(minimum), None) => format!("an integer of at least {minimum}"),
        (None, Some(maximum)) => format!("an integer of at most {maximum}"),
        (None, None) => "an integer".to_owned(),
    }
}

fn expected(schema: &Schema) -> String {
    match schema {
        Schema::Null => "null".to_owned(),
        Schema::Boolean => "a bool".to_owned(),
        Schema::Integer { .. } => "an integer".to_owned(),
        Schema::Number => "a number".to_owned(),
        Schema::String {
            min_length: Some(1),
            max_length: Some(1),
        } => "a string of one character".to_owned(),
        Schema::String { .. } => "a string".to_owned(),
        Schema::Format(format) => format!("a string of the format {format}"),
        Schema::Base64 => "a string of base64".to_owned(),
        Schema::Enum(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("\"{value}\"")).collect();
            format!("one of {}", values.join(", "))
        }
        Schema::Array {
            length: Some(length),
            ..
        } => format!("a list of {length} items"),
        Schema::Array { .. } => "a list".to_owned(),
        Schema::Tuple(places) => format!("a list of {} items", places.len()),
        Schema::Map(_) | Schema::Object(_) => "an object".to_owned(),
        Schema::Nullable(inner) => format!("{} or null", expected(inner)),
        Schema::Described(_, inner) => expected(inner),
        Schema::Def(_, inner) => expected(inner),
        Schema::Joined(_) => "an object".to_owned(),
        Schema::Any
        | Schema::AnyOf(_)
        | Schema::Ref(_)
        | Schema::Recursive(_)
        | Schema::Schemars(_) => "a value".to_owned(),
    }
}
