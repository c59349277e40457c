//! What we change in the schemas `schemars` gives, by schema position, never by key alone.
//!
//! Objects that list properties are closed with `additionalProperties: false`; maps are
//! not. Formats that only name Rust's number types are dropped.
//!
//! An object described in several pieces that all apply (an internally tagged enum, a
//! flattened field) stays open: each piece alone would refuse the properties of the others.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// Tidies a root schema in place.
pub(crate) fn tidy(root: &mut Map<String, Value>) {
    let pieces = Pieces::of(root).names;
    if let Some(Value::Object(definitions)) = root.get_mut("$defs") {
        for (name, definition) in definitions {
            tidy_value(definition, pieces.contains(name));
        }
    }
    tidy_object(root, false);
}

fn tidy_value(schema: &mut Value, piece: bool) {
    if let Value::Object(members) = schema {
        tidy_object(members, piece);
    }
}

/// `piece` is true if another schema applies to the same object.
fn tidy_object(schema: &mut Map<String, Value>, piece: bool) {
    let joined = piece || is_joined(schema);
    let format = schema.get("format").and_then(Value::as_str);
    if format.is_some_and(is_number_format) {
        schema.shift_remove("format");
    }
    for (keyword, value) in schema.iter_mut() {
        match keyword.as_str() {
            "properties" | "patternProperties" | "dependentSchemas" => {
                for schema in value.as_object_mut().into_iter().flat_map(Map::values_mut) {
                    tidy_value(schema, false);
                }
            }
            "allOf" | "anyOf" | "oneOf" => {
                for schema in value.as_array_mut().into_iter().flatten() {
                    tidy_value(schema, joined);
                }
            }
            "prefixItems" => {
                for schema in value.as_array_mut().into_iter().flatten() {
                    tidy_value(schema, false);
                }
            }
            "not" | "if" | "then" | "else" => tidy_value(value, true),
            "items"
            | "additionalProperties"
            | "contains"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties" => tidy_value(value, false),
            _ => {}
        }
    }
    let open = !schema.contains_key("additionalProperties")
        && !schema.contains_key("unevaluatedProperties");
    if !joined && open && schema.contains_key("properties") {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// True if more than one keyword of the schema says what properties an object has.
fn is_joined(schema: &Map<String, Value>) -> bool {
    let says = ["properties", "$ref", "anyOf", "oneOf"]
        .iter()
        .filter(|keyword| schema.contains_key(**keyword))
        .count();
    says > 1 || schema.contains_key("allOf")
}

/// True for formats that only name the number types of a programming language.
pub(super) fn is_number_format(format: &str) -> bool {
    matches!(
        format,
        "int8"
            | "int16"
            | "int32"
            | "int64"
            | "int128"
            | "int"
            | "uint8"
            | "uint16"
            | "uint32"
            | "uint64"
            | "uint128"
            | "uint"
            | "float"
            | "double"
    )
}

/// The names of definitions that are pieces of an object described elsewhere.
struct Pieces<'a> {
    definitions: Option<&'a Map<String, Value>>,
    names: HashSet<String>,
}

impl<'a> Pieces<'a> {
    fn of(root: &'a Map<String, Value>) -> Self {
        let mut pieces = Self {
            definitions: root.get("$defs").and_then(Value::as_object),
            names: HashSet::new(),
        };
        pieces.find_in(root);
        pieces
    }

    fn find(&mut self, value: &'a Value) {
        match value {
            Value::Object(members) => self.find_in(members),
            Value::Array(items) => items.iter().for_each(|item| self.find(item)),
            _ => {}
        }
    }

    fn find_in(&mut self, members: &'a Map<String, Value>) {
        if is_joined(members) {
            self.mark(members);
        }
        members.values().for_each(|value| self.find(value));
    }

    /// Marks what `schema` refers to as pieces, through branches and references.
    fn mark(&mut self, schema: &'a Map<String, Value>) {
        let name = schema
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| reference.strip_prefix("#/$defs/"));
        if let Some(name) = name
            && self.names.insert(name.to_owned())
            && let Some(Value::Object(definition)) = self.definitions.and_then(|all| all.get(name))
        {
            self.mark(definition);
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let branches = schema.get(keyword).and_then(Value::as_array);
            for branch in branches.into_iter().flatten().filter_map(Value::as_object) {
                self.mark(branch);
            }
        }
    }
}
