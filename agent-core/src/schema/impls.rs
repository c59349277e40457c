//! [`ToolSchema`] for the types of std and `serde_json`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize,
};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::{Property, Schema, ToolSchema};

macro_rules! schema_of {
    ($($type:ty: $schema:expr;)*) => {$(
        impl ToolSchema for $type {
            const SCHEMA: Schema = $schema;
        }
    )*};
}

const fn integer(minimum: Option<i64>, maximum: Option<i64>) -> Schema {
    Schema::Integer { minimum, maximum }
}

schema_of! {
    bool: Schema::Boolean;
    u8: integer(Some(0), Some(u8::MAX as i64));
    u16: integer(Some(0), Some(u16::MAX as i64));
    u32: integer(Some(0), None);
    u64: integer(Some(0), None);
    u128: integer(Some(0), None);
    usize: integer(Some(0), None);
    i8: integer(Some(i8::MIN as i64), Some(i8::MAX as i64));
    i16: integer(Some(i16::MIN as i64), Some(i16::MAX as i64));
    i32: integer(None, None);
    i64: integer(None, None);
    i128: integer(None, None);
    isize: integer(None, None);
    NonZeroU8: integer(Some(1), Some(u8::MAX as i64));
    NonZeroU16: integer(Some(1), Some(u16::MAX as i64));
    NonZeroU32: integer(Some(1), None);
    NonZeroU64: integer(Some(1), None);
    NonZeroU128: integer(Some(1), None);
    NonZeroUsize: integer(Some(1), None);
    NonZeroI8: integer(Some(i8::MIN as i64), Some(i8::MAX as i64));
    NonZeroI16: integer(Some(i16::MIN as i64), Some(i16::MAX as i64));
    NonZeroI32: integer(None, None);
    NonZeroI64: integer(None, None);
    NonZeroI128: integer(None, None);
    NonZeroIsize: integer(None, None);
    f32: Schema::Number;
    f64: Schema::Number;
    serde_json::Number: Schema::Number;
    char: Schema::String { min_length: Some(1), max_length: Some(1) };
    str: Schema::STRING;
    String: Schema::STRING;
    Path: Schema::STRING;
    PathBuf: Schema::STRING;
    Ipv4Addr: Schema::Format("ipv4");
    Ipv6Addr: Schema::Format("ipv6");
    IpAddr: Schema::Format("ip");
    SocketAddr: Schema::Format("socket-address");
    SocketAddrV4: Schema::Format("socket-address");
    SocketAddrV6: Schema::Format("socket-address-v6");
    (): Schema::Null;
    serde_json::Value: Schema::Any;
    serde_json::Map<String, serde_json::Value>: Schema::Map(&Schema::Any);
}

/// serde's form: whole seconds, and the nanoseconds above them.
impl ToolSchema for Duration {
    const SCHEMA: Schema = Schema::Object(&[
        Property::of::<u64>("secs").described("whole seconds"),
        Property::of::<u32>("nanos").described("and nanoseconds, below 1000000000"),
    ]);
}

impl<T: ToolSchema> ToolSchema for Option<T> {
    const SCHEMA: Schema = Schema::Nullable(&T::SCHEMA);
    const REQUIRED: bool = false;
}

macro_rules! schema_of_pointers {
    ($($(#[$note:meta])* $pointer:ident)*) => {$(
        $(#[$note])*
        impl<T: ToolSchema + ?Sized> ToolSchema for $pointer<T> {
            const SCHEMA: Schema = T::SCHEMA;
            const REQUIRED: bool = T::REQUIRED;
        }
    )*};
}

schema_of_pointers! {
    Box
    /// To be read it needs serde's feature `rc`.
    Rc
    /// To be read it needs serde's feature `rc`.
    Arc
}

impl<T: ToolSchema + ToOwned + ?Sized> ToolSchema for Cow<'_, T> {
    const SCHEMA: Schema = T::SCHEMA;
    const REQUIRED: bool = T::REQUIRED;
}

macro_rules! schema_of_lists {
    ($($list:ty)*) => {$(
        impl<T: ToolSchema> ToolSchema for $list {
            const SCHEMA: Schema = Schema::array(&T::SCHEMA);
        }
    )*};
}

schema_of_lists! { [T] Vec<T> VecDeque<T> LinkedList<T> BinaryHeap<T> }

impl<T: ToolSchema, const N: usize> ToolSchema for [T; N] {
    const SCHEMA: Schema = Schema::Array {
        items: &T::SCHEMA,
        length: Some(N),
        unique: false,
    };
}

impl<T: ToolSchema, S> ToolSchema for HashSet<T, S> {
    const SCHEMA: Schema = set(&T::SCHEMA);
}

impl<T: ToolSchema> ToolSchema for BTreeSet<T> {
    const SCHEMA: Schema = set(&T::SCHEMA);
}

const fn set(items: &'static Schema) -> Schema {
    Schema::Array {
        items,
        length: None,
        unique: true,
    }
}

impl<T: ToolSchema, S> ToolSchema for HashMap<String, T, S> {
    const SCHEMA: Schema = Schema::Map(&T::SCHEMA);
}

impl<T: ToolSchema> ToolSchema for BTreeMap<String, T> {
    const SCHEMA: Schema = Schema::Map(&T::SCHEMA);
}

macro_rules! schema_of_tuples {
    ($(($($place:ident)+))*) => {$(
        impl<$($place: ToolSchema),+> ToolSchema for ($($place,)+) {
            const SCHEMA: Schema = Schema::Tuple(&[$(&$place::SCHEMA),+]);
        }
    )*};
}

schema_of_tuples! { (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }
