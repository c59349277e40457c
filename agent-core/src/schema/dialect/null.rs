//! "Or null", in the forms schemas say it in.

use serde_json::{Map, Value};

use super::refs::Definitions;
use super::rewrite::{Place, Rewriter};

/// True if `type` names this type, alone or in a list.
pub(super) fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(there)) => there == name,
        Some(Value::Array(names)) => names.iter().any(|there| there == name),
        _ => false,
    }
}

/// How many schemas are looked at to see whether one takes null.
const MAX_STEPS: usize = 1000;

/// True if the schema takes null.
pub(super) fn allows_null(schema: &Value, definitions: &Definitions<'_>) -> bool {
    takes_null(schema, definitions, &mut MAX_STEPS.clone())
}

fn takes_null(schema: &Value, definitions: &Definitions<'_>, steps: &mut usize) -> bool {
    let Some(schema) = schema.as_object() else {
        return schema != &Value::Bool(false);
    };
    if *steps == 0 {
        return false;
    }
    *steps -= 1;
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let target = definitions.get(reference);
        return target.is_some_and(|target| takes_null(target, definitions, steps));
    }
    let listed = match (schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(values)), _) => values.iter().any(Value::is_null),
        (_, Some(value)) => value.is_null(),
        _ => true,
    };
    let typed = !schema.contains_key("type") || has_type(schema, "null");
    let mut branches = |keyword| -> Option<Vec<bool>> {
        let branches = schema.get(keyword)?.as_array()?.iter();
        Some(
            branches
                .map(|branch| takes_null(branch, definitions, steps))
                .collect(),
        )
    };
    let mut one = |keyword| branches(keyword).is_none_or(|takes| takes.contains(&true));
    let unions = one("anyOf") && one("oneOf");
    listed && typed && unions && branches("allOf").is_none_or(|takes| !takes.contains(&false))
}

/// Makes the schema take null too.
pub(super) fn with_null(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(branches)) = node.get_mut("anyOf") {
        branches.push(Map::from_iter([("type".to_owned(), "null".into())]).into());
        return;
    }
    if let Some(value) = node.shift_remove("const") {
        node.insert("enum".to_owned(), vec![value].into());
    }
    if let Some(Value::Array(values)) = node.get_mut("enum")
        && !values.iter().any(Value::is_null)
    {
        values.push(Value::Null);
    }
    let lists_values = node.contains_key("enum");
    match node.get_mut("type") {
        Some(Value::Array(names)) => {
            if !names.iter().any(|name| name == "null") {
                names.push("null".into());
            }
        }
        Some(kind) => {
            let both = vec![kind.take(), "null".into()];
            *kind = both.into();
        }
        None if lists_values => {}
        None => {
            let mut inner = std::mem::take(node);
            let description = inner.shift_remove("description");
            let null = Map::from_iter([("type".to_owned(), "null".into())]);
            node.insert(
                "anyOf".to_owned(),
                vec![Value::from(inner), null.into()].into(),
            );
            node.extend(description.map(|text| ("description".to_owned(), text)));
        }
    }
}

/// Makes the schema take no null, if it takes other values. True if it took null.
pub(super) fn without_null(schema: &mut Value) -> bool {
    let Some(node) = schema.as_object_mut() else {
        return false;
    };
    let mut had_null = false;
    if let Some(Value::Array(names)) = node.get_mut("type")
        && names.len() > 1
    {
        let before = names.len();
        names.retain(|name| name != "null");
        had_null = names.len() < before;
        if names.len() == 1 {
            let name = names.swap_remove(0);
            node.insert("type".to_owned(), name);
        }
    }
    if let Some(Value::Array(values)) = node.get_mut("enum")
        && values.len() > 1
    {
        let before = values.len();
        values.retain(|value| !value.is_null());
        had_null |= values.len() < before && !node.contains_key("type");
    }
    if let Some(Value::Array(branches)) = node.get_mut("anyOf")
        && branches.len() > 1
    {
        let is_null = |branch: &Value| branch.get("type").is_some_and(|kind| kind == "null");
        let before = branches.len();
        branches.retain(|branch| !is_null(branch));
        had_null |= branches.len() < before;
        if branches.len() == 1 {
            let branch = branches.swap_remove(0);
            node.shift_remove("anyOf");
            if let Value::Object(mut branch) = branch {
                branch.extend(std::mem::take(node));
                *node = branch;
            }
        }
    }
    if had_null && node.get("default") == Some(&Value::Null) {
        node.shift_remove("default");
    }
    had_null
}

/// A list of types as one type and `nullable`, or as `anyOf`.
pub(super) fn unlist_types(node: &mut Map<String, Value>) {
    let Some(Value::Array(names)) = node.get("type").cloned() else {
        return;
    };
    let nullable = names.iter().any(|name| name == "null");
    let mut others: Vec<Value> = names.into_iter().filter(|name| name != "null").collect();
    match others.len() {
        0 => {
            node.insert("type".to_owned(), "null".into());
            return;
        }
        1 => {
            node.insert("type".to_owned(), others.swap_remove(0));
        }
        _ => {
            let mut rules = std::mem::take(node);
            let description = rules.shift_remove("description");
            let branch = |name: Value| {
                let mut branch = rules.clone();
                branch.retain(|keyword, _| is_rule_of(keyword, name.as_str().unwrap_or_default()));
                branch.insert("type".to_owned(), name);
                Value::from(branch)
            };
            let branches: Vec<Value> = others.into_iter().map(branch).collect();
            node.insert("anyOf".to_owned(), branches.into());
            node.extend(description.map(|text| ("description".to_owned(), text)));
        }
    }
    if nullable {
        node.insert("nullable".to_owned(), true.into());
    }
}

/// False for a keyword that says nothing about values of this type.
fn is_rule_of(keyword: &str, kind: &str) -> bool {
    match keyword {
        "minLength" | "maxLength" | "pattern" | "format" => kind == "string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            matches!(kind, "number" | "integer")
        }
        "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" => kind == "array",
        "properties" | "required" | "additionalProperties" => kind == "object",
        _ => true,
    }
}

impl Rewriter<'_> {
    /// Where null is said by `nullable`, a union has no branch for it, with one branch left it
    /// is none, and beside a union nothing else may stand.
    pub(super) fn nullable_union(&mut self, out: &mut Map<String, Value>, at: &Place) {
        let Some(Value::Array(mut branches)) = out.shift_remove("anyOf") else {
            return;
        };
        let mut nullable = out.shift_remove("nullable").is_some_and(|it| it == true);
        if !branches.iter().all(is_null) {
            let before = branches.len();
            branches.retain(|branch| !is_null(branch));
            nullable |= branches.len() < before;
        }
        let description = out.shift_remove("description");
        let description = description.as_ref().and_then(Value::as_str);
        out.shift_remove("default");
        if !out.is_empty() {
            // Only one of the two can stay: what stands beside the union.
            let mut told = Vec::from_iter(description.map(str::to_owned));
            self.tell(&mut told, at, "anyOf", &branches.into());
            out.insert("description".to_owned(), told.join(" ").into());
        } else if branches.len() == 1 {
            if let Some(Value::Object(mut branch)) = branches.pop() {
                describe(&mut branch, description);
                *out = branch;
            }
        } else {
            out.insert("anyOf".to_owned(), branches.into());
            describe(out, description);
        }
        if nullable {
            make_nullable(out);
        }
    }
}

fn is_null(schema: &Value) -> bool {
    let kind = schema.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case("null"))
}

/// Says that the schema takes null; in a union, each branch says it.
fn make_nullable(schema: &mut Map<String, Value>) {
    match schema.get_mut("anyOf") {
        Some(Value::Array(branches)) => {
            let branches = branches.iter_mut().filter_map(Value::as_object_mut);
            branches.for_each(make_nullable);
        }
        _ => {
            schema.insert("nullable".to_owned(), true.into());
        }
    }
}

/// Puts a description in front of the schema's own; in a union, of that of each branch.
fn describe(schema: &mut Map<String, Value>, description: Option<&str>) {
    let Some(description) = description else {
        return;
    };
    if let Some(Value::Array(branches)) = schema.get_mut("anyOf") {
        for branch in branches.iter_mut().filter_map(Value::as_object_mut) {
            describe(branch, Some(description));
        }
        return;
    }
    let text = match schema.get("description").and_then(Value::as_str) {
        Some(own) => format!("{description} {own}"),
        None => description.to_owned(),
    };
    schema.insert("description".to_owned(), text.into());
}
