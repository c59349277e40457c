//! A field: its name on the wire, its type, and what `#[param]` and serde say about it.

use darling::Error;
use darling::util::SpannedValue;
use syn::punctuated::Punctuated;
use syn::{Token, Type};

use super::args::only;
use super::case::Case;
use super::enums::with_without_like;
use super::model::{description, field_case, wire_name};
use super::own::OwnName;
use super::serde::{Place, SerdeArgs};
use crate::diagnostics::err;
use crate::docs::Text;
use crate::tool::args::ParamArgs;
use crate::tool::constraints::Constraints;
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
    /// True if its own members stand in its place.
    pub(super) flatten: bool,
    /// Whether `#[param]` says that the model must give it, or may leave it out.
    pub(super) required: Option<SpannedValue<bool>>,
    pub(super) constraints: Constraints,
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
    Own(Box<Type>),
    /// Its `schemars::JsonSchema`.
    Schemars(Box<Type>),
    /// Its `ToolSchema`, asked at run time.
    Recursive(Box<Type>),
}

impl Source {
    /// The type whose `ToolSchema` it is.
    pub(super) fn own(&self) -> Option<&Type> {
        match self {
            Self::Own(ty) | Self::Recursive(ty) => Some(ty),
            Self::Schemars(_) => None,
        }
    }
}

/// Reads fields, and notes whether one of them names the type itself.
pub(super) struct Reader<'a> {
    name: &'a OwnName,
    pub(super) is_recursive: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(name: &'a OwnName) -> Self {
        Self {
            name,
            is_recursive: false,
        }
    }

    /// The fields that are read; `optional` if the type has a default for all of them.
    pub(super) fn named(
        &mut self,
        fields: &Punctuated<syn::Field, Token![,]>,
        case: Option<Case>,
        optional: bool,
    ) -> darling::Result<Vec<Field>> {
        let mut errors = Error::accumulator();
        let fields = fields
            .iter()
            .filter_map(|field| errors.handle(self.field(field, case, optional)).flatten())
            .collect();
        errors.finish_with(fields)
    }

    /// The fields without names that are read.
    pub(super) fn places(
        &mut self,
        fields: &Punctuated<syn::Field, Token![,]>,
    ) -> darling::Result<Vec<Source>> {
        const NAMELESS: &str = "is for a field with a name; write `{ name: Type }`";
        let mut errors = Error::accumulator();
        let mut places = Vec::new();
        for field in fields {
            let serde = errors.handle(SerdeArgs::read(&field.attrs, Place::Field));
            let args = errors.handle(ParamArgs::parse(&field.attrs));
            let (Some(serde), Some(args)) = (serde, args) else {
                continue;
            };
            if !is_skipped(&serde) {
                let keys = ["schemars", "like", "recursive"];
                errors.handle(only(&field.attrs, &keys, NAMELESS));
                places.extend(errors.handle(self.source(&field.ty, &args, &serde)));
            }
        }
        errors.finish_with(places)
    }

    /// A field, or nothing if it is not read.
    fn field(
        &mut self,
        field: &syn::Field,
        case: Option<Case>,
        optional: bool,
    ) -> darling::Result<Option<Field>> {
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
        let flatten = serde.has("flatten");
        if flatten {
            const MEMBERS: &str =
                "is for a value of its own; the members of a flattened field stand alone";
            errors.handle(only(&field.attrs, &["like"], MEMBERS));
        }
        let presence = if optional || serde.has("default") {
            Presence::Optional
        } else if serde.reads_itself().is_some() {
            Presence::Required
        } else {
            Presence::ByType
        };
        if args.default.is_some() && presence != Presence::Optional && !flatten {
            errors.push(err!(
                ident,
                "serde reads this field and knows no default for it; write `#[serde(default)]` or `#[serde(default = \"function\")]` too"
            ));
        }
        if let Some(required) = &args.required
            && **required
            && presence == Presence::Optional
        {
            errors.push(err!(
                required.span(),
                "serde has a default for this field, so it is never `required`; take one of the two away"
            ));
        }
        errors.handle(args.constraints.check(args.default.as_ref()));
        let name = wire_name(ident, &serde, field_case(case));
        let description = description(args.description.clone(), &field.attrs);
        let default = args.default.clone();
        let Some(source) = errors.handle(self.source(&field.ty, &args, &serde)) else {
            return errors.finish().map(|()| None);
        };
        errors.finish_with(Some(Field {
            name,
            source,
            description,
            default,
            presence,
            flatten,
            required: args.required,
            constraints: args.constraints,
        }))
    }

    /// Where the schema of a field comes from.
    pub(super) fn source(
        &mut self,
        ty: &Type,
        args: &ParamArgs,
        serde: &SerdeArgs,
    ) -> darling::Result<Source> {
        if let Some(like) = &args.like {
            return self.own(like);
        }
        if let Some(key) = serde.reads_itself() {
            return Err(with_without_like(key));
        }
        check_field(ty)?;
        if args.schemars == Some(true) {
            return Ok(Source::Schemars(Box::new(ty.clone())));
        }
        if args.recursive.is_some_and(|it| *it) {
            return Ok(Source::Recursive(Box::new(ty.clone())));
        }
        self.own(ty)
    }

    /// The type's own schema, a reference where the type is named itself.
    pub(super) fn own(&mut self, ty: &Type) -> darling::Result<Source> {
        check_field(ty)?;
        let ty = self.name.replaced(ty, &mut self.is_recursive)?;
        Ok(Source::Own(Box::new(ty)))
    }
}

pub(super) fn is_skipped(serde: &SerdeArgs) -> bool {
    serde.has("skip") || serde.has("skip_deserializing")
}
