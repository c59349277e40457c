//! The root of an input schema, which every provider wants to be one plain object.

use serde_json::{Map, Value};

use super::ChangeEffect;
use super::merge::join;
use super::rewrite::{Place, Rewriter};

/// How many references or nested unions are followed at the root.
const MAX_HOPS: usize = 16;

impl Rewriter<'_> {
    /// The root as an object with properties, without `$ref`, unions and the like.
    pub(super) fn root(&mut self, neutral: &Value, told: &mut Vec<String>) -> Map<String, Value> {
        let at = Place::root();
        let mut root = match neutral {
            Value::Object(members) => members.clone(),
            _ => Map::new(),
        };
        for _ in 0..MAX_HOPS {
            let reference = root.get("$ref").and_then(Value::as_str);
            let target = reference.and_then(|reference| self.definitions.get(reference));
            let Some(Value::Object(target)) = target else {
                break;
            };
            root.shift_remove("$ref");
            self.change(&at, ChangeEffect::Same, "`$ref`", "the root is written out");
            for (keyword, value) in target {
                // What else is defined is found by its place in the whole.
                if matches!(keyword.as_str(), "$defs" | "definitions") {
                    continue;
                }
                if let Err(value) = join(&mut root, keyword, value.clone()) {
                    self.tell(told, &at, keyword, &value);
                }
            }
        }
        // One that leads nowhere is told of with those of other places.
        let left = root.get("$ref").and_then(Value::as_str);
        if left.is_some_and(|reference| self.definitions.get(reference).is_some()) {
            root.shift_remove("$ref");
            let why = "leads to no rules of an object; left out";
            self.change(&at, ChangeEffect::Looser, "`$ref`", why);
        }
        self.merge_all_of(&mut root, &at, told);
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = root.shift_remove(keyword) {
                self.union(&mut root, keyword, &branches, told);
            }
        }
        for keyword in ["enum", "not"] {
            if let Some(rule) = root.shift_remove(keyword) {
                self.tell(told, &at, keyword, &rule);
            }
        }
        if root
            .get("properties")
            .is_none_or(|properties| !properties.is_object())
        {
            root.insert("properties".to_owned(), Map::new().into());
        }
        root.shift_remove("type");
        root.shift_insert(0, "type".to_owned(), "object".into());
        root
    }

    /// Puts the properties of all objects of a union into one; which go together is told.
    fn union(
        &mut self,
        root: &mut Map<String, Value>,
        keyword: &str,
        branches: &Value,
        told: &mut Vec<String>,
    ) {
        let mut objects = Vec::new();
        for branch in branches.as_array().into_iter().flatten() {
            let mut branch = branch.as_object().cloned().unwrap_or_default();
            for _ in 0..MAX_HOPS {
                let reference = branch.shift_remove("$ref");
                let reference = reference.as_ref().and_then(Value::as_str);
                let target = reference.and_then(|reference| self.definitions.get(reference));
                let Some(Value::Object(target)) = target else {
                    break;
                };
                for (keyword, value) in target {
                    if join(&mut branch, keyword, value.clone()).is_err() {
                        branch.insert(keyword.clone(), value.clone());
                    }
                }
            }
            objects.push(branch);
        }
        let names = |object: &Map<String, Value>| -> Vec<String> {
            let required = object.get("required").and_then(Value::as_array);
            let names = required.into_iter().flatten().filter_map(Value::as_str);
            names.map(str::to_owned).collect()
        };
        let sets: Vec<String> = objects.iter().map(set).collect();
        let text = format!("give one of these sets of properties: {}", sets.join(" | "));
        let why = format!("the root cannot be a union; the description says: {text}");
        self.change(
            &Place::root(),
            ChangeEffect::Looser,
            format!("`{keyword}`"),
            why,
        );
        told.push(text);

        let mut properties = match root.get("properties") {
            Some(Value::Object(properties)) => properties.clone(),
            _ => Map::new(),
        };
        for object in &objects {
            for (name, schema) in object
                .get("properties")
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
            {
                match properties.get_mut(name) {
                    None => {
                        properties.insert(name.clone(), schema.clone());
                    }
                    Some(there) => either(there, schema),
                }
            }
        }
        let mut required = names(root);
        if let Some((first, others)) = objects.split_first() {
            for name in names(first) {
                let always = others.iter().all(|object| names(object).contains(&name));
                if always && !required.contains(&name) {
                    required.push(name);
                }
            }
        }
        let closed = |object: &Map<String, Value>| {
            object.get("additionalProperties") == Some(&Value::Bool(false))
        };
        root.insert("properties".to_owned(), properties.into());
        root.insert("required".to_owned(), required.into());
        if !objects.is_empty() && objects.iter().all(closed) {
            root.insert("additionalProperties".to_owned(), false.into());
        }
    }
}

/// What an object of a union is told by: what it requires, else what it may have.
fn set(object: &Map<String, Value>) -> String {
    let required = object.get("required").and_then(Value::as_array);
    let required = required.into_iter().flatten().filter_map(Value::as_str);
    let required: Vec<&str> = required.collect();
    if !required.is_empty() {
        return required.join(", ");
    }
    let properties = object.get("properties").and_then(Value::as_object);
    let optional = properties.into_iter().flatten();
    let optional: Vec<String> = optional.map(|(name, _)| format!("{name}?")).collect();
    match optional.is_empty() {
        true => "any".to_owned(),
        false => optional.join(", "),
    }
}

/// Makes `there` take what either schema takes. Constants and enums become one enum.
fn either(there: &mut Value, other: &Value) {
    if there == other {
        return;
    }
    if let (Some(mut values), Some(more)) = (choices(there), choices(other)) {
        for value in more {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if let Some(there) = there.as_object_mut() {
            there.shift_remove("const");
            there.insert("enum".to_owned(), values.into());
        }
        return;
    }
    let union = there.as_object_mut().filter(|there| there.len() == 1);
    if let Some(Value::Array(branches)) = union.and_then(|there| there.get_mut("anyOf")) {
        if !branches.contains(other) {
            branches.push(other.clone());
        }
        return;
    }
    let branches = vec![there.take(), other.clone()];
    *there = Map::from_iter([("anyOf".to_owned(), branches.into())]).into();
}

/// The values of a schema that lists them.
fn choices(schema: &Value) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), None) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}
