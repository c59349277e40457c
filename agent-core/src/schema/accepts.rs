//! Whether a schema accepts a value, for the part of JSON Schema that models are given.
//!
//! What is made from a schema is held against it here, so that a rule nobody thought of is no
//! wrong value. Rules are those of JSON Schema 2020-12, "Validation".
//!
//! Not here: the check of what a model wrote (`tool::validate`).

use std::cell::Cell;

use regex_lite::Regex;
use serde_json::{Map, Value};

/// Deeper than this no schema is followed; one that only refers to itself ends here.
const DEEPEST: usize = 64;

/// More schemas than this are not asked: some branch back to themselves.
const MOST_SCHEMAS: usize = 100_000;

/// Keywords that refuse values and are not understood here.
const UNKNOWN: [&str; 7] = [
    "$dynamicRef",
    "$recursiveRef",
    "additionalItems",
    "dependencies",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// `None` if the schema says something that is not understood here.
pub(super) fn accepts(schema: &Value, value: &Value) -> Option<bool> {
    accepts_part(schema, schema, value)
}

/// The same of a schema that stands in another, by which its references are read.
pub(super) fn accepts_part(root: &Value, schema: &Value, value: &Value) -> Option<bool> {
    let reader = Reader {
        root,
        asked: Cell::new(0),
    };
    reader.accepts(schema, value, 0)
}

struct Reader<'a> {
    root: &'a Value,
    asked: Cell<usize>,
}

impl Reader<'_> {
    fn accepts(&self, schema: &Value, value: &Value, depth: usize) -> Option<bool> {
        if depth >= DEEPEST || self.asked.get() == MOST_SCHEMAS {
            return None;
        }
        self.asked.set(self.asked.get() + 1);
        match schema {
            Value::Bool(all) => Some(*all),
            Value::Object(keywords) => {
                for (keyword, rule) in keywords {
                    if !self.holds((keyword, rule), keywords, value, depth + 1)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            _ => None,
        }
    }

    fn holds(
        &self,
        (keyword, rule): (&str, &Value),
        all: &Map<String, Value>,
        value: &Value,
        depth: usize,
    ) -> Option<bool> {
        let holds = match keyword {
            "$ref" => {
                let target = self.root.pointer(rule.as_str()?.strip_prefix('#')?)?;
                return self.accepts(target, value, depth);
            }
            "anyOf" => self.count(rule, value, depth)? > 0,
            "oneOf" => self.count(rule, value, depth)? == 1,
            "allOf" => self.count(rule, value, depth)? == rule.as_array()?.len(),
            "type" => match rule {
                Value::Array(names) => names.iter().any(|name| is_of(name, value)),
                name => is_of(name, value),
            },
            "const" => rule == value,
            "enum" => rule.as_array()?.contains(value),
            "not" => !self.accepts(rule, value, depth)?,
            "if" => {
                let then = match self.accepts(rule, value, depth)? {
                    true => all.get("then"),
                    false => all.get("else"),
                };
                return then.map_or(Some(true), |then| self.accepts(then, value, depth));
            }
            "contains" => match value {
                Value::Array(items) => return self.contains(rule, all, items, depth),
                _ => true,
            },
            "minProperties" | "maxProperties" | "propertyNames" | "dependentRequired" => {
                match value {
                    Value::Object(members) => {
                        return self.names((keyword, rule), members, depth);
                    }
                    _ => true,
                }
            }
            "properties" | "patternProperties" | "additionalProperties" | "required" => match value
            {
                Value::Object(members) => {
                    return self.members((keyword, rule), all, members, depth);
                }
                _ => true,
            },
            "items" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems" => match value {
                Value::Array(items) => return self.items((keyword, rule), all, items, depth),
                _ => true,
            },
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                match value.as_f64() {
                    Some(number) => is_within(keyword, rule.as_f64()?, number),
                    None => true,
                }
            }
            "minLength" | "maxLength" | "pattern" => match value.as_str() {
                Some(text) => return is_text(keyword, rule, text),
                None => true,
            },
            keyword if UNKNOWN.contains(&keyword) => return None,
            // What the formats mean is not checked: those that are made are written by hand. Other
            // words say nothing of the value.
            _ => true,
        };
        Some(holds)
    }

    /// How many of these schemas accept the value.
    fn count(&self, schemas: &Value, value: &Value, depth: usize) -> Option<usize> {
        let mut count = 0;
        for schema in schemas.as_array()? {
            count += usize::from(self.accepts(schema, value, depth)?);
        }
        Some(count)
    }

    fn members(
        &self,
        (keyword, rule): (&str, &Value),
        all: &Map<String, Value>,
        members: &Map<String, Value>,
        depth: usize,
    ) -> Option<bool> {
        if keyword == "required" {
            let mut names = rule.as_array()?.iter();
            return Some(
                names.all(|name| name.as_str().is_some_and(|it| members.contains_key(it))),
            );
        }
        let named = all.get("properties");
        let patterns = all.get("patternProperties").and_then(Value::as_object);
        let mut by_pattern = Vec::new();
        for (pattern, schema) in patterns.into_iter().flatten() {
            by_pattern.push((Regex::new(pattern).ok()?, schema));
        }
        for (name, member) in members {
            let mut of_name = by_pattern.iter().filter(|(regex, _)| regex.is_match(name));
            let is_named = named.is_some_and(|named| named.get(name).is_some());
            let schemas: Vec<&Value> = match keyword {
                "properties" if is_named => vec![&rule[name]],
                "patternProperties" => of_name.map(|(_, schema)| *schema).collect(),
                "additionalProperties" if !is_named && of_name.next().is_none() => vec![rule],
                _ => continue,
            };
            for schema in schemas {
                if !self.accepts(schema, member, depth)? {
                    return Some(false);
                }
            }
        }
        Some(true)
    }

    fn names(
        &self,
        (keyword, rule): (&str, &Value),
        members: &Map<String, Value>,
        depth: usize,
    ) -> Option<bool> {
        match keyword {
            "minProperties" => Some(members.len() as u64 >= rule.as_u64()?),
            "maxProperties" => Some(members.len() as u64 <= rule.as_u64()?),
            "propertyNames" => {
                for name in members.keys() {
                    if !self.accepts(rule, &name.as_str().into(), depth)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            _ => {
                let wanted = rule.as_object()?.iter();
                let is_there =
                    |name: &Value| name.as_str().is_some_and(|it| members.contains_key(it));
                let mut wanted = wanted.filter(|(name, _)| members.contains_key(*name));
                Some(
                    wanted.all(|(_, names)| {
                        names.as_array().is_some_and(|it| it.iter().all(is_there))
                    }),
                )
            }
        }
    }

    fn contains(
        &self,
        rule: &Value,
        all: &Map<String, Value>,
        items: &[Value],
        depth: usize,
    ) -> Option<bool> {
        let mut count = 0;
        for item in items {
            count += u64::from(self.accepts(rule, item, depth)?);
        }
        let bound = |keyword: &str| all.get(keyword).and_then(Value::as_u64);
        let is_enough = count >= bound("minContains").unwrap_or(1);
        Some(is_enough && count <= bound("maxContains").unwrap_or(u64::MAX))
    }

    fn items(
        &self,
        (keyword, rule): (&str, &Value),
        all: &Map<String, Value>,
        items: &[Value],
        depth: usize,
    ) -> Option<bool> {
        let placed = all.get("prefixItems").and_then(Value::as_array);
        let placed = placed.map_or(0, Vec::len);
        let all_fit = match keyword {
            "minItems" => items.len() as u64 >= rule.as_u64()?,
            "maxItems" => items.len() as u64 <= rule.as_u64()?,
            "uniqueItems" => {
                let is_new = |(place, item): (usize, &Value)| !items[..place].contains(item);
                !rule.as_bool()? || items.iter().enumerate().all(is_new)
            }
            "prefixItems" => {
                for (schema, item) in rule.as_array()?.iter().zip(items) {
                    if !self.accepts(schema, item, depth)? {
                        return Some(false);
                    }
                }
                true
            }
            _ => {
                for item in items.iter().skip(placed) {
                    if !self.accepts(rule, item, depth)? {
                        return Some(false);
                    }
                }
                true
            }
        };
        Some(all_fit)
    }
}

fn is_of(name: &Value, value: &Value) -> bool {
    match (name.as_str(), value) {
        (Some("null"), Value::Null)
        | (Some("boolean"), Value::Bool(_))
        | (Some("number"), Value::Number(_))
        | (Some("string"), Value::String(_))
        | (Some("array"), Value::Array(_))
        | (Some("object"), Value::Object(_)) => true,
        (Some("integer"), Value::Number(number)) => {
            number.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        _ => false,
    }
}

fn is_within(keyword: &str, bound: f64, number: f64) -> bool {
    match keyword {
        "minimum" => number >= bound,
        "maximum" => number <= bound,
        "exclusiveMinimum" => number > bound,
        "exclusiveMaximum" => number < bound,
        _ => bound != 0.0 && (number / bound).fract() == 0.0,
    }
}

fn is_text(keyword: &str, rule: &Value, text: &str) -> Option<bool> {
    let count = text.chars().count() as u64;
    Some(match keyword {
        "minLength" => count >= rule.as_u64()?,
        "maxLength" => count <= rule.as_u64()?,
        _ => Regex::new(rule.as_str()?).ok()?.is_match(text),
    })
}
