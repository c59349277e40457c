//! A field: its name on the wire, its type, and what `#[param]` and serde say about it.

use darling::Error;
use darling::util::SpannedValue;
use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{Token, Type};

use super::case::Case;
use super::model::{description, field_case, wire_name};
use super::serde::{Place, SerdeArgs};
use crate::diagnostics::err;
use crate::docs::Text;
use crate::tool::args::ParamArgs;
use crate::tool::default::Default;
use crate::tool::param_type::check_field;

/// A field the model may fill.
pub(super) struct Field {
    pub(super) name: SpannedValue<String>,
    pub(super) source: Source,
    pub(super) description: Option<Text>,
    /// The value shown to the model as the default.
    pub(super) default: Option<Default>,
    pub(super) presence: Presence,
}

/// Whether the model must give the field.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    ByType,
    Required,
    Optional,
}

/// Where the schema of a type comes from.
pub(super) enum Source {
    /// Its `ToolSchema`.
    Own(Type),
    /// Its `schemars::JsonSchema`.
    Schemars(Type),
}

impl Source {
    /// The type whose `ToolSchema` it is.
    pub(super) fn own(&self) -> Option<&Type> {
        match self {
            Self::Own(ty) => Some(ty),
            Self::Schemars(_) => None,
        }
    }
}

/// The fields that are read; `optional` if the type has a default for all of them.
pub(super) fn named_fields(
    fields: &Punctuated<syn::Field, Token![,]>,
    case: Option<Case>,
    optional: bool,
) -> darling::Result<Vec<Field>> {
    let mut errors = Error::accumulator();
    let fields = fields
        .iter()
        .filter_map(|field| errors.handle(read(field, case, optional)).flatten())
        .collect();
    errors.finish_with(fields)
}

/// A field, or nothing if it is not read.
fn read(field: &syn::Field, case: Option<Case>, optional: bool) -> darling::Result<Option<Field>> {
    let mut errors = Error::accumulator();
    let serde = errors.handle(SerdeArgs::read(&field.attrs, Place::Field));
    let args = errors.handle(ParamArgs::parse(&field.attrs));
    let (Some(serde), Some(args), Some(ident)) = (serde, args, &field.ident) else {
        return errors.finish().map(|()| None);
    };
    if is_skipped(&serde) {
        return errors.finish().map(|()| None);
    }
    if let Some(name) = &args.rename {
        errors.push(err!(
            name.span(),
            "serde reads this field by the name it has there; write `#[serde(rename = \"{}\")]`",
            **name
        ));
    }
    let presence = if optional || serde.has("default") {
        Presence::Optional
    } else if reads_itself(&serde).is_some() {
        Presence::Required
    } else {
        Presence::ByType
    };
    if args.default.is_some() && presence != Presence::Optional {
        errors.push(err!(
            ident,
            "serde reads this field and knows no default for it; write `#[serde(default)]` or `#[serde(default = \"function\")]` too"
        ));
    }
    let name = wire_name(ident, &serde, field_case(case));
    let description = description(args.description.clone(), &field.attrs);
    let default = args.default.clone();
    let source = errors.handle(source(&field.ty, args, &serde));
    let Some(source) = source else {
        return errors.finish().map(|()| None);
    };
    errors.finish_with(Some(Field {
        name,
        source,
        description,
        default,
        presence,
    }))
}

/// Where the schema comes from, after the checks that only the attributes and the type need.
pub(super) fn source(ty: &Type, args: ParamArgs, serde: &SerdeArgs) -> darling::Result<Source> {
    if let Some(like) = args.like {
        check_field(&like)?;
        return Ok(Source::Own(like));
    }
    if let Some(key) = reads_itself(serde) {
        return Err(err!(
            key,
            "a function reads this, so the schema cannot be that of its type; name a type that is read from the same values: `#[param(like(String))]`"
        ));
    }
    check_field(ty)?;
    if args.schemars.is_present() {
        return Ok(Source::Schemars(ty.clone()));
    }
    Ok(Source::Own(ty.clone()))
}

pub(super) fn is_skipped(serde: &SerdeArgs) -> bool {
    serde.has("skip") || serde.has("skip_deserializing")
}

/// Where serde is told of a function that reads the value.
fn reads_itself(serde: &SerdeArgs) -> Option<Span> {
    serde
        .span("with")
        .or_else(|| serde.span("deserialize_with"))
}
