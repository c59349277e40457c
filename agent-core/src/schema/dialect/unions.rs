//! What takes values of several kinds: unions, tuples, enums and constants.

use serde_json::{Map, Value};

use super::ChangeEffect;
use super::rewrite::{Place, Rewriter, says_type};

impl Rewriter<'_> {
    /// A tuple as a list whose items are any of its places.
    pub(super) fn tuple(
        &mut self,
        places: &Value,
        at: &Place,
        told: &mut Vec<String>,
        out: &mut Map<String, Value>,
    ) {
        self.tell(told, at, "prefixItems", places);
        let at = at.child("prefixItems");
        let mut branches: Vec<Value> = Vec::new();
        for (index, place) in places.as_array().into_iter().flatten().enumerate() {
            let branch = self.schema(place, &at.child(&index.to_string()));
            if !branches.contains(&branch) {
                branches.push(branch);
            }
        }
        let items = match branches.len() {
            0 => return,
            1 => branches.swap_remove(0),
            _ => Map::from_iter([("anyOf".to_owned(), branches.into())]).into(),
        };
        out.insert("items".to_owned(), items);
    }

    pub(super) fn one_of(
        &mut self,
        node: &mut Map<String, Value>,
        at: &Place,
        told: &mut Vec<String>,
    ) {
        let Some(branches) = node.get("oneOf").cloned() else {
            return;
        };
        if node.contains_key("anyOf") {
            node.shift_remove("oneOf");
            self.tell(told, at, "oneOf", &branches);
            return;
        }
        let why = "written as `anyOf`";
        self.change(at, ChangeEffect::Looser, "`oneOf`", why);
        *node = std::mem::take(node)
            .into_iter()
            .map(|(key, value)| match &*key {
                "oneOf" => ("anyOf".to_owned(), value),
                _ => (key, value),
            })
            .collect();
    }

    /// Constants become enums; an enum of other values than texts is told.
    pub(super) fn text_enum(
        &mut self,
        node: &mut Map<String, Value>,
        at: &Place,
        told: &mut Vec<String>,
    ) {
        if let Some(value) = node.shift_remove("const") {
            node.insert("enum".to_owned(), vec![value].into());
        }
        let Some(Value::Array(mut values)) = node.shift_remove("enum") else {
            return;
        };
        if !node.contains_key("type")
            && let Some(kind) = kinds(&values)
        {
            node.shift_insert(0, "type".to_owned(), kind);
        }
        if !values
            .iter()
            .all(|value| value.is_string() || value.is_null())
        {
            self.tell(told, at, "enum", &values.into());
            return;
        }
        if values.iter().any(Value::is_string) {
            values.retain(|value| !value.is_null());
            node.insert("enum".to_owned(), values.into());
        }
    }

    /// OpenAI tells the objects of a union apart by their first property.
    pub(super) fn first_keys(&mut self, out: &Map<String, Value>, at: &Place) {
        let Some(Value::Array(branches)) = out.get("anyOf") else {
            return;
        };
        let mut seen: Vec<(String, Value)> = Vec::new();
        for branch in branches {
            let branch = match branch.get("$ref").and_then(Value::as_str) {
                Some(reference) => self.definitions.get(reference),
                None => Some(branch),
            };
            let first =
                branch.and_then(|branch| branch.get("properties")?.as_object()?.iter().next());
            let Some((name, schema)) = first.map(|(name, schema)| (name.clone(), schema.clone()))
            else {
                continue;
            };
            if seen.contains(&(name.clone(), schema.clone())) {
                let why = format!("two objects of it begin with the same property `{name}`");
                self.change(at, ChangeEffect::NotStrict, "`anyOf`", why);
                return;
            }
            seen.push((name, schema));
        }
    }
}

/// Adds the `type` that other keywords make plain.
pub(super) fn name_type(schema: &mut Map<String, Value>) {
    if says_type(schema) {
        return;
    }
    let kind = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(kind(value).into()),
        (_, Some(Value::Array(values))) => kinds(values),
        _ if schema.contains_key("properties") => Some("object".into()),
        _ if schema.contains_key("items") => Some("array".into()),
        _ => None,
    };
    if let Some(kind) = kind {
        schema.shift_insert(0, "type".to_owned(), kind);
    }
}

/// The types of these values, as `type` says them.
fn kinds(values: &[Value]) -> Option<Value> {
    let mut kinds: Vec<Value> = Vec::new();
    for value in values {
        let kind = kind(value).into();
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    match kinds.len() {
        0 => None,
        1 => kinds.pop(),
        _ => Some(kinds.into()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
