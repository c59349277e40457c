//! A type that holds itself: where its fields name it, and what stands there instead.
//!
//! A constant cannot hold itself, so a marker type takes the place of the type's own name;
//! its schema is a reference to the definition that the whole becomes.

use darling::Error;
use proc_macro2::Span;
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{DeriveInput, GenericArgument, GenericParam, Ident, Path, PathArguments, Type};

use crate::diagnostics::err;

/// The name of the marker type. It stands in a block of its own.
const MARKER: &str = "__AgentRef";

/// How a type names itself.
pub(super) struct OwnName {
    ident: Ident,
    /// Its generic parameters, as an argument list repeats them.
    arguments: Vec<String>,
}

impl OwnName {
    pub(super) fn of(input: &DeriveInput) -> Self {
        let arguments = input
            .generics
            .params
            .iter()
            .map(|parameter| match parameter {
                GenericParam::Lifetime(parameter) => parameter.lifetime.to_string(),
                GenericParam::Type(parameter) => parameter.ident.to_string(),
                GenericParam::Const(parameter) => parameter.ident.to_string(),
            });
        Self {
            ident: input.ident.clone(),
            arguments: arguments.collect(),
        }
    }

    /// The type with the marker for each of its own names; `found` is set if there is one.
    pub(super) fn replaced(&self, ty: &Type, found: &mut bool) -> darling::Result<Type> {
        let mut ty = ty.clone();
        let mut errors = Error::accumulator();
        self.replace(&mut ty, found, &mut errors);
        errors.finish_with(ty)
    }

    fn replace(&self, ty: &mut Type, found: &mut bool, errors: &mut darling::error::Accumulator) {
        match ty {
            Type::Group(group) => self.replace(&mut group.elem, found, errors),
            Type::Paren(paren) => self.replace(&mut paren.elem, found, errors),
            Type::Slice(slice) => self.replace(&mut slice.elem, found, errors),
            Type::Array(array) => self.replace(&mut array.elem, found, errors),
            Type::Tuple(tuple) => {
                for elem in &mut tuple.elems {
                    self.replace(elem, found, errors);
                }
            }
            Type::Path(path) if path.qself.is_none() => match self.names(&path.path) {
                Some(true) => {
                    *found = true;
                    let span = Span::mixed_site().located_at(path.span());
                    path.path = Ident::new(MARKER, span).into();
                }
                Some(false) => errors.push(err!(
                    path,
                    "`{}` holds itself with other arguments, so its schema has no end; write `#[param(schemars)]` on the field",
                    self.ident
                )),
                None => {
                    let segments = path.path.segments.iter_mut();
                    segments.for_each(|it| self.replace_inside(&mut it.arguments, found, errors));
                }
            },
            _ => {}
        }
    }

    fn replace_inside(
        &self,
        arguments: &mut PathArguments,
        found: &mut bool,
        errors: &mut darling::error::Accumulator,
    ) {
        if let PathArguments::AngleBracketed(arguments) = arguments {
            for argument in &mut arguments.args {
                if let GenericArgument::Type(ty) = argument {
                    self.replace(ty, found, errors);
                }
            }
        }
    }

    /// Whether the path is the type's own name, and if so, with its own parameters.
    fn names(&self, path: &Path) -> Option<bool> {
        if path.is_ident("Self") {
            return Some(true);
        }
        let [segment] = path.segments.iter().collect::<Vec<_>>()[..] else {
            return None;
        };
        if path.leading_colon.is_some() || segment.ident != self.ident {
            return None;
        }
        let given: Vec<String> = match &segment.arguments {
            PathArguments::AngleBracketed(given) => given
                .args
                .iter()
                .map(|argument| argument.to_token_stream().to_string().replace(' ', ""))
                .collect(),
            _ => Vec::new(),
        };
        Some(given == self.arguments)
    }
}

/// The marker type's name, for its declaration.
pub(super) fn marker() -> Ident {
    Ident::new(MARKER, Span::mixed_site())
}
