//! What narrows the values of one property beyond its type: bounds, a pattern, an example.
//!
//! A constraint is told to the model in the schema, and checked when a value is read
//! (`tool::bounds`). One that cannot apply to the type is refused when the constant is made.

use super::{Schema, ToolSchema};

/// One end of a range of numbers.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Bound {
    /// A whole number.
    Integer(i64),
    /// A number, and its JSON text.
    Float(f64, &'static str),
}

/// What narrows the values of a property beyond its type.
///
/// `minimum` and `maximum` of a whole number join with those of its type; the tighter one
/// counts. On an `Option` a constraint holds for the value, if there is one.
///
/// A constraint that cannot apply, such as a length on a number, panics; in a constant that
/// is a compile error.
///
/// ```
/// use agent_core::schema::{Bound, Constraints, Property, Schema};
///
/// const DAYS: &Constraints = &Constraints::on::<Option<u8>>().minimum(Bound::Integer(1));
/// const FORECAST: Schema = Schema::Object(&[Property::of::<Option<u8>>("days").constrained(DAYS)]);
/// assert_eq!(
///     FORECAST.to_string(),
///     concat!(
///         r#"{"type":"object","properties":{"days":{"type":["integer","null"],"minimum":1,"#,
///         r#""maximum":255}},"required":[],"additionalProperties":false}"#,
///     ),
/// );
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Constraints {
    schema: &'static Schema,
    pub(crate) minimum: Option<Bound>,
    pub(crate) maximum: Option<Bound>,
    pub(crate) exclusive_minimum: Option<Bound>,
    pub(crate) exclusive_maximum: Option<Bound>,
    pub(crate) min_length: Option<u32>,
    pub(crate) max_length: Option<u32>,
    pub(crate) min_items: Option<u32>,
    pub(crate) max_items: Option<u32>,
    pub(crate) pattern: Option<&'static str>,
    pub(crate) example: Option<&'static str>,
}

impl Constraints {
    /// No constraints yet, on values of type `T`.
    #[must_use]
    pub const fn on<T: ToolSchema>() -> Self {
        Self::of(&T::SCHEMA)
    }

    pub(crate) const fn of(schema: &'static Schema) -> Self {
        Self {
            schema: schema.bare(),
            minimum: None,
            maximum: None,
            exclusive_minimum: None,
            exclusive_maximum: None,
            min_length: None,
            max_length: None,
            min_items: None,
            max_items: None,
            pattern: None,
            example: None,
        }
    }

    /// The smallest number.
    #[must_use]
    #[track_caller]
    pub const fn minimum(mut self, bound: Bound) -> Self {
        self.check_bound(bound);
        self.minimum = Some(bound);
        self
    }

    /// The largest number.
    #[must_use]
    #[track_caller]
    pub const fn maximum(mut self, bound: Bound) -> Self {
        self.check_bound(bound);
        self.maximum = Some(bound);
        self
    }

    /// A number that every value is above.
    #[must_use]
    #[track_caller]
    pub const fn exclusive_minimum(mut self, bound: Bound) -> Self {
        self.check_bound(bound);
        self.exclusive_minimum = Some(bound);
        self
    }

    /// A number that every value is below.
    #[must_use]
    #[track_caller]
    pub const fn exclusive_maximum(mut self, bound: Bound) -> Self {
        self.check_bound(bound);
        self.exclusive_maximum = Some(bound);
        self
    }

    /// The least number of characters.
    #[must_use]
    #[track_caller]
    pub const fn min_length(mut self, characters: u32) -> Self {
        self.check_length();
        self.min_length = Some(characters);
        self
    }

    /// The largest number of characters.
    #[must_use]
    #[track_caller]
    pub const fn max_length(mut self, characters: u32) -> Self {
        self.check_length();
        self.max_length = Some(characters);
        self
    }

    /// The least number of items.
    #[must_use]
    #[track_caller]
    pub const fn min_items(mut self, items: u32) -> Self {
        self.check_list();
        self.min_items = Some(items);
        self
    }

    /// The largest number of items.
    #[must_use]
    #[track_caller]
    pub const fn max_items(mut self, items: u32) -> Self {
        self.check_list();
        self.max_items = Some(items);
        self
    }

    /// A regular expression found somewhere in each text; `^` and `$` tie it to the ends.
    ///
    /// The syntax is that of the `regex-lite` crate; `#[param(pattern = "…")]` checks it.
    #[must_use]
    #[track_caller]
    pub const fn pattern(mut self, pattern: &'static str) -> Self {
        self.check_text();
        self.pattern = Some(pattern);
        self
    }

    /// The JSON text of a value, shown to the model in the schema and in errors.
    #[must_use]
    #[track_caller]
    pub const fn example(mut self, json: &'static str) -> Self {
        assert!(
            may_be(self.schema, json),
            "the example is of another kind than the parameter's type; write a value of that type"
        );
        assert!(
            is_within(self.schema, json),
            "the example is outside of the type's own range; take one inside, or another type"
        );
        self.example = Some(json);
        self
    }

    #[track_caller]
    const fn check_bound(&self, bound: Bound) {
        self.check_value(bound);
        match (self.schema, bound) {
            (Schema::Integer { .. }, _) => {}
            (Schema::Array { .. } | Schema::Tuple(_), _) => {
                panic!("only a number has bounds; a list has `min_items` and `max_items`")
            }
            (Schema::String { .. }, _) => {
                panic!("only a number has bounds; text has `min_length` and `max_length`")
            }
            (Schema::Number, _) => {}
            (schema, _) => assert!(
                !has_kind(schema),
                "only a number has bounds; take the key away"
            ),
        }
    }

    /// Refuses a bound by its value; generated code asks for this where the value is written.
    #[doc(hidden)]
    #[track_caller]
    pub const fn check_value(&self, bound: Bound) {
        match (self.schema, bound) {
            (Schema::Integer { .. }, Bound::Float(..)) => {
                panic!("this parameter is a whole number, so its bounds are whole numbers")
            }
            (Schema::Integer { minimum, maximum }, Bound::Integer(bound)) => {
                let below = matches!(minimum, Some(minimum) if bound < *minimum);
                let above = matches!(maximum, Some(maximum) if bound > *maximum);
                assert!(
                    !below && !above,
                    "this bound is outside of the type's own range; take one inside, or another type"
                );
            }
            _ => {}
        }
    }

    #[track_caller]
    const fn check_length(&self) {
        let fixed = matches!(
            self.schema,
            Schema::String { min_length, max_length } if min_length.is_some() || max_length.is_some()
        );
        assert!(
            !fixed,
            "the type fixes the length of its text; take the key away"
        );
        self.check_text();
    }

    #[track_caller]
    const fn check_text(&self) {
        match self.schema {
            Schema::String { .. } | Schema::Format(_) | Schema::Base64 => {}
            Schema::Array { .. } | Schema::Tuple(_) => {
                panic!(
                    "only text has a length and a pattern; a list has `min_items` and `max_items`"
                )
            }
            Schema::Integer { .. } | Schema::Number => {
                panic!("only text has a length and a pattern; a number has `minimum` and `maximum`")
            }
            schema => assert!(
                !has_kind(schema),
                "only text has a length and a pattern; take the key away"
            ),
        }
    }

    #[track_caller]
    const fn check_list(&self) {
        match self.schema {
            Schema::Array { length: None, .. } => {}
            Schema::Array { .. } | Schema::Tuple(_) => {
                panic!("the type fixes the number of items; take the key away")
            }
            Schema::String { .. } => {
                panic!("only a list has items; text has `min_length` and `max_length`")
            }
            Schema::Integer { .. } | Schema::Number => {
                panic!("only a list has items; take the key away")
            }
            schema => assert!(
                !has_kind(schema),
                "only a list has items; take the key away"
            ),
        }
    }

    /// The schema with those bounds that it has a place for, and the other constraints.
    pub(crate) const fn join(&self, schema: &Schema) -> (Schema, Self) {
        let mut rest = *self;
        let joined = match schema.bare() {
            Schema::Integer { minimum, maximum } => {
                rest.minimum = None;
                rest.maximum = None;
                Schema::Integer {
                    minimum: whole(self.minimum, *minimum),
                    maximum: whole(self.maximum, *maximum),
                }
            }
            Schema::String {
                min_length,
                max_length,
            } => {
                rest.min_length = None;
                rest.max_length = None;
                Schema::String {
                    min_length: first(self.min_length, *min_length),
                    max_length: first(self.max_length, *max_length),
                }
            }
            other => *other,
        };
        (joined, rest)
    }
}

/// A bound within the type's range, else the type's own.
const fn whole(bound: Option<Bound>, own: Option<i64>) -> Option<i64> {
    match bound {
        Some(Bound::Integer(bound)) => Some(bound),
        _ => own,
    }
}

const fn first(length: Option<u32>, own: Option<u32>) -> Option<u32> {
    match length {
        Some(_) => length,
        None => own,
    }
}

/// False if only more than the schema's outermost keyword tells what its values are.
const fn has_kind(schema: &Schema) -> bool {
    matches!(
        schema,
        Schema::Null
            | Schema::Boolean
            | Schema::Integer { .. }
            | Schema::Number
            | Schema::String { .. }
            | Schema::Format(_)
            | Schema::Base64
            | Schema::Enum(_)
            | Schema::Array { .. }
            | Schema::Tuple(_)
            | Schema::Map(_)
            | Schema::Object(_)
    )
}

/// Whether the JSON text is of the schema's kind, as far as its beginning tells.
const fn may_be(schema: &Schema, json: &str) -> bool {
    let Some(first) = json.as_bytes().first() else {
        return false;
    };
    match schema {
        Schema::Null => *first == b'n',
        Schema::Boolean => matches!(first, b't' | b'f'),
        Schema::Integer { .. } => whole_number(json).is_some(),
        Schema::Number => matches!(first, b'-' | b'0'..=b'9'),
        Schema::String { .. } | Schema::Format(_) | Schema::Base64 | Schema::Enum(_) => {
            *first == b'"'
        }
        Schema::Array { .. } | Schema::Tuple(_) => *first == b'[',
        Schema::Map(_) | Schema::Object(_) => *first == b'{',
        _ => true,
    }
}

/// True unless the schema is of whole numbers from which it leaves this one out.
const fn is_within(schema: &Schema, json: &str) -> bool {
    let (Schema::Integer { minimum, maximum }, Some(number)) = (schema, whole_number(json)) else {
        return true;
    };
    let below = matches!(minimum, Some(minimum) if number < *minimum as i128);
    let above = matches!(maximum, Some(maximum) if number > *maximum as i128);
    !below && !above
}

/// The whole number that a JSON text is; one that no `i128` holds is the one next to it.
const fn whole_number(json: &str) -> Option<i128> {
    let bytes = json.as_bytes();
    let negative = !bytes.is_empty() && bytes[0] == b'-';
    let mut index = if negative { 1 } else { 0 };
    if index == bytes.len() {
        return None;
    }
    let mut number: i128 = 0;
    while index < bytes.len() {
        let digit = bytes[index];
        if !digit.is_ascii_digit() {
            return None;
        }
        let digit = (digit - b'0') as i128;
        number = number.saturating_mul(10);
        number = if negative {
            number.saturating_sub(digit)
        } else {
            number.saturating_add(digit)
        };
        index += 1;
    }
    Some(number)
}
