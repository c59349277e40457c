//! What a type and its attributes say, as plain data with spans.

use darling::Error;
use darling::util::SpannedValue;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Data, DeriveInput, Fields, Generics, Ident, LitStr, Path, Type};

use super::args::TypeArgs;
use super::case::Case;
use super::enums::{self, Enum};
use super::field::{Field, Reader, Source};
use super::own::OwnName;
use super::serde::{Place, SerdeArgs};
use crate::diagnostics::err;
use crate::docs::{self, Text};

/// A type that is to have a schema.
pub(super) struct TypeModel {
    pub(super) root: Option<Path>,
    pub(super) ident: Ident,
    pub(super) generics: Generics,
    pub(super) description: Option<Text>,
    /// True if the type holds itself.
    pub(super) is_recursive: bool,
    /// True if members the schema does not name are allowed.
    pub(super) is_open: bool,
    pub(super) shape: Shape,
}

/// What the type's JSON looks like.
pub(super) enum Shape {
    /// `null`
    Unit,
    /// Just as another type; `true` if it is also absent when that is.
    Like(Source, bool),
    Object(Vec<Field>),
    Enum(Enum),
}

impl TypeModel {
    pub(super) fn new(input: &DeriveInput) -> darling::Result<Self> {
        let mut errors = Error::accumulator();
        let args = errors.handle(TypeArgs::parse(&input.attrs));
        let serde = errors.handle(SerdeArgs::read(&input.attrs, Place::Type));
        let name = OwnName::of(input);
        let mut reader = Reader::new(&name);
        let shape = serde.and_then(|serde| errors.handle(shape(input, &serde, &mut reader)));
        let (Some(args), Some(shape)) = (args, shape) else {
            return Err(errors
                .finish()
                .err()
                .unwrap_or_else(|| err!(input.ident, "cannot be read")));
        };
        let open = args.open.filter(|open| **open);
        if let Some(open) = &open
            && !matches!(shape, Shape::Object(_))
        {
            errors.push(err!(
                open.span(),
                "only a struct with named fields can be `open`; of an enum, open the structs in its variants"
            ));
        }
        errors.finish_with(Self {
            is_recursive: reader.is_recursive,
            is_open: open.is_some(),
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

fn shape(
    input: &DeriveInput,
    serde: &SerdeArgs,
    reader: &mut Reader<'_>,
) -> darling::Result<Shape> {
    for key in ["from", "try_from"] {
        if let Some(ty) = serde.text(key) {
            return Ok(Shape::Like(Source::Own(Box::new(in_text(&ty)?)), true));
        }
    }
    match &input.data {
        Data::Struct(data) => structure(&data.fields, serde, &input.ident, reader),
        Data::Enum(data) => enums::read(data, serde, reader).map(Shape::Enum),
        Data::Union(data) => Err(err!(
            data.union_token,
            "a union cannot be read from JSON; write a struct or an enum"
        )),
    }
}

fn structure(
    fields: &Fields,
    serde: &SerdeArgs,
    ident: &Ident,
    reader: &mut Reader<'_>,
) -> darling::Result<Shape> {
    let transparent = serde.has("transparent");
    let name = ident.unraw();
    match fields {
        Fields::Unit => Ok(Shape::Unit),
        Fields::Named(fields) => {
            let case = serde.case("rename_all");
            let mut fields = reader.named(&fields.named, case, serde.has("default"))?;
            match fields.len() {
                _ if !transparent => Ok(Shape::Object(fields)),
                1 => {
                    let field = fields.remove(0);
                    field.constraints.refuse()?;
                    Ok(Shape::Like(field.source, true))
                }
                _ => Err(err!(
                    ident,
                    "`#[serde(transparent)]` needs exactly one field that is read; write `#[serde(skip)]` on the others"
                )),
            }
        }
        Fields::Unnamed(fields) => {
            let mut places = reader.places(&fields.unnamed)?;
            let alone = transparent || fields.unnamed.len() == 1;
            match places.len() {
                1 if alone => Ok(Shape::Like(places.remove(0), transparent)),
                0 => Err(err!(
                    fields.span(),
                    "there is nothing to read in it; write `struct {name};`"
                )),
                _ => Err(err!(
                    fields.span(),
                    "a model is told names, and these fields have none; write `struct {name} {{ field: Type, … }}`"
                )),
            }
        }
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
