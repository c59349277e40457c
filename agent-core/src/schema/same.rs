//! Whether the places of a tuple have one schema.

use super::Schema;

/// True if all places are written alike. Only what is common in tuples is looked at; the
/// rest counts as different.
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

const fn same(left: &Schema, right: &Schema) -> bool {
    match (left, right) {
        (Schema::Any, Schema::Any)
        | (Schema::Boolean, Schema::Boolean)
        | (Schema::Number, Schema::Number)
        | (
            Schema::String {
                min_length: None,
                max_length: None,
            },
            Schema::String {
                min_length: None,
                max_length: None,
            },
        ) => true,
        (
            Schema::Integer { minimum, maximum },
            Schema::Integer {
                minimum: other_minimum,
                maximum: other_maximum,
            },
        ) => equal(*minimum, *other_minimum) && equal(*maximum, *other_maximum),
        (Schema::Nullable(left), Schema::Nullable(right))
        | (Schema::Map(left), Schema::Map(right)) => same(left, right),
        _ => false,
    }
}

const fn equal(left: Option<i64>, right: Option<i64>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left == right,
        (None, None) => true,
        _ => false,
    }
}
