//! How many schemas hold for one value at one place: what the stack and the time of a check hang on.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::check::{SchemaError, SchemaFault};

/// The longest chain that a schema may have, and the most schemas for one value.
const LONGEST: usize = 250;
const MOST: usize = 10_000;

/// The longest chain of schemas that hold for one value, each of them by a `$ref`, an `allOf` or the
/// like of the one before.
///
/// # Errors
///
/// [`SchemaError`] if one is longer than a stack has room for, or if too many schemas hold for a value.
pub(crate) fn longest_chain(root: &Value) -> Result<usize, SchemaError> {
    let mut walk = Walk {
        root,
        known: HashMap::new(),
    };
    let mut longest = 0;
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                let held = walk.held(value, LONGEST).ok_or_else(too_many)?;
                longest = longest.max(held.chain);
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    Ok(longest)
}

fn too_many() -> SchemaError {
    let problem = format!(
        "holds a value to a chain of more than {LONGEST} schemas by `$ref`, `allOf` and the like, \
         or to more than {MOST}"
    );
    let pointer = String::new();
    SchemaError::new(vec![SchemaFault { pointer, problem }])
}

/// The schemas that hold for a value.
#[derive(Clone, Copy, Default)]
struct Held {
    chain: usize,
    count: usize,
}

struct Walk<'a> {
    root: &'a Value,
    /// Of what references lead to; none while it is being found: nothing follows a circle twice.
    known: HashMap<&'a str, Held>,
}

impl<'a> Walk<'a> {
    /// Those that a schema holds a value to; `None` if they are too many, or more than `left` in a
    /// chain.
    fn held(&mut self, schema: &'a Value, left: usize) -> Option<Held> {
        let Some(rules) = schema.as_object() else {
            return Some(Held::default());
        };
        let left = left.checked_sub(1)?;
        let mut all = match rules.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.behind(reference, left)?,
            None => Held::default(),
        };
        for schema in beside(rules) {
            let more = self.held(schema, left)?;
            all.chain = all.chain.max(more.chain);
            all.count += more.count;
        }
        all = Held {
            chain: all.chain + 1,
            count: all.count + 1,
        };
        (all.chain <= LONGEST && all.count <= MOST).then_some(all)
    }

    fn behind(&mut self, reference: &'a str, left: usize) -> Option<Held> {
        if let Some(known) = self.known.get(reference) {
            return Some(*known);
        }
        self.known.insert(reference, Held::default());
        let pointer = reference.strip_prefix('#');
        let target = pointer.and_then(|pointer| self.root.pointer(pointer));
        let held = match target {
            Some(target) => self.held(target, left)?,
            None => Held::default(),
        };
        self.known.insert(reference, held);
        Some(held)
    }
}

/// The schemas right inside of these rules that hold for the same value.
fn beside(rules: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let lists = ["allOf", "anyOf", "oneOf"].into_iter();
    let lists = lists.filter_map(|keyword| rules.get(keyword)?.as_array());
    let single = ["not", "if", "then", "else"].into_iter();
    let single = single.filter_map(|keyword| rules.get(keyword));
    let by_name = rules.get("dependentSchemas").and_then(Value::as_object);
    let by_name = by_name.into_iter().flat_map(Map::values);
    lists.flatten().chain(single).chain(by_name)
}
