//! Whether a value keeps to the constraints of its property.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::sync::{PoisonError, RwLock};

use regex_lite::Regex;
use serde_json::{Number, Value};

use crate::schema::{Bound, Constraints, Schema};

/// True if no constraint refuses the value. A constraint says nothing about other kinds of
/// values than its own: a `minimum` lets every text through. Of a set each item counts once.
pub(crate) fn hold(schema: &Schema, constraints: &Constraints, value: &Value) -> bool {
    match value {
        Value::Number(number) => is_in_range(constraints, number),
        Value::String(text) => {
            is_counted(
                text.chars().count(),
                constraints.min_length,
                constraints.max_length,
            ) && constraints
                .pattern
                .is_none_or(|pattern| matches(pattern, text))
        }
        Value::Array(items) => {
            let count = match schema.bare() {
                Schema::Array { unique: true, .. } => distinct(items),
                _ => items.len(),
            };
            is_counted(count, constraints.min_items, constraints.max_items)
        }
        _ => true,
    }
}

fn is_in_range(constraints: &Constraints, number: &Number) -> bool {
    let is = |bound: Option<Bound>, allowed: &[Ordering]| {
        bound.is_none_or(|bound| {
            compare(number, bound).is_some_and(|order| allowed.contains(&order))
        })
    };
    is(constraints.minimum, &[Ordering::Greater, Ordering::Equal])
        && is(constraints.maximum, &[Ordering::Less, Ordering::Equal])
        && is(constraints.exclusive_minimum, &[Ordering::Greater])
        && is(constraints.exclusive_maximum, &[Ordering::Less])
}

/// Whole numbers are compared exactly, others as floats.
fn compare(number: &Number, bound: Bound) -> Option<Ordering> {
    let bound = match bound {
        Bound::Float(bound, _) => bound,
        Bound::Integer(bound) => match number.as_i128() {
            Some(number) => return Some(number.cmp(&bound.into())),
            None => bound as f64,
        },
    };
    number.as_f64()?.partial_cmp(&bound)
}

/// How many items a set of them has.
fn distinct(items: &[Value]) -> usize {
    let texts: HashSet<String> = items.iter().map(Value::to_string).collect();
    texts.len()
}

fn is_counted(count: usize, minimum: Option<u32>, maximum: Option<u32>) -> bool {
    minimum.is_none_or(|minimum| count >= minimum as usize)
        && maximum.is_none_or(|maximum| count <= maximum as usize)
}

/// The patterns of the tools of this program, each compiled at first use. They are constants,
/// so there are only so many.
static PATTERNS: RwLock<BTreeMap<&'static str, Option<Regex>>> = RwLock::new(BTreeMap::new());

/// JSON Schema's `pattern` is found anywhere in the text. One that is no regular expression
/// refuses nothing.
fn matches(pattern: &'static str, text: &str) -> bool {
    let patterns = PATTERNS.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(regex) = patterns.get(pattern) {
        return regex.as_ref().is_none_or(|regex| regex.is_match(text));
    }
    drop(patterns);
    let regex = Regex::new(pattern)
        .inspect_err(|error| tracing::warn!(pattern, %error, "a pattern is no regular expression"))
        .ok();
    let matches = regex.as_ref().is_none_or(|regex| regex.is_match(text));
    let mut patterns = PATTERNS.write().unwrap_or_else(PoisonError::into_inner);
    patterns.insert(pattern, regex);
    matches
}
