//! What a type and its attributes say, as plain data with spans.

use darling::Error;
use darling::util::SpannedValue;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Fields, Generics, Ident, LitStr, Path, Type};

use super::args::TypeArgs;
use super::case::Case;
use super::enums::{self, Enum};
use super::field::{Field, Source, named_fields};
use super::serde::{Place, SerdeArgs};
use crate::diagnostics::err;
use crate::docs::{self, Text};

/// A type that is to have a schema.
pub(super) struct TypeModel {
    pub(super) root: Option<Path>,
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) description: Option<Text>,
    pub(super) shape: Shape,
}

/// What the type's JSON looks like.
pub(super) enum Shape {
    /// `null`
    Unit,
    /// Just as another type; `true` if it is also absent when that is.
    Like(Box<Source>, bool),
    Object(Vec<Field>),
    Enum(Enum),
}

impl TypeModel {
    pub(super) fn new(input: &DeriveInput) -> darling::Result<Self> {
        let mut errors = Error::accumulator();
        let args = errors.handle(TypeArgs::parse(&input.attrs));
        let serde = errors.handle(SerdeArgs::read(&input.attrs, Place::Type));
        let shape = serde.and_then(|serde| errors.handle(shape(input, &serde)));
        let (Some(args), Some(shape)) = (args, shape) else {
            return Err(errors
                .finish()
                .err()
                .unwrap_or_else(|| err!(input.ident, "cannot be read")));
        };
        errors.finish_with(Self {
            root: args.root,
            ident: input.ident.clone(),
            generics: input.generics.clone(),
            description: description(args.description, &input.attrs),
            shape,
        })
    }
}

/// The description given by a key, else the doc comment.
pub(super) fn description(
    key: Option<SpannedValue<String>>,
    attributes: &[Attribute],
) -> Option<Text> {
    key.map(|text| Text::Known(text.into_inner()))
        .or_else(|| docs::description(attributes))
}

fn shape(input: &DeriveInput, serde: &SerdeArgs) -> darling::Result<Shape> {
    for key in ["from", "try_from"] {
        if let Some(ty) = serde.text(key) {
            return Ok(Shape::Like(Box::new(Source::Own(in_text(&ty)?)), true));
        }
    }
    match &input.data {
        Data::Struct(data) => structure(&data.fields, serde, input),
        Data::Enum(data) => enums::read(data, serde).map(Shape::Enum),
        Data::Union(data) => Err(err!(
            data.union_token,
            "a union cannot be read from JSON; write a struct or an enum"
        )),
    }
}

fn structure(fields: &Fields, serde: &SerdeArgs, input: &DeriveInput) -> darling::Result<Shape> {
    let transparent = serde.has("transparent");
    match fields {
        Fields::Named(fields) => {
            let all = named_fields(
                &fields.named,
                serde.case("rename_all"),
                serde.has("default"),
            )?;
            match all {
                all if !transparent => Ok(Shape::Object(all)),
                mut all if all.len() == 1 => Ok(Shape::Like(Box::new(all.remove(0).source), true)),
                _ => Err(err!(
                    input.ident,
                    "`#[serde(transparent)]` needs one field that is read; mark the others `#[serde(skip)]`"
                )),
            }
        }
        Fields::Unnamed(fields) => {
            let places = enums::places(&fields.unnamed)?;
            match <[Source; 1]>::try_from(places) {
                Ok([source]) => Ok(Shape::Like(Box::new(source), transparent)),
                Err(places) if places.is_empty() => Err(err!(
                    fields.span(),
                    "there is nothing to read; write `struct {};` or give it named fields",
                    input.ident.unraw()
                )),
                Err(_) => Err(err!(
                    fields.span(),
                    "a model is told names, and these fields have none; write `struct {} {{ name: …, name: … }}`",
                    input.ident.unraw()
                )),
            }
        }
        Fields::Unit => Ok(Shape::Unit),
    }
}

/// The type written in a text of serde's.
fn in_text(text: &LitStr) -> darling::Result<Type> {
    Ok(text.parse()?)
}

/// The name on the wire: as serde renames it, else as its case has it, else as written.
pub(super) fn wire_name(
    ident: &Ident,
    serde: &SerdeArgs,
    cased: impl Fn(&str) -> String,
) -> SpannedValue<String> {
    match serde.text("rename") {
        Some(name) => SpannedValue::new(name.value(), name.span()),
        None => SpannedValue::new(cased(&ident.unraw().to_string()), ident.span()),
    }
}

pub(super) fn field_case(case: Option<Case>) -> impl Fn(&str) -> String {
    move |name| case.map_or_else(|| name.to_owned(), |case| case.of_field(name))
}

pub(super) fn variant_case(case: Option<Case>) -> impl Fn(&str) -> String {
    move |name| case.map_or_else(|| name.to_owned(), |case| case.of_variant(name))
}
