//! An enum: its variants, and how serde tells them apart.

use darling::Error;
use darling::util::SpannedValue;
use syn::punctuated::Punctuated;
use syn::{DataEnum, Fields, Token};

use super::field::{Source, is_skipped, source};
use super::model::{description, variant_case, wire_name};
use super::serde::{Place, SerdeArgs};
use crate::diagnostics::err;
use crate::docs::Text;
use crate::tool::args::ParamArgs;

/// An enum with the variants the model may choose.
pub(super) struct Enum {
    pub(super) variants: Vec<Variant>,
}

/// One variant.
pub(super) struct Variant {
    pub(super) name: SpannedValue<String>,
    pub(super) description: Option<Text>,
}

pub(super) fn read(data: &DataEnum, serde: &SerdeArgs) -> darling::Result<Enum> {
    let mut errors = Error::accumulator();
    let case = serde.case("rename_all");
    let mut variants = Vec::new();
    for variant in &data.variants {
        let args = errors.handle(SerdeArgs::read(&variant.attrs, Place::Variant));
        let Some(args) = args.filter(|args| !is_skipped(args) && !args.has("other")) else {
            continue;
        };
        let keys = errors.handle(ParamArgs::parse(&variant.attrs));
        if !matches!(variant.fields, Fields::Unit) {
            errors.push(err!(variant.fields, "only unit variants"));
        }
        variants.push(Variant {
            name: wire_name(&variant.ident, &args, variant_case(case)),
            description: description(keys.and_then(|keys| keys.description), &variant.attrs),
        });
    }
    if variants.is_empty() {
        errors.push(err!(
            data.enum_token,
            "there is no variant a model could choose"
        ));
    }
    errors.finish_with(Enum { variants })
}

/// The fields without names that are read.
pub(super) fn places(fields: &Punctuated<syn::Field, Token![,]>) -> darling::Result<Vec<Source>> {
    let mut errors = Error::accumulator();
    let mut places = Vec::new();
    for field in fields {
        let serde = errors.handle(SerdeArgs::read(&field.attrs, Place::Field));
        let args = errors.handle(ParamArgs::parse(&field.attrs));
        let (Some(serde), Some(args)) = (serde, args) else {
            continue;
        };
        if !is_skipped(&serde) {
            places.extend(errors.handle(source(&field.ty, args, &serde)));
        }
    }
    errors.finish_with(places)
}
