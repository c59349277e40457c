//! Null for a property that may be absent and cannot be null: a strict schema asks for it.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::null::{allows_null, has_type};
use super::refs::Definitions;
use crate::schema::SchemarsPart;

/// How many references are followed without a step into the value, and how many schemas are
/// looked at in all.
const MAX_HOPS: usize = 16;
const MAX_STEPS: usize = 100_000;

/// How many schemas may hold for one value.
const MAX_PARTS: usize = 64;

/// The value without each null that stands for a property that is not given.
///
/// In [`Dialect::OpenAiStrict`](super::Dialect::OpenAiStrict) every property is required, and
/// null stands for none. `#[tool]` reads that by itself; a tool that reads its arguments by
/// hand can ask for it. Null stays where the neutral `schema` takes it, and where it is a fault.
///
/// ```
/// use agent_core::schema::without_optional_nulls;
/// use serde_json::json;
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"text": {"type": "string"}, "limit": {"type": "integer"}},
///     "required": ["text"],
/// });
/// let value = without_optional_nulls(&schema, json!({"text": null, "limit": null}));
/// assert_eq!(value, json!({"text": null}));
/// ```
#[must_use]
pub fn without_optional_nulls(schema: &Value, mut value: Value) -> Value {
    let mut walk = Walk {
        definitions: Definitions::of(schema),
        steps: MAX_STEPS,
    };
    walk.value(schema, &mut value, MAX_HOPS);
    value
}

impl SchemarsPart {
    /// The value without each null that stands for a property that is not given.
    pub(crate) fn without_optional_nulls(&self, value: Value) -> Value {
        if !has_null(&value) {
            return value;
        }
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let mut schema = (self.schema)(&mut generator);
        let definitions = generator.take_definitions(true);
        let root = schema.ensure_object();
        root.insert("$defs".to_owned(), definitions.into());
        without_optional_nulls(schema.as_value(), value)
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

struct Walk<'a> {
    definitions: Definitions<'a>,
    steps: usize,
}

impl<'a> Walk<'a> {
    fn value(&mut self, schema: &'a Value, value: &mut Value, hops: usize) {
        let Some(rules) = schema.as_object().filter(|_| hops > 0 && self.steps > 0) else {
            return;
        };
        self.steps -= 1;
        let reference = rules.get("$ref").and_then(Value::as_str);
        if let Some(target) = reference.and_then(|reference| self.definitions.get(reference)) {
            self.value(target, value, hops - 1);
        }
        for branch in branches(rules, "allOf") {
            self.value(branch, value, hops - 1);
        }
        for keyword in ["anyOf", "oneOf"] {
            let mut branches = branches(rules, keyword);
            if let Some(branch) = branches.find(|branch| is_meant(branch, value, &self.definitions))
            {
                self.value(branch, value, hops - 1);
            }
        }
        match value {
            Value::Object(members) => self.object(rules, members),
            Value::Array(items) => {
                let places = rules.get("prefixItems").and_then(Value::as_array);
                for (index, item) in items.iter_mut().enumerate() {
                    let place = places.and_then(|places| places.get(index));
                    if let Some(schema) = place.or(rules.get("items")) {
                        self.value(schema, item, MAX_HOPS);
                    }
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, rules: &'a Map<String, Value>, members: &mut Map<String, Value>) {
        let properties = rules.get("properties").and_then(Value::as_object);
        let required = rules.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|required| required.iter().any(|it| it == name));
        members.retain(|name, value| {
            let schema = properties.and_then(|properties| properties.get(name));
            let absent = |schema| !is_required(name) && !allows_null(schema, &self.definitions);
            !(value.is_null() && schema.is_some_and(absent))
        });
        for (name, value) in members {
            let schema = properties.and_then(|properties| properties.get(name));
            if let Some(schema) = schema.or(rules.get("additionalProperties")) {
                self.value(schema, value, MAX_HOPS);
            }
        }
    }
}

fn branches<'a>(rules: &'a Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'a Value> {
    rules
        .get(keyword)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// True if the value has the type of the branch, all it requires and its constants.
fn is_meant(branch: &Value, value: &Value, definitions: &Definitions<'_>) -> bool {
    let kind = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        _ => return false,
    };
    let Some(parts) = parts(branch, definitions) else {
        return false;
    };
    let is_typed = parts.iter().any(|rules| has_type(rules, kind));
    is_typed && parts.iter().all(|rules| admits(rules, value, kind))
}

/// What holds for a value of this schema: its own rules, and those that `$ref` and `allOf` add.
/// `None` if these are too many, or take no value.
fn parts<'a>(
    schema: &'a Value,
    definitions: &Definitions<'a>,
) -> Option<Vec<&'a Map<String, Value>>> {
    let mut parts = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        if schema == &Value::Bool(true) {
            continue;
        }
        let rules = schema.as_object().filter(|_| parts.len() < MAX_PARTS)?;
        let reference = rules.get("$ref").and_then(Value::as_str);
        open.extend(reference.and_then(|reference| definitions.get(reference)));
        open.extend(branches(rules, "allOf"));
        parts.push(rules);
    }
    Some(parts)
}

/// True if nothing in these rules alone speaks against the value, as far as they are looked at.
fn admits(rules: &Map<String, Value>, value: &Value, kind: &str) -> bool {
    if rules.contains_key("type") && !has_type(rules, kind) {
        return false;
    }
    let Value::Object(members) = value else {
        return true;
    };
    let required = rules.get("required").and_then(Value::as_array);
    let has = |name: &Value| name.as_str().is_some_and(|name| members.contains_key(name));
    let is_required =
        |name: &str| required.is_some_and(|required| required.iter().any(|it| it == name));
    let fits = |(name, schema): (&String, &Value)| {
        // Null may say that it is not given.
        let given = members.get(name);
        let given = given.filter(|value| !value.is_null() || is_required(name));
        match (given, schema.get("const"), schema.get("enum")) {
            (Some(value), Some(constant), _) => value == constant,
            (Some(value), None, Some(Value::Array(values))) => values.contains(value),
            _ => true,
        }
    };
    let properties = rules.get("properties").and_then(Value::as_object);
    required.into_iter().flatten().all(has) && properties.into_iter().flatten().all(fits)
}
