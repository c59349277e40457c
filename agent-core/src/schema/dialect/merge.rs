//! `allOf` as one schema.

use serde_json::{Map, Value};

use super::ChangeEffect;
use super::rewrite::{Place, Rewriter};

/// How many `allOf` and references are followed inside each other.
const MAX_HOPS: usize = 16;

impl Rewriter<'_> {
    /// Puts what `allOf` says beside it. What two schemas say differently is told.
    pub(super) fn merge_all_of(
        &mut self,
        node: &mut Map<String, Value>,
        at: &Place,
        told: &mut Vec<String>,
    ) {
        for _ in 0..MAX_HOPS {
            let Some(branches) = node.shift_remove("allOf") else {
                return;
            };
            // Each closed piece alone refuses what only the others list; as one, they do not.
            let is_closed = |piece: &Value| piece.get("additionalProperties").is_some();
            let branches = branches.as_array().into_iter().flatten();
            let closed =
                node.contains_key("additionalProperties") || branches.clone().any(is_closed);
            let effect = if closed {
                ChangeEffect::Looser
            } else {
                ChangeEffect::Same
            };
            self.change(at, effect, "`allOf`", "written as one schema");
            for branch in branches {
                let Some(branch) = self.written_out(branch) else {
                    self.tell(told, at, "allOf", branch);
                    continue;
                };
                for (keyword, value) in branch {
                    if let Err(value) = join(node, &keyword, value) {
                        self.tell(told, at, &keyword, &value);
                    }
                }
            }
        }
        if let Some(branches) = node.shift_remove("allOf") {
            self.tell(told, at, "allOf", &branches);
        }
    }

    /// The branch without a `$ref` at its top; `None` if it leads nowhere or back to itself.
    fn written_out(&self, branch: &Value) -> Option<Map<String, Value>> {
        let mut branch = branch.as_object()?.clone();
        for _ in 0..MAX_HOPS {
            let Some(reference) = branch.shift_remove("$ref") else {
                return Some(branch);
            };
            let target = self.definitions.get(reference.as_str()?)?.as_object()?;
            for (keyword, value) in target {
                if let Err(value) = join(&mut branch, keyword, value.clone()) {
                    let rule = Map::from_iter([(keyword.clone(), value)]);
                    let more = branch
                        .entry("allOf")
                        .or_insert_with(|| Value::Array(Vec::new()));
                    more.as_array_mut()?.push(rule.into());
                }
            }
        }
        None
    }
}

/// Adds a keyword to a schema, so that both what was there and `value` hold.
pub(super) fn join(
    node: &mut Map<String, Value>,
    keyword: &str,
    value: Value,
) -> Result<(), Value> {
    let Some(there) = node.get_mut(keyword) else {
        node.insert(keyword.to_owned(), value);
        return Ok(());
    };
    if *there == value {
        return Ok(());
    }
    match (keyword, there, value) {
        ("title" | "description" | "default" | "examples", _, _) => Ok(()),
        ("additionalProperties", Value::Bool(false), _)
        | ("additionalProperties", _, Value::Bool(true)) => Ok(()),
        ("additionalProperties", there @ Value::Bool(true), value)
        | ("additionalProperties", there, value @ Value::Bool(false)) => {
            *there = value;
            Ok(())
        }
        ("required", Value::Array(there), Value::Array(more)) => {
            for name in more {
                if !there.contains(&name) {
                    there.push(name);
                }
            }
            Ok(())
        }
        ("allOf", Value::Array(there), Value::Array(more)) => {
            there.extend(more);
            Ok(())
        }
        ("properties", Value::Object(there), Value::Object(more)) => {
            for (name, schema) in more {
                match there.get_mut(&name) {
                    None => {
                        there.insert(name, schema);
                    }
                    Some(same) if *same == schema => {}
                    Some(other) => {
                        let both = vec![other.take(), schema];
                        *other = Map::from_iter([("allOf".to_owned(), both.into())]).into();
                    }
                }
            }
            Ok(())
        }
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems", there, value)
            if there.is_number() && value.is_number() =>
        {
            if value.as_f64() > there.as_f64() {
                *there = value;
            }
            Ok(())
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems", there, value)
            if there.is_number() && value.is_number() =>
        {
            if value.as_f64() < there.as_f64() {
                *there = value;
            }
            Ok(())
        }
        ("type", there, value) => join_types(there, value),
        ("enum", Value::Array(there), Value::Array(more)) => {
            if !there.iter().any(|value| more.contains(value)) {
                return Err(more.into());
            }
            there.retain(|value| more.contains(value));
            Ok(())
        }
        (_, _, value) => Err(value),
    }
}

/// The types both name; an integer is a number.
fn join_types(there: &mut Value, other: Value) -> Result<(), Value> {
    let list = |value: &Value| match value {
        Value::Array(names) => names.clone(),
        name => vec![name.clone()],
    };
    let (left, right) = (list(there), list(&other));
    let has = |names: &[Value], name: &Value| {
        names.contains(name) || (name == "integer" && names.contains(&"number".into()))
    };
    let mut both: Vec<Value> = left
        .iter()
        .filter(|name| has(&right, name))
        .cloned()
        .collect();
    both.extend(
        right
            .iter()
            .filter(|name| has(&left, name) && !left.contains(name))
            .cloned(),
    );
    match both.len() {
        0 => return Err(other),
        1 => *there = both.swap_remove(0),
        _ => *there = both.into(),
    }
    Ok(())
}
