//! The schema of one type, as data that can stand in a `const`.

use std::fmt;

use super::{Constraints, Writer};

/// A JSON Schema (2020-12) that can be a constant: children are held by `&'static`.
///
/// `Display` gives its JSON text.
///
/// ```
/// use agent_core::{ToolSchema, schema::Schema};
///
/// const TAGS: Schema = <Vec<String>>::SCHEMA;
/// assert_eq!(TAGS.to_string(), r#"{"type":"array","items":{"type":"string"}}"#);
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Schema {
    /// Any JSON value.
    Any,
    /// `null` alone.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer {
        /// The smallest value, if it is to be named.
        minimum: Option<i64>,
        /// The largest value, if it is to be named.
        maximum: Option<i64>,
    },
    /// A number.
    Number,
    /// Text.
    String {
        /// The least number of characters.
        min_length: Option<u32>,
        /// The largest number of characters.
        max_length: Option<u32>,
    },
    /// Text in a form that JSON Schema's `format` names: `date-time`, `uuid`, `uri`, …
    Format(&'static str),
    /// Bytes as base64 text.
    Base64,
    /// One of these texts.
    Enum(&'static [&'static str]),
    /// A list of items of one schema.
    Array {
        /// The schema of each item.
        items: &'static Schema,
        /// The exact number of items, if it is fixed.
        length: Option<usize>,
        /// True if no item may stand twice.
        unique: bool,
    },
    /// A list of a fixed length with a schema for each place.
    Tuple(&'static [&'static Schema]),
    /// An object with any keys and values of one schema.
    Map(&'static Schema),
    /// An object with these properties and no others.
    Object(&'static [Property]),
    /// What the schema says, or `null`.
    Nullable(&'static Schema),
    /// The schema with what the model is told about it: `Described("Where.", &schema)`. The
    /// text of a property stands before that of its type.
    Described(&'static str, &'static Schema),
    /// A value of one of these schemas.
    AnyOf(&'static [Schema]),
    /// An object with the members of all of these: objects, maps, and choices of them.
    Joined(&'static [Schema]),
    /// A type that holds itself: its name, and what it is. It stands once, in `$defs`.
    Def(&'static str, &'static Schema),
    /// The [`Def`](Self::Def) of that name around this place.
    Ref(&'static str),
    /// A schema that leads back here through other types, asked for at run time.
    Recursive(RecursivePart),
    /// What the `schemars` crate says, asked at run time.
    Schemars(SchemarsPart),
}

impl Schema {
    /// Text of any length.
    pub const STRING: Self = Self::String {
        min_length: None,
        max_length: None,
    };

    /// The schema of `T`.
    #[must_use]
    pub const fn of<T: super::ToolSchema>() -> Self {
        // rustc shows the line where types lead to each other.
        T::SCHEMA // types in a circle: put `#[param(recursive)]` on a field of it
    }

    /// What [`schemars::JsonSchema`] says of `T`, asked at run time.
    #[must_use]
    pub const fn schemars<T>() -> Self
    where
        // rustc shows the line of the bound.
        T: schemars::JsonSchema + serde::de::DeserializeOwned, // `#[derive(schemars::JsonSchema)]` for it, or leave `schemars` out
    {
        Self::Schemars(SchemarsPart::of::<T>())
    }

    /// The schema of `T`, asked at run time because it leads back here.
    #[must_use]
    pub const fn recursive<T: super::ToolSchema>() -> Self {
        Self::Recursive(RecursivePart::of::<T>())
    }

    /// The schema, which must say what members an object has, for [`Joined`](Self::Joined).
    ///
    /// # Panics
    ///
    /// If a value of `T` is no object; in a constant that is a compile error.
    #[must_use]
    #[track_caller]
    pub const fn members_of<T: super::ToolSchema>() -> Self {
        assert!(
            T::SCHEMA.is_members(),
            "only a struct, a map or an enum of them has members that can stand in another object"
        );
        T::SCHEMA
    }

    /// A list of any length.
    #[must_use]
    pub const fn array(items: &'static Self) -> Self {
        Self::Array {
            items,
            length: None,
            unique: false,
        }
    }
}

impl Schema {
    /// What a value that is not `null` is, without a description.
    pub(crate) const fn bare(&self) -> &Self {
        match self {
            Self::Nullable(inner) | Self::Described(_, inner) => inner.bare(),
            other => other,
        }
    }

    /// True if `null` is a value.
    pub(crate) const fn is_nullable(&self) -> bool {
        match self {
            Self::Nullable(_) => true,
            Self::Described(_, inner) => inner.is_nullable(),
            _ => false,
        }
    }

    /// True if a property inside has constraints, which its type does not check itself.
    pub(crate) const fn is_constrained(&self) -> bool {
        match self {
            Self::Array { items: inner, .. }
            | Self::Map(inner)
            | Self::Nullable(inner)
            | Self::Described(_, inner)
            | Self::Def(_, inner) => inner.is_constrained(),
            Self::AnyOf(branches) | Self::Joined(branches) => {
                let mut index = 0;
                while index < branches.len() {
                    if branches[index].is_constrained() {
                        return true;
                    }
                    index += 1;
                }
                false
            }
            Self::Tuple(places) => {
                let mut index = 0;
                while index < places.len() {
                    if places[index].is_constrained() {
                        return true;
                    }
                    index += 1;
                }
                false
            }
            Self::Object(properties) => {
                let mut index = 0;
                while index < properties.len() {
                    let property = &properties[index];
                    let own = property.constraints.is_some() || property.is_demanded;
                    if own || property.schema.is_constrained() {
                        return true;
                    }
                    index += 1;
                }
                false
            }
            _ => false,
        }
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Writer::text_of(|writer| writer.document(self)))
    }
}

/// One property of an object.
///
/// ```
/// use agent_core::schema::{Property, Schema};
///
/// const POINT: Schema = Schema::Object(&[
///     Property::of::<i32>("x").described("to the right"),
///     Property::of::<Option<i32>>("y"),
/// ]);
/// assert_eq!(
///     POINT.to_string(),
///     concat!(
///         r#"{"type":"object","properties":{"x":{"type":"integer","description":"to the right"},"#,
///         r#""y":{"type":["integer","null"]}},"required":["x"],"additionalProperties":false}"#,
///     ),
/// );
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Property {
    pub(crate) name: &'static str,
    pub(crate) schema: &'static Schema,
    pub(crate) required: bool,
    pub(crate) description: Option<&'static str>,
    pub(crate) default: Option<&'static str>,
    pub(crate) constraints: Option<&'static Constraints>,
    /// True if the model must give it, whatever its type says.
    pub(crate) is_demanded: bool,
}

impl Property {
    /// A property of type `T`, required unless `T` says otherwise.
    #[must_use]
    pub const fn of<T: super::ToolSchema>(name: &'static str) -> Self {
        // rustc shows the line where types lead to each other.
        Self::new(name, &T::SCHEMA, T::REQUIRED) // types in a circle: put `#[param(recursive)]` on a field of it
    }

    /// A property whose schema is what [`schemars::JsonSchema`] says of `T`. It is required if
    /// a `T` cannot be read from nothing, as serde sees it.
    #[must_use]
    pub const fn schemars<T>(name: &'static str) -> Self
    where
        // rustc shows the line of the bound.
        T: schemars::JsonSchema + serde::de::DeserializeOwned, // `#[derive(schemars::JsonSchema)]` for it, or leave `schemars` out
    {
        Self::of::<super::Schemars<T>>(name)
    }

    /// A property of type `T` whose schema is asked for at run time because it leads back here.
    #[must_use]
    pub const fn recursive<T: super::ToolSchema>(name: &'static str) -> Self {
        Self::new(name, Back::<T>::SCHEMA, T::REQUIRED)
    }

    /// A property of that schema.
    #[must_use]
    pub const fn new(name: &'static str, schema: &'static Schema, required: bool) -> Self {
        Self {
            name,
            schema,
            required,
            description: None,
            default: None,
            constraints: None,
            is_demanded: false,
        }
    }

    /// Adds what the model is told about it; an empty text is left out.
    #[must_use]
    pub const fn described(mut self, description: &'static str) -> Self {
        self.description = if description.is_empty() {
            None
        } else {
            Some(description)
        };
        self
    }

    /// No constraints yet, on its values.
    #[doc(hidden)]
    #[must_use]
    pub const fn constraints(&self) -> Constraints {
        Constraints::of(self.schema)
    }

    /// Narrows its values.
    #[must_use]
    pub const fn constrained(mut self, constraints: &'static Constraints) -> Self {
        self.constraints = Some(constraints);
        self
    }

    /// Makes it not required. `default` is the JSON text of the value it then has, or
    /// `None` if the model is not to be told.
    #[must_use]
    pub const fn with_default(mut self, default: Option<&'static str>) -> Self {
        self.required = false;
        self.default = default;
        self
    }

    /// Makes it required, whatever its type says.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Makes it required, and refuses a call without it that its type could be read from.
    #[must_use]
    pub const fn demanded(mut self) -> Self {
        self.is_demanded = true;
        self.required()
    }

    /// Checks that its type has a value when the model leaves it out.
    ///
    /// # Panics
    ///
    /// If it has none. Of a type that has only `schemars::JsonSchema` it is not known.
    #[doc(hidden)]
    #[must_use]
    #[track_caller]
    pub const fn optional(self) -> Self {
        assert!(
            !self.required || !self.schema.is_const(),
            "the type has no value when the model leaves this out: make it an `Option`, or add `default`"
        );
        self
    }

    /// True if a call without it is refused.
    pub(crate) fn is_required(&self) -> bool {
        match self.schema {
            Schema::Schemars(part) => self.required && (self.is_demanded || (part.required)()),
            _ => self.required,
        }
    }
}

/// The schema of a type that has only [`schemars::JsonSchema`].
#[derive(Debug, Clone, Copy)]
pub struct SchemarsPart {
    pub(crate) schema: fn(&mut schemars::SchemaGenerator) -> schemars::Schema,
    pub(crate) required: fn() -> bool,
}

impl SchemarsPart {
    /// The part for `T`. It is required if `T` cannot be read from nothing, as serde sees it.
    #[must_use]
    pub const fn of<T: schemars::JsonSchema + serde::de::DeserializeOwned>() -> Self {
        Self {
            schema: schemars::SchemaGenerator::subschema_for::<T>,
            required: super::is_required::<T>,
        }
    }
}

/// The schema of a type that leads back to the type it is asked for in.
#[derive(Debug, Clone, Copy)]
pub struct RecursivePart {
    pub(crate) schema: fn() -> &'static Schema,
    pub(crate) name: fn() -> &'static str,
}

impl RecursivePart {
    /// The part for `T`.
    #[must_use]
    pub const fn of<T: super::ToolSchema>() -> Self {
        Self {
            schema: || &T::SCHEMA,
            name: std::any::type_name::<T>,
        }
    }
}

struct Back<T>(std::marker::PhantomData<T>);

impl<T: super::ToolSchema> Back<T> {
    const SCHEMA: &'static Schema = &Schema::recursive::<T>();
}
