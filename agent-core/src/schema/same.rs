//! Whether two schemas are the same, as `const fn`.

use super::{Bound, Constraints, Property, Schema};

/// True if all places of a tuple are written alike.
pub(super) const fn all_same(places: &[&Schema]) -> bool {
    let mut index = 1;
    while index < places.len() {
        if !same(places[0], places[index]) {
            return false;
        }
        index += 1;
    }
    true
}

/// True if both schemas are written alike. What is asked for at run time is taken for the
/// same, as a definition must be known again by what it holds.
pub(super) const fn same(left: &Schema, right: &Schema) -> bool {
    use Schema as S;
    let same = match (left, right) {
        (S::Any, S::Any)
        | (S::Null, S::Null)
        | (S::Boolean, S::Boolean)
        | (S::Number, S::Number)
        | (S::Base64, S::Base64)
        | (S::Map(_), S::Map(_))
        | (S::Nullable(_), S::Nullable(_))
        | (S::Tuple(_), S::Tuple(_))
        | (S::AnyOf(_), S::AnyOf(_))
        | (S::Joined(_), S::Joined(_))
        | (S::Schemars(_), S::Schemars(_))
        | (S::Recursive(_), S::Recursive(_)) => true,
        (
            S::String {
                min_length,
                max_length,
            },
            S::String {
                min_length: other_min,
                max_length: other_max,
            },
        ) => {
            same_number(wide(*min_length), wide(*other_min))
                && same_number(wide(*max_length), wide(*other_max))
        }
        (
            S::Integer { minimum, maximum },
            S::Integer {
                minimum: other_min,
                maximum: other_max,
            },
        ) => same_number(*minimum, *other_min) && same_number(*maximum, *other_max),
        (S::Format(left), S::Format(right))
        | (S::Ref(left), S::Ref(right))
        | (S::Def(left, _), S::Def(right, _))
        | (S::Described(left, _), S::Described(right, _)) => same_text(left, right),
        (S::Enum(left), S::Enum(right)) => same_texts(left, right),
        (
            S::Array { length, unique, .. },
            S::Array {
                length: other_length,
                unique: other_unique,
                ..
            },
        ) => *unique == *other_unique && same_length(*length, *other_length),
        (S::Object(left), S::Object(right)) => same_properties(left, right),
        _ => false,
    };
    same && same_children(left, right)
}

const fn same_children(left: &Schema, right: &Schema) -> bool {
    let mut index = 0;
    loop {
        match (left.child(index), right.child(index)) {
            (None, None) => return true,
            (Some(left), Some(right)) if same(left, right) => index += 1,
            _ => return false,
        }
    }
}

/// True if they differ in their schemas at most.
const fn same_properties(left: &[Property], right: &[Property]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        let (left, right) = (&left[index], &right[index]);
        let same = left.required == right.required
            && left.is_demanded == right.is_demanded
            && same_constraints(left.constraints, right.constraints)
            && same_text(left.name, right.name)
            && same_option(left.description, right.description)
            && same_option(left.default, right.default);
        if !same {
            return false;
        }
        index += 1;
    }
    true
}

const fn same_constraints(left: Option<&Constraints>, right: Option<&Constraints>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            same_bound(left.minimum, right.minimum)
                && same_bound(left.maximum, right.maximum)
                && same_bound(left.exclusive_minimum, right.exclusive_minimum)
                && same_bound(left.exclusive_maximum, right.exclusive_maximum)
                && same_number(wide(left.min_length), wide(right.min_length))
                && same_number(wide(left.max_length), wide(right.max_length))
                && same_number(wide(left.min_items), wide(right.min_items))
                && same_number(wide(left.max_items), wide(right.max_items))
                && same_option(left.pattern, right.pattern)
                && same_option(left.example, right.example)
        }
        (None, None) => true,
        _ => false,
    }
}

const fn same_bound(left: Option<Bound>, right: Option<Bound>) -> bool {
    match (left, right) {
        (Some(Bound::Integer(left)), Some(Bound::Integer(right))) => left == right,
        (Some(Bound::Float(_, left)), Some(Bound::Float(_, right))) => same_text(left, right),
        (None, None) => true,
        _ => false,
    }
}

const fn same_texts(left: &[&str], right: &[&str]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if !same_text(left[index], right[index]) {
            return false;
        }
        index += 1;
    }
    true
}

const fn same_option(left: Option<&str>, right: Option<&str>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => same_text(left, right),
        (None, None) => true,
        _ => false,
    }
}

pub(super) const fn same_text(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

const fn same_length(left: Option<usize>, right: Option<usize>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left == right,
        (None, None) => true,
        _ => false,
    }
}

const fn same_number(left: Option<i64>, right: Option<i64>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left == right,
        (None, None) => true,
        _ => false,
    }
}

const fn wide(length: Option<u32>) -> Option<i64> {
    match length {
        Some(length) => Some(length as i64),
        None => None,
    }
}
