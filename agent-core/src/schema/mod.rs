//! JSON Schema of tool parameters, as const data.
//!
//! A type says what it looks like to a model by [`ToolSchema::SCHEMA`], a constant that
//! composes through generics. The JSON text of a whole tool is written from it by a
//! `const fn`, so it is there at compile time.
//!
//! Not here: which values a parameter takes beside the model's arguments (`tool::param`),
//! how arguments are decoded (`tool::arguments`).

mod absent;
mod accepts;
mod base64;
#[cfg(feature = "validate")]
mod chains;
mod chance;
mod check;
mod compose;
mod constraints;
mod definitions;
mod described;
mod dialect;
mod example;
#[cfg(feature = "validate")]
mod example_at;
mod impls;
mod impls_by_feature;
mod inside;
mod joined;
mod json;
mod keywords;
mod merge;
mod model;
mod pattern;
mod root;
mod same;
mod scalars;
mod tidy;
pub(crate) mod tool_schema;
mod writer;

pub(crate) use absent::{absent, is_required};
pub use base64::Base64;
#[cfg(feature = "validate")]
pub(crate) use chains::longest_chain;
pub(crate) use chance::Chance;
pub(crate) use check::checked;
pub use check::{SchemaError, SchemaFault};
pub(crate) use compose::Composer;
pub use constraints::{Bound, Constraints};
pub use described::Schemars;
pub use dialect::{
    Change, ChangeEffect, Dialect, DialectLimits, DialectSchema, Size, UnknownDialect,
    without_optional_nulls,
};
pub(crate) use dialect::{Sent, Translations, plan};
pub(crate) use example::{example, example_within, sample};
#[cfg(feature = "validate")]
pub(crate) use example_at::example_at;
pub(crate) use json::Members;
pub(crate) use merge::move_definitions;
pub use model::{Property, RecursivePart, Schema, SchemarsPart};
pub(crate) use root::root;
pub(crate) use tool_schema::ToolSchema;
pub(crate) use writer::Writer;
