//! What a schema expects, in words.

use std::fmt::Display;

use crate::schema::{Bound, Constraints, Schema};

/// What is expected, as `an integer from 1 to 7` or `a list of at most 3 items`.
pub(crate) fn expected(schema: &Schema, constraints: Option<&Constraints>) -> String {
    let Some(constraints) = constraints else {
        return kind(schema);
    };
    let (schema, rest) = constraints.join(schema);
    let mut text = kind(&schema);
    match (rest.minimum, rest.maximum) {
        (None, None) => {}
        (minimum, maximum) => {
            let (minimum, maximum) = (minimum.map(number), maximum.map(number));
            text.push_str(&range(minimum, maximum));
        }
    }
    let exclusive = [
        ("above", rest.exclusive_minimum),
        ("below", rest.exclusive_maximum),
    ];
    let mut bounded = matches!(schema, Schema::Integer { minimum, maximum } if minimum.or(maximum).is_some())
        || rest.minimum.is_some()
        || rest.maximum.is_some();
    for (side, bound) in exclusive {
        if let Some(bound) = bound {
            let and = if bounded { " and" } else { "" };
            text.push_str(&format!("{and} {side} {}", number(bound)));
            bounded = true;
        }
    }
    // A text that says its kind only has room for its length; other kinds come from `schemars`.
    if rest.min_length.is_some() || rest.max_length.is_some() {
        text.push_str(&counted(rest.min_length, rest.max_length, "character"));
    }
    if rest.min_items.is_some() || rest.max_items.is_some() {
        text.push_str(&counted(rest.min_items, rest.max_items, "item"));
    }
    if let Some(pattern) = rest.pattern {
        text.push_str(&format!(" that matches `{pattern}`"));
    }
    text
}

/// A branch of a choice; the key of an object with one tells it from others.
fn branch(schema: &Schema) -> String {
    match schema {
        Schema::Described(_, inner) => branch(inner),
        Schema::Object([property]) if !matches!(property.schema.bare(), Schema::Enum(_)) => {
            format!("an object with the key \"{}\"", property.name)
        }
        other => kind(other),
    }
}

fn kind(schema: &Schema) -> String {
    match schema {
        Schema::Null => "null".to_owned(),
        Schema::Boolean => "a bool".to_owned(),
        Schema::Integer { minimum, maximum } => {
            format!("an integer{}", range(*minimum, *maximum))
        }
        Schema::Number => "a number".to_owned(),
        Schema::String {
            min_length,
            max_length,
        } => format!("a string{}", counted(*min_length, *max_length, "character")),
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
        Schema::Map(_) | Schema::Object(_) | Schema::Joined(_) => "an object".to_owned(),
        Schema::Nullable(inner) => format!("{} or null", kind(inner)),
        Schema::Described(_, inner) | Schema::Def(_, inner) => kind(inner),
        Schema::AnyOf(branches) => {
            let mut kinds: Vec<String> = branches.iter().map(branch).collect();
            kinds.dedup();
            kinds.join(" or ")
        }
        Schema::Any | Schema::Ref(_) | Schema::Recursive(_) | Schema::Schemars(_) => {
            "a value".to_owned()
        }
    }
}

fn number(bound: Bound) -> String {
    match bound {
        Bound::Integer(bound) => bound.to_string(),
        Bound::Float(_, text) => text.to_owned(),
    }
}

fn range<T: Display>(minimum: Option<T>, maximum: Option<T>) -> String {
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) => format!(" from {minimum} to {maximum}"),
        (Some(minimum), None) => format!(" of at least {minimum}"),
        (None, Some(maximum)) => format!(" of at most {maximum}"),
        (None, None) => String::new(),
    }
}

/// ` of 3 to 5 characters`, ` of one item`, ` of at least 2 items`.
fn counted(minimum: Option<u32>, maximum: Option<u32>, what: &str) -> String {
    let (count, last) = match (minimum, maximum) {
        (None, None) => return String::new(),
        (Some(minimum), Some(maximum)) if minimum == maximum => (minimum.to_string(), minimum),
        (Some(minimum), Some(maximum)) => (format!("{minimum} to {maximum}"), maximum),
        (Some(minimum), None) => (format!("at least {minimum}"), minimum),
        (None, Some(maximum)) => (format!("at most {maximum}"), maximum),
    };
    let count = if count == "1" {
        "one".to_owned()
    } else {
        count
    };
    let plural = if last == 1 { "" } else { "s" };
    format!(" of {count} {what}{plural}")
}
