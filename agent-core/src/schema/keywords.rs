//! The shape of each keyword's value.
//!
//! From the JSON Schema specification, draft 2020-12, "Core" and "Validation"; `definitions`,
//! `dependencies` and a list in `items` are older drafts' and still common.

use std::collections::HashSet;

use serde_json::Value;

/// What a keyword's value must be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    Schema,
    Schemas,
    SchemaOrSchemas,
    SchemaByName,
    NamesByName,
    Reference,
    Type,
    Names,
    Values,
    List,
    Text,
    Flag,
    Number,
    Positive,
    Count,
}

/// The shape of a keyword's value; `None` for one that may be anything or is unknown.
pub(super) fn shape(keyword: &str) -> Option<Shape> {
    Some(match keyword {
        "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "contains"
        | "unevaluatedItems"
        | "additionalItems"
        | "not"
        | "if"
        | "then"
        | "else"
        | "contentSchema" => Shape::Schema,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Shape::Schemas,
        "items" => Shape::SchemaOrSchemas,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            Shape::SchemaByName
        }
        "dependentRequired" => Shape::NamesByName,
        "$ref" => Shape::Reference,
        "type" => Shape::Type,
        "required" => Shape::Names,
        "enum" => Shape::Values,
        "examples" => Shape::List,
        "title" | "description" | "format" | "pattern" | "contentEncoding" | "contentMediaType"
        | "$id" | "$schema" | "$anchor" | "$dynamicRef" | "$dynamicAnchor" | "$comment" => {
            Shape::Text
        }
        "uniqueItems" | "deprecated" | "readOnly" | "writeOnly" => Shape::Flag,
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => Shape::Number,
        "multipleOf" => Shape::Positive,
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains"
        | "minProperties" | "maxProperties" => Shape::Count,
        _ => return None,
    })
}

const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];

impl Shape {
    /// What is wrong with a value in which no schema stands.
    pub(super) fn problem(self, value: &Value) -> Option<String> {
        let (is_right, must) = match self {
            Self::Type => return type_problem(value),
            Self::Names => (
                are_names(value),
                "must be a list of names, each of them once",
            ),
            Self::Values => (
                value.as_array().is_some_and(|values| !values.is_empty()),
                "must be a list of values with at least one",
            ),
            Self::List => (value.is_array(), "must be a list"),
            Self::Text => (value.is_string(), "must be a text"),
            Self::Flag => (value.is_boolean(), "must be `true` or `false`"),
            Self::Number => (value.is_number(), "must be a number"),
            Self::Positive => (
                value.as_f64().is_some_and(|number| number > 0.0),
                "must be a number above 0",
            ),
            Self::Count => (is_count(value), "must be a whole number of at least 0"),
            _ => return None,
        };
        (!is_right).then(|| must.to_owned())
    }
}

fn type_problem(value: &Value) -> Option<String> {
    let names: Vec<&Value> = match value {
        Value::Array(names) => names.iter().collect(),
        name => vec![name],
    };
    let is_type = |name: &&Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    let mut seen = HashSet::new();
    let is_right = !names.is_empty()
        && names.iter().all(is_type)
        && names.iter().all(|name| seen.insert(name.as_str()));
    (!is_right).then(|| format!("must be one or a list of {}", TYPES.join(", ")))
}

fn are_names(value: &Value) -> bool {
    let mut seen = HashSet::new();
    value.as_array().is_some_and(|names| {
        names
            .iter()
            .all(|name| name.is_string() && seen.insert(name.as_str()))
    })
}

fn is_count(value: &Value) -> bool {
    value.is_u64()
        || value
            .as_f64()
            .is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}
