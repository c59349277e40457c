//! The definitions of several schemas under one root.
//!
//! Equal ones are shared; one that is different from another of its name is renamed to
//! `Name_2`, and every reference to it is rewritten.

use std::collections::HashSet;

use serde_json::{Map, Value};

const PREFIX: &str = "#/$defs/";

/// The definitions at a root.
#[derive(Default)]
pub(super) struct Definitions(Map<String, Value>);

impl Definitions {
    /// Moves the `$defs` of a schema here.
    pub(super) fn hoist(&mut self, schema: &mut Value) {
        let own = schema
            .as_object_mut()
            .and_then(|it| it.shift_remove("$defs"));
        if let Some(Value::Object(mut own)) = own {
            let names = self.names_for(&own);
            rename(schema, &names);
            for definition in own.values_mut() {
                rename(definition, &names);
            }
            for ((_, definition), (_, name)) in own.into_iter().zip(names) {
                self.0.entry(name).or_insert(definition);
            }
        }
    }

    /// A name that is not taken: this one, or with a number.
    pub(super) fn free(&self, name: &str) -> String {
        let free = labels(name).find(|label| !self.0.contains_key(label));
        free.unwrap_or_default()
    }

    pub(super) fn insert(&mut self, name: String, definition: Value) {
        self.0.insert(name, definition);
    }

    pub(super) fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// The old and the new name of each of these definitions, in their order.
    fn names_for(&self, own: &Map<String, Value>) -> Vec<(String, String)> {
        let mut names: Vec<(String, String)> = Vec::new();
        for name in own.keys() {
            let is_chosen = |label: &String| names.iter().any(|(_, chosen)| chosen == label);
            let label = labels(name).find(|label| {
                !is_chosen(label)
                    && (!self.0.contains_key(label)
                        || Comparison::new(own, &self.0).same_definition(name, label))
            });
            let label = label.unwrap_or_default();
            names.push((name.clone(), label));
        }
        names
    }
}

/// Moves the definitions of a schema beside those of a root. Where the name of one is taken by
/// another, it and what refers to it in the schema change.
pub(crate) fn move_definitions(root: &mut Map<String, Value>, schema: &mut Value) {
    if schema.get("$defs").is_none() {
        return;
    }
    let own = match root.get_mut("$defs").map(Value::take) {
        Some(Value::Object(own)) => own,
        _ => Map::new(),
    };
    let mut definitions = Definitions(own);
    definitions.hoist(schema);
    match root.get_mut("$defs") {
        Some(own) => *own = definitions.into_map().into(),
        None => {
            let after_type = root.len().min(1);
            root.shift_insert(
                after_type,
                "$defs".to_owned(),
                definitions.into_map().into(),
            );
        }
    }
}

/// Takes away the definitions that nothing leads to.
pub(super) fn prune(root: &mut Map<String, Value>) {
    let Some(Value::Object(mut definitions)) = root.get_mut("$defs").map(Value::take) else {
        return;
    };
    let mut used = HashSet::new();
    let mut pending = Vec::new();
    root.values().for_each(|value| targets(value, &mut pending));
    while let Some(name) = pending.pop() {
        if let Some(definition) = definitions.get(&name)
            && used.insert(name)
        {
            targets(definition, &mut pending);
        }
    }
    definitions.retain(|name, _| used.contains(name));
    if definitions.is_empty() {
        root.shift_remove("$defs");
    } else {
        root.insert("$defs".to_owned(), definitions.into());
    }
}

/// The names of the definitions that the references inside lead to, or into.
fn targets(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str);
            let path = reference.and_then(|reference| reference.strip_prefix(PREFIX));
            let name = path.and_then(|path| path.split('/').next());
            names.extend(name.map(str::to_owned));
            members.values().for_each(|value| targets(value, names));
        }
        Value::Array(items) => items.iter().for_each(|value| targets(value, names)),
        _ => {}
    }
}

/// `{"$ref": …}` to the definition of that name.
pub(super) fn reference(name: &str) -> Value {
    format!("{PREFIX}{name}").into()
}

/// `Name`, `Name_2`, `Name_3`, …; there is no end to it.
fn labels(name: &str) -> impl Iterator<Item = String> {
    (1_usize..).map(move |number| match number {
        1 => name.to_owned(),
        number => format!("{name}_{number}"),
    })
}

fn rename(value: &mut Value, names: &[(String, String)]) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get_mut("$ref")
                && let Some(old) = target.strip_prefix(PREFIX)
                && let Some((_, new)) = names.iter().find(|(name, _)| name == old)
            {
                *target = format!("{PREFIX}{new}");
            }
            members.values_mut().for_each(|value| rename(value, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| rename(value, names)),
        _ => {}
    }
}

/// Compares definitions by what their references lead to, whatever they are called.
struct Comparison<'a> {
    left: &'a Map<String, Value>,
    right: &'a Map<String, Value>,
    /// Pairs of names that are the same, unless a difference is found.
    assumed: Vec<(&'a str, &'a str)>,
}

impl<'a> Comparison<'a> {
    fn new(left: &'a Map<String, Value>, right: &'a Map<String, Value>) -> Self {
        Self {
            left,
            right,
            assumed: Vec::new(),
        }
    }

    fn same_definition(&mut self, left: &str, right: &str) -> bool {
        let Some((left, one)) = self.left.get_key_value(left) else {
            return false;
        };
        let Some((right, other)) = self.right.get_key_value(right) else {
            return false;
        };
        let pair = (left.as_str(), right.as_str());
        if self.assumed.contains(&pair) {
            return true;
        }
        self.assumed.push(pair);
        self.same(one, other)
    }

    fn same(&mut self, left: &Value, right: &Value) -> bool {
        match (left, right) {
            (Value::Object(left), Value::Object(right)) => {
                left.len() == right.len()
                    && left.iter().all(|(key, value)| {
                        let other = right.get(key);
                        other.is_some_and(|other| self.same_member(key, value, other))
                    })
            }
            (Value::Array(left), Value::Array(right)) => {
                left.len() == right.len()
                    && left
                        .iter()
                        .zip(right)
                        .all(|(one, other)| self.same(one, other))
            }
            (left, right) => left == right,
        }
    }

    fn same_member(&mut self, key: &str, left: &Value, right: &Value) -> bool {
        let target = |value: &Value| Some(value.as_str()?.strip_prefix(PREFIX)?.to_owned());
        match (key, target(left), target(right)) {
            ("$ref", Some(left), Some(right)) => self.same_definition(&left, &right),
            _ => self.same(left, right),
        }
    }
}
