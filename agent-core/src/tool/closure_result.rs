//! Whether a value that serde can write is a `Result`, and which.
//!
//! `Result<i64, String>` is `Serialize`, and no bound tells it from other types. serde itself
//! does: it writes a `Result` as the variant `Ok` or `Err` of an enum `Result`.

use std::fmt;

use serde::ser::{Impossible, Serialize, Serializer};

use super::{ToolError, ToolOutput};

/// The value of an `Ok`, or the error of an `Err`; `None` if the value is no `Result`.
pub(super) fn split_result<T: Serialize>(value: &T) -> Option<Result<ToolOutput, ToolError>> {
    value.serialize(Split).ok()
}

struct Split;

/// The value is no `Result`.
#[derive(Debug)]
struct Other;

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no `Result`")
    }
}

impl std::error::Error for Other {}

impl serde::ser::Error for Other {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

/// Methods whose values are no `Result`.
macro_rules! others {
    ($($method:ident($($value:ty),*);)*) => {$(
        fn $method(self, $(_: $value),*) -> Result<Self::Ok, Other> {
            Err(Other)
        }
    )*};
}

macro_rules! other_containers {
    ($($method:ident($($value:ty),*) -> $container:ident;)*) => {$(
        fn $method(self, $(_: $value),*) -> Result<Self::$container, Other> {
            Err(Other)
        }
    )*};
}

impl Serializer for Split {
    type Ok = Result<ToolOutput, ToolError>;
    type Error = Other;
    type SerializeSeq = Impossible<Self::Ok, Other>;
    type SerializeTuple = Impossible<Self::Ok, Other>;
    type SerializeTupleStruct = Impossible<Self::Ok, Other>;
    type SerializeTupleVariant = Impossible<Self::Ok, Other>;
    type SerializeMap = Impossible<Self::Ok, Other>;
    type SerializeStruct = Impossible<Self::Ok, Other>;
    type SerializeStructVariant = Impossible<Self::Ok, Other>;

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Self::Ok, Other> {
        match (name, variant) {
            ("Result", "Ok") if size_of_val(value) == 0 => Ok(nothing(value)),
            ("Result", "Ok") => Ok(ToolOutput::json(value)),
            ("Result", "Err") => {
                Ok(ToolOutput::json(value).and_then(|error| Err(ToolError::failed(error.text()))))
            }
            _ => Err(Other),
        }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<Self::Ok, Other> {
        Err(Other)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: &T,
    ) -> Result<Self::Ok, Other> {
        Err(Other)
    }

    others! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_str(&str);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str);
    }

    other_containers! {
        serialize_seq(Option<usize>) -> SerializeSeq;
        serialize_tuple(usize) -> SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant;
        serialize_map(Option<usize>) -> SerializeMap;
        serialize_struct(&'static str, usize) -> SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant;
    }
}

/// What `()` is shown as; of the types without size, only those that are `null` count as it.
fn nothing<T: Serialize + ?Sized>(value: &T) -> Result<ToolOutput, ToolError> {
    let output = ToolOutput::json(value)?;
    Ok(match output.text().as_str() {
        "null" => ToolOutput::from_text("Done"),
        _ => output,
    })
}
