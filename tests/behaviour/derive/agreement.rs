//! The schema and serde agree on what is a value of a type.
//!
//! Values of each type are made by chance, and so are small damages to them: a member taken
//! out, a leaf that is something else. serde and a validator must then say the same of each.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use agent_core::ToolSchema;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A type with its schema, and values of it.
trait Kept: ToolSchema + Serialize + DeserializeOwned + Debug + 'static {
    fn values() -> BoxedStrategy<Self>;
}

macro_rules! kept {
    ($($(#[$attribute:meta])* struct $name:ident { $($(#[$field_attribute:meta])* $field:ident: $ty:ty = $values:expr,)* })*) => {$(
        #[derive(Debug, Serialize, Deserialize, ToolSchema)]
        $(#[$attribute])*
        struct $name { $($(#[$field_attribute])* $field: $ty,)* }

        impl Kept for $name {
            fn values() -> BoxedStrategy<Self> {
                ($($values,)*).prop_map(|($($field,)*)| Self { $($field,)* }).boxed()
            }
        }
    )*};
}

fn word() -> BoxedStrategy<String> {
    "[a-z]{0,6}".boxed()
}

fn small() -> BoxedStrategy<u8> {
    any::<u8>().boxed()
}

kept! {
    struct Plain {
        whole: i64 = any::<i64>(),
        small: u8 = small(),
        wide: u32 = any::<u32>(),
        real: f64 = -1e9..1e9,
        yes: bool = any::<bool>(),
        letter: char = any::<char>(),
        text: String = word(),
        maybe: Option<i16> = option::of(any::<i16>()),
        list: Vec<u16> = vec(any::<u16>(), 0..3),
        pair: (bool, u8) = (any::<bool>(), small()),
        twins: [u8; 2] = [small(), small()],
        nothing: () = Just(()),
    }

    struct Maps {
        map: BTreeMap<String, bool> = btree_map(word(), any::<bool>(), 0..3),
        nested: BTreeMap<String, Vec<Size>> = btree_map(word(), vec(Size::values(), 0..2), 0..3),
    }

    #[serde(rename_all = "SCREAMING-KEBAB-CASE", deny_unknown_fields)]
    struct Renamed {
        #[serde(alias = "old")]
        first_name: String = word(),
        #[serde(rename = "im Bild")]
        #[param(description = "in \"the\" picture")]
        last_name: String = word(),
        r#type: u8 = small(),
    }

    struct Lenient {
        #[serde(default)]
        count: u8 = small(),
        #[serde(default = "seven")]
        #[param(default = 7)]
        days: u8 = small(),
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String> = option::of(word()),
        #[serde(skip)]
        _hidden: u8 = Just(0),
    }

    #[serde(default)]
    struct Defaulted {
        one: u8 = small(),
        two: Option<String> = option::of(word()),
    }

    struct Flat {
        head: u8 = small(),
        #[serde(flatten)]
        size: Size = Size::values(),
        #[serde(flatten)]
        rest: BTreeMap<String, u8> = btree_map("x[a-z]{3}", small(), 0..3),
    }

    struct Size {
        width: u8 = small(),
        height: Option<u8> = option::of(small()),
    }

    struct FlatChoice {
        head: u8 = small(),
        #[serde(flatten)]
        drawing: Internal = Internal::values(),
    }

    struct Through {
        #[serde(with = "seconds")]
        #[param(like(u32))]
        wait: Duration = any::<u32>().prop_map(|it| Duration::from_secs(it.into())),
        #[serde(deserialize_with = "seconds::deserialize", serialize_with = "seconds::serialize")]
        #[param(like(u32))]
        again: Duration = any::<u32>().prop_map(|it| Duration::from_secs(it.into())),
        #[serde(skip_deserializing, skip_serializing_if = "is_zero")]
        _written: u8 = Just(0),
        nothing: Nothing = Just(()).prop_map(|()| Nothing),
        bounded: Bounded<i16> = Bounded::values(),
    }

    struct Page {
        items: List<Size> = List::values(),
        level: Level = Level::values(),
        code: Code = word().prop_map(|_| Code(7)),
        celsius: Celsius = (-9.0..9.0).prop_map(Celsius),
        clear: Clear = option::of(small()).prop_map(|inner| Clear { inner }),
    }

    struct Node {
        name: String = word(),
        children: Vec<Node> = vec(leaf(), 0..3),
        first: Option<Box<Self>> = option::of(leaf().prop_map(Box::new)),
    }
}

fn leaf() -> impl Strategy<Value = Node> {
    word().prop_map(|name| Node {
        name,
        children: Vec::new(),
        first: None,
    })
}

fn seven() -> u8 {
    7
}

impl Default for Defaulted {
    fn default() -> Self {
        Self { one: 1, two: None }
    }
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(wait: &Duration, to: S) -> Result<S::Ok, S::Error> {
        wait.as_secs().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u32::deserialize(from).map(|it| Duration::from_secs(it.into()))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
const fn is_zero(number: &u8) -> bool {
    *number == 0
}

#[derive(Debug, Serialize, Deserialize, ToolSchema)]
struct Nothing;

#[derive(Debug, Serialize, Deserialize, ToolSchema)]
struct Bounded<T: Copy>
where
    T: Debug,
{
    left: T,
    right: Option<T>,
}

impl Kept for Bounded<i16> {
    fn values() -> BoxedStrategy<Self> {
        (any::<i16>(), option::of(any::<i16>()))
            .prop_map(|(left, right)| Self { left, right })
            .boxed()
    }
}

#[derive(Debug, Serialize, Deserialize, ToolSchema)]
struct List<T>(Vec<T>);

impl<T: Kept> Kept for List<T> {
    fn values() -> BoxedStrategy<Self> {
        vec(T::values(), 0..3).prop_map(Self).boxed()
    }
}

#[derive(Debug, Serialize, Deserialize, ToolSchema)]
#[serde(rename_all = "snake_case")]
enum Level {
    VeryLow,
    #[serde(rename = "UP")]
    High,
}

impl Kept for Level {
    fn values() -> BoxedStrategy<Self> {
        any::<bool>()
            .prop_map(|low| if low { Self::VeryLow } else { Self::High })
            .boxed()
    }
}

#[derive(Debug, Clone, Serialize, Deserialize, ToolSchema)]
#[serde(from = "u8", into = "u8")]
struct Code(u8);

impl From<u8> for Code {
    fn from(code: u8) -> Self {
        Self(code)
    }
}

impl From<Code> for u8 {
    fn from(code: Code) -> Self {
        code.0
    }
}

#[derive(Debug, Serialize, Deserialize, ToolSchema)]
struct Celsius(f64);

#[derive(Debug, Serialize, Deserialize, ToolSchema)]
#[serde(transparent)]
struct Clear {
    inner: Option<u8>,
}

macro_rules! drawings {
    ($($(#[$attribute:meta])* $name:ident,)*) => {$(
        #[derive(Debug, Serialize, Deserialize, ToolSchema)]
        #[serde(rename_all = "lowercase", rename_all_fields = "camelCase")]
        $(#[$attribute])*
        enum $name {
            Clear,
            Undo,
            Sized(Size),
            Line {
                end_x: f64,
                #[serde(default)]
                width: u8,
                style: Option<String>,
            },
        }

        impl Kept for $name {
            fn values() -> BoxedStrategy<Self> {
                prop_oneof![
                    Just(()).prop_map(|()| Self::Clear),
                    Just(()).prop_map(|()| Self::Undo),
                    Size::values().prop_map(Self::Sized),
                    (-1e3..1e3, small(), option::of(word()))
                        .prop_map(|(end_x, width, style)| Self::Line { end_x, width, style }),
                ]
                .boxed()
            }
        }
    )*};
}

drawings! {
    External,
    #[serde(tag = "shape")]
    Internal,
    #[serde(tag = "shape", content = "with")]
    Adjacent,
}

#[derive(Debug, Serialize, Deserialize, ToolSchema)]
#[serde(untagged)]
enum Untagged {
    Number(u8),
    Text(String),
    Pair(bool, bool),
    Named { name: String, size: Size },
}

impl Kept for Untagged {
    fn values() -> BoxedStrategy<Self> {
        prop_oneof![
            small().prop_map(Self::Number),
            word().prop_map(Self::Text),
            any::<(bool, bool)>().prop_map(|(one, two)| Self::Pair(one, two)),
            (word(), Size::values()).prop_map(|(name, size)| Self::Named { name, size }),
        ]
        .boxed()
    }
}

#[derive(Debug, Serialize, Deserialize, ToolSchema)]
enum Tuples {
    One(u8, String),
    Two(Vec<bool>),
    Three(#[serde(skip)] u8, bool),
    #[serde(untagged)]
    Four(i64),
}

impl Kept for Tuples {
    fn values() -> BoxedStrategy<Self> {
        prop_oneof![
            (small(), word()).prop_map(|(one, two)| Self::One(one, two)),
            vec(any::<bool>(), 0..3).prop_map(Self::Two),
            any::<bool>().prop_map(|yes| Self::Three(0, yes)),
            any::<i64>().prop_map(Self::Four),
        ]
        .boxed()
    }
}

/// The places in a value that can be damaged, as JSON pointers.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let path = format!("{path}/{key}");
                found.push(path.clone());
                places(value, &path, found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                places(value, &format!("{path}/{index}"), found);
            }
        }
        _ => found.push(path.to_owned()),
    }
}

/// The value with one damage: the member there taken out, or its leaf another.
fn damaged(mut value: Value, place: usize, with: Option<Value>) -> Value {
    let mut found = Vec::new();
    places(&value, "", &mut found);
    let Some(path) = found.get(place % found.len().max(1)) else {
        return value;
    };
    let is_leaf = value
        .pointer(path)
        .is_some_and(|value| !value.is_object() && !value.is_array());
    match with {
        Some(other) if is_leaf => {
            if let Some(leaf) = value.pointer_mut(path) {
                *leaf = other;
            }
        }
        _ => {
            let (parent, key) = path.rsplit_once('/').unwrap_or_default();
            if let Some(Value::Object(members)) = value.pointer_mut(parent) {
                members.remove(key);
            }
        }
    }
    value
}

fn damages() -> impl Strategy<Value = Option<Value>> {
    let others = [
        json!(null),
        json!(true),
        json!("x"),
        json!("other"),
        // No smaller one: serde takes the number of a variant for its name where it buffers.
        json!(9),
        json!(300),
        json!(-1),
        json!(1.5),
        json!([1]),
        json!({"a": 1}),
    ];
    option::of(proptest::sample::select(Vec::from(others)))
}

fn agree<T: Kept>() {
    let schema: Value = serde_json::from_str(&T::SCHEMA.to_string()).expect("it is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is JSON");
    let inputs = (T::values(), any::<usize>(), damages());
    proptest!(ProptestConfig::with_cases(400), |((value, place, with) in inputs)| {
        let value = serde_json::to_value(value).expect("it is JSON");
        prop_assert!(serde_json::from_value::<T>(value.clone()).is_ok(), "serde: {value}");
        prop_assert!(validator.is_valid(&value), "{schema} refuses {value}");

        let value = damaged(value, place, with);
        let read = serde_json::from_value::<T>(value.clone());
        prop_assert_eq!(
            validator.is_valid(&value),
            read.is_ok(),
            "{} and {} read as {:?}",
            schema,
            value,
            read
        );
    });
}

macro_rules! agreements {
    ($($name:ident: $($ty:ty),+;)*) => {$(
        #[test]
        fn $name() {
            $(agree::<$ty>();)+
        }
    )*};
}

agreements! {
    fields_are_what_serde_reads: Plain, Maps;
    names_are_those_of_serde: Renamed, Level;
    what_may_be_left_out_is_what_serde_does_not_miss: Lenient, Defaulted;
    flattened_members_are_those_of_serde: Flat, FlatChoice;
    types_read_as_others_are_those: Page, Through, List<Size>;
    each_form_of_an_enum_is_that_of_serde: External, Internal, Adjacent, Untagged, Tuples;
    recursive_types_are_read_at_any_depth: Node;
}
