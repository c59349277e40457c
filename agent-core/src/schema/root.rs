//! The schema of one type as the root of a tool's input.

use serde_json::{Map, Value};

use super::merge::prune;
use super::{Composer, Property, Schema};

/// The order of the keys at the root; others follow.
const ORDER: [&str; 5] = [
    "type",
    "$defs",
    "properties",
    "required",
    "additionalProperties",
];

/// The schema with its definitions at the root and no reference in their place, as no
/// provider takes one there. A choice of objects says that it is an object.
pub(crate) fn root(schema: &'static Schema) -> Value {
    const INPUT: &str = "input";
    let mut composer = Composer::new();
    composer.add(&Property::new(INPUT, schema, false), false);
    let mut whole = composer.finish();
    let definitions = whole.get_mut("$defs").map(Value::take);
    let input = whole
        .get_mut("properties")
        .and_then(|properties| properties.get_mut(INPUT));
    let mut members = match input.map(Value::take) {
        Some(Value::Object(members)) => members,
        // A schema that is a truth value, which no type has.
        other => return other.unwrap_or_default(),
    };
    if let Some(Value::Object(definitions)) = &definitions {
        resolve(&mut members, definitions);
    }
    if is_choice_of_objects(&members, definitions.as_ref()) {
        members.insert("type".to_owned(), "object".into());
    }
    if let Some(definitions) = definitions {
        members.insert("$defs".to_owned(), definitions);
    }
    prune(&mut members);
    members.shift_remove("title");
    ordered(members).into()
}

/// Puts what the reference at the top leads to in its place.
fn resolve(members: &mut Map<String, Value>, definitions: &Map<String, Value>) {
    // A reference to a reference ends after as many steps as there are definitions.
    for _ in 0..definitions.len() {
        let name = members
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| reference.strip_prefix("#/$defs/"));
        let Some(Value::Object(definition)) = name.and_then(|name| definitions.get(name)) else {
            return;
        };
        let beside = std::mem::replace(members, definition.clone());
        for (key, value) in beside {
            if key != "$ref" {
                members.insert(key, value);
            }
        }
    }
}

/// True if the schema has no type of its own, and each of its branches is an object.
fn is_choice_of_objects(members: &Map<String, Value>, definitions: Option<&Value>) -> bool {
    let branches = members.get("anyOf").or_else(|| members.get("oneOf"));
    let is_object = |branch: &Value| {
        let name = branch.get("$ref").and_then(Value::as_str);
        let name = name.and_then(|reference| reference.strip_prefix("#/$defs/"));
        let branch = match (name, definitions) {
            (Some(name), Some(definitions)) => definitions.get(name).unwrap_or(branch),
            _ => branch,
        };
        branch.get("type").and_then(Value::as_str) == Some("object")
    };
    let branches = branches.and_then(Value::as_array);
    !members.contains_key("type") && branches.is_some_and(|all| all.iter().all(is_object))
}

fn ordered(mut members: Map<String, Value>) -> Map<String, Value> {
    let mut first = Map::new();
    for key in ORDER {
        if let Some(value) = members.shift_remove(key) {
            first.insert(key.to_owned(), value);
        }
    }
    first.extend(members);
    first
}
