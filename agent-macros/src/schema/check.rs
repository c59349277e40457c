//! What a type may not be. Each check reports all it finds.

use std::collections::HashSet;

use darling::Error;
use darling::util::SpannedValue;
use syn::LitStr;

use super::enums::{Payload, Tagging};
use super::field::{Field, Source};
use super::model::{Shape, TypeModel};
use crate::diagnostics::err;

/// Refuses names that stand twice on the wire.
pub(super) fn names(model: &TypeModel) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    match &model.shape {
        Shape::Object(fields) => twins("field", names_of(fields), &mut errors),
        Shape::Enum(all) => {
            let tagged = all.variants.iter().filter(|variant| !variant.untagged);
            if !matches!(all.tagging, Tagging::Untagged) {
                twins("variant", tagged.map(|variant| &variant.name), &mut errors);
            }
            for variant in &all.variants {
                if let Payload::Newtype(Source::Schemars(ty) | Source::Recursive(ty)) =
                    &variant.payload
                    && matches!(all.tagging, Tagging::Internal(_))
                {
                    errors.push(err!(
                        ty,
                        "the members of this type stand beside the tag, so they must be known here; derive `ToolSchema` for it, or write `#[serde(tag = …, content = …)]` on the enum"
                    ));
                }
                if let Payload::Struct(fields) = &variant.payload {
                    twins("field", names_of(fields), &mut errors);
                    if let Tagging::Internal(tag) = &all.tagging {
                        untagged(tag, fields, &mut errors);
                    }
                }
            }
        }
        Shape::Unit | Shape::Like(..) => {}
    }
    errors.finish()
}

fn names_of(fields: &[Field]) -> impl Iterator<Item = &SpannedValue<String>> {
    let own = fields.iter().filter(|field| !field.flatten);
    own.map(|field| &field.name)
}

/// Refuses a field that has the name of the tag beside it.
fn untagged(tag: &LitStr, fields: &[Field], errors: &mut darling::error::Accumulator) {
    for name in names_of(fields).filter(|name| ***name == tag.value()) {
        errors.push(err!(
            name.span(),
            "the tag of the enum is called `{}`; give the field another name with `#[serde(rename = \"…\")]`",
            **name
        ));
    }
}

fn twins<'a>(
    what: &str,
    names: impl Iterator<Item = &'a SpannedValue<String>>,
    errors: &mut darling::error::Accumulator,
) {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name.as_str()) {
            errors.push(err!(
                name.span(),
                "there is a {what} `{}` already; give one another name with `#[serde(rename = \"…\")]`",
                **name
            ));
        }
    }
}
