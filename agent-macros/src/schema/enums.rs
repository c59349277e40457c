//! An enum: its variants, and how serde tells them apart.

use darling::Error;
use darling::util::SpannedValue;
use proc_macro2::Span;
use syn::{DataEnum, Fields, LitStr};

use super::args::only;
use super::case::Case;
use super::field::{Field, Reader, Source, is_skipped};
use super::model::{description, variant_case, wire_name};
use super::serde::{Place, SerdeArgs};
use crate::diagnostics::err;
use crate::docs::Text;
use crate::tool::args::ParamArgs;

/// An enum with the variants the model may choose.
pub(super) struct Enum {
    pub(super) tagging: Tagging,
    pub(super) variants: Vec<Variant>,
}

/// Where the name of the variant stands.
pub(super) enum Tagging {
    /// It is the key of the payload, or alone.
    External,
    /// Among the fields, under this key.
    Internal(LitStr),
    /// Beside the payload: the keys of both.
    Adjacent(LitStr, LitStr),
    /// Nowhere.
    Untagged,
}

/// One variant.
pub(super) struct Variant {
    pub(super) name: SpannedValue<String>,
    pub(super) description: Option<Text>,
    pub(super) payload: Payload,
    /// True if it alone is told apart by its payload.
    pub(super) untagged: bool,
}

/// What a variant holds.
pub(super) enum Payload {
    Unit,
    Newtype(Source),
    Tuple(Vec<Source>),
    Struct(Vec<Field>),
}

pub(super) fn read(
    data: &DataEnum,
    serde: &SerdeArgs,
    reader: &mut Reader<'_>,
) -> darling::Result<Enum> {
    let mut errors = Error::accumulator();
    let tagging = match (serde.text("tag"), serde.text("content")) {
        (Some(tag), Some(content)) => Tagging::Adjacent(tag, content),
        (Some(tag), None) => Tagging::Internal(tag),
        (None, _) if serde.has("untagged") => Tagging::Untagged,
        (None, _) => Tagging::External,
    };
    let fields = serde.case("rename_all_fields");
    let case = serde.case("rename_all");
    let mut variants = Vec::new();
    let mut is_read = true;
    for variant in &data.variants {
        match errors.handle(read_variant(variant, case, fields, reader)) {
            Some(variant) => variants.extend(variant),
            None => is_read = false,
        }
    }
    if data.variants.is_empty() {
        errors.push(err!(
            data.enum_token,
            "a model has nothing to choose from in an enum without variants; write one"
        ));
    } else if variants.is_empty() && is_read {
        errors.push(err!(
            data.enum_token,
            "no variant is left for a model to choose; take `skip` or `other` off one of them"
        ));
    }
    errors.finish_with(Enum { tagging, variants })
}

/// A variant, or nothing if the model is not to know of it.
fn read_variant(
    variant: &syn::Variant,
    case: Option<Case>,
    fields: Option<Case>,
    reader: &mut Reader<'_>,
) -> darling::Result<Option<Variant>> {
    let mut errors = Error::accumulator();
    let serde = errors.handle(SerdeArgs::read(&variant.attrs, Place::Variant));
    let args = errors.handle(ParamArgs::parse(&variant.attrs));
    let (Some(serde), Some(args)) = (serde, args) else {
        return errors.finish().map(|()| None);
    };
    // What any unknown text becomes is nothing to tell a model.
    if is_skipped(&serde) || serde.has("other") {
        return errors.finish().map(|()| None);
    }
    const FIELDS: &str =
        "is for a field; a variant takes `description`, and `like(Type)` beside serde's `with`";
    errors.handle(only(&variant.attrs, &["description", "like"], FIELDS));
    let name = wire_name(&variant.ident, &serde, variant_case(case));
    let description = description(args.description.clone(), &variant.attrs);
    let payload = if let Some(like) = args.like {
        errors.handle(reader.own(&like)).map(Payload::Newtype)
    } else if let Some(key) = serde.reads_itself() {
        errors.push(with_without_like(key));
        None
    } else {
        let case = serde.case("rename_all").or(fields);
        errors.handle(payload(&variant.fields, case, reader))
    };
    let Some(payload) = payload else {
        return errors.finish().map(|()| None);
    };
    errors.finish_with(Some(Variant {
        name,
        description,
        payload,
        untagged: serde.has("untagged"),
    }))
}

/// The error about a function that reads the value, without a type it is like.
pub(super) fn with_without_like(key: Span) -> Error {
    err!(
        key,
        "a function reads this, so its schema is not that of its type; name a type that is read from the same values: `#[param(like(String))]`"
    )
}

fn payload(
    fields: &Fields,
    case: Option<Case>,
    reader: &mut Reader<'_>,
) -> darling::Result<Payload> {
    match fields {
        Fields::Unit => Ok(Payload::Unit),
        Fields::Named(fields) => reader
            .named(&fields.named, case, false)
            .map(Payload::Struct),
        Fields::Unnamed(fields) => {
            // With one field serde reads it alone; with more a list, even if but one is left.
            let one = fields.unnamed.len() == 1;
            let mut places = reader.places(&fields.unnamed)?;
            Ok(match places.len() {
                0 if one => Payload::Unit,
                1 if one => Payload::Newtype(places.remove(0)),
                _ => Payload::Tuple(places),
            })
        }
    }
}
