//! What a type may not be. Each check reports all it finds.

use std::collections::HashSet;

use darling::Error;
use darling::util::SpannedValue;

use super::model::{Shape, TypeModel};
use crate::diagnostics::err;

/// Refuses names that stand twice on the wire.
pub(super) fn names(model: &TypeModel) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    match &model.shape {
        Shape::Object(fields) => {
            twins("field", fields.iter().map(|field| &field.name), &mut errors);
        }
        Shape::Enum(all) => twins(
            "variant",
            all.variants.iter().map(|variant| &variant.name),
            &mut errors,
        ),
        Shape::Unit | Shape::Like(..) => {}
    }
    errors.finish()
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
