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

/// `None` if the schema says something that is not understood here.
pub(super) fn accepts(schema: &Value, value: &Value) -> Option<bool> {
    let reader = Reader {
        root: schema,
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
            "properties" | "additionalProperties" | "required" => match value {
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
            // What the formats mean is not checked: those that are made are written by hand.
            "format" | "contentEncoding" | "contentMediaType" | "$defs" | "definitions"
            | "$schema" | "$id" | "$comment" | "title" | "description" | "default" | "examples"
            | "deprecated" | "readOnly" | "writeOnly" => true,
            _ => return None,
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
        let is_named = |name: &String| named.is_some_and(|named| named.get(name).is_some());
        for (name, member) in members {
            let schema = match (keyword, is_named(name)) {
                ("properties", true) => &rule[name],
                ("additionalProperties", false) => rule,
                _ => continue,
            };
            if !self.accepts(schema, member, depth)? {
                return Some(false);
            }
        }
        Some(true)
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
