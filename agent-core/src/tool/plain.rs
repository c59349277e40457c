//! Values that are told from their first bytes: a whole number, a text without escapes, a truth.
//!
//! Most arguments are one of these. They are given to their type as serde_json would give them;
//! where a type refuses one, serde_json reads it and says why.

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{Deserialize, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// So many digits fit an `i64`.
const DIGITS: usize = 18;

#[derive(Debug, Clone, Copy)]
enum Plain<'a> {
    Whole(u64),
    Negative(i64),
    Text(&'a str),
    Truth(bool),
}

/// The value that the text begins with, and its length.
pub(super) fn read<'a, T: Deserialize<'a>>(text: &'a str) -> Option<(T, usize)> {
    let (plain, length) = Plain::first_of(text)?;
    Some((T::deserialize(plain).ok()?, length))
}

impl<'a> Plain<'a> {
    fn first_of(text: &'a str) -> Option<(Self, usize)> {
        match text.as_bytes() {
            [b'"', rest @ ..] => {
                let is_end = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
                let length = rest.iter().position(is_end)?;
                let plain = Self::Text(text.get(1..=length)?);
                (rest[length] == b'"').then_some((plain, length + 2))
            }
            [b'-', rest @ ..] => {
                let (number, length) = whole(rest)?;
                // There is no whole number `-0`.
                let number = i64::try_from(number).ok().filter(|number| *number > 0)?;
                Some((Self::Negative(-number), length + 1))
            }
            [b'0'..=b'9', ..] => {
                let (number, length) = whole(text.as_bytes())?;
                Some((Self::Whole(number), length))
            }
            [b't', ..] => text.starts_with("true").then_some((Self::Truth(true), 4)),
            [b'f', ..] => text.starts_with("false").then_some((Self::Truth(false), 5)),
            _ => None,
        }
    }
}

/// A whole number without a sign, and its length.
fn whole(text: &[u8]) -> Option<(u64, usize)> {
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    let length = text.iter().take_while(is_digit).count();
    let is_number = match text {
        [b'0', ..] => length == 1,
        _ => (1..=DIGITS).contains(&length),
    };
    let goes_on = matches!(text.get(length), Some(b'.' | b'e' | b'E'));
    if !is_number || goes_on {
        return None;
    }
    let digits = text[..length].iter().map(|digit| u64::from(digit - b'0'));
    let number = digits.fold(0, |number, digit| number * 10 + digit);
    Some((number, length))
}

impl<'de> Deserializer<'de> for Plain<'de> {
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
