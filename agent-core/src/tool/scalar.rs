//! Values that are told from their first bytes: a whole number, a text without escapes, a truth.
//!
//! Most arguments are one of these. They are given to their type as serde_json would give them;
//! where a type refuses one, serde_json reads it and says why.

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

use crate::json::{end_of_number, end_of_string};

#[derive(Debug, Clone, Copy)]
enum Scalar<'a> {
    Whole(u64),
    Negative(i64),
    Text(&'a str),
    Truth(bool),
}

/// The value that the text begins with, and its length.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(T, usize)> {
    let (scalar, length) = Scalar::first_of(text)?;
    Some((T::deserialize(scalar).ok()?, length))
}

impl<'a> Scalar<'a> {
    fn first_of(text: &'a str) -> Option<(Self, usize)> {
        let bytes = text.as_bytes();
        match bytes.first()? {
            b'"' => {
                let (end, has_escapes) = end_of_string(bytes, 1)?;
                let scalar = Self::Text(text.get(1..end)?);
                (!has_escapes).then_some((scalar, end + 1))
            }
            b'0'..=b'9' => {
                let end = end_of_number(bytes, 0)?;
                Some((Self::Whole(text[..end].parse().ok()?), end))
            }
            b'-' => {
                let end = end_of_number(bytes, 0)?;
                let number = text[..end].parse().ok();
                // There is no whole number `-0`.
                Some((Self::Negative(number.filter(|it| *it < 0)?), end))
            }
            b't' => text.starts_with("true").then_some((Self::Truth(true), 4)),
            b'f' => text.starts_with("false").then_some((Self::Truth(false), 5)),
            _ => None,
        }
    }
}

impl<'de> Deserializer<'de> for Scalar<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Whole(number) => visitor.visit_u64(number),
            Self::Negative(number) => visitor.visit_i64(number),
            Self::Text(text) => visitor.visit_borrowed_str(text),
            Self::Truth(truth) => visitor.visit_bool(truth),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Text(text) => {
                BorrowedStrDeserializer::new(text).deserialize_enum(name, variants, visitor)
            }
            _ => Err(Error::custom("no variant")),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("bytes are read by serde_json"))
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use serde::de::DeserializeOwned;
    use serde_json::Value;

    use super::*;

    fn assert_alike<T: DeserializeOwned + PartialEq + Debug>(text: &str) {
        if let Some((value, length)) = read::<T>(text) {
            let expected = serde_json::from_str::<T>(&text[..length]);
            assert_eq!(value, expected.unwrap(), "{text}");
        }
    }

    #[test]
    fn what_is_read_is_what_serde_json_reads() {
        let numbers = "0 -0 7 -1 255 256 1.0 -1.5 1e2 -1e2 01 - -a 999999999999999999 \
            9007199254740993 18446744073709551615 18446744073709551616 \
            -9223372036854775808 -9223372036854775809";
        let others = r#""" "a" "ab" "\n" "ö" " ab true false tru null [1] {"a":1}"#;
        for text in numbers.split(' ').chain(others.split(' ')) {
            assert_alike::<u8>(text);
            assert_alike::<i64>(text);
            assert_alike::<u64>(text);
            assert_alike::<i128>(text);
            assert_alike::<f32>(text);
            assert_alike::<f64>(text);
            assert_alike::<bool>(text);
            assert_alike::<char>(text);
            assert_alike::<String>(text);
            assert_alike::<Option<u8>>(text);
            assert_alike::<Value>(text);
        }
        assert_eq!(read(r#""a", 1"#), Some(("a", 3)));
        assert_eq!(read("18446744073709551615}"), Some((u64::MAX, 20)));
    }
}
