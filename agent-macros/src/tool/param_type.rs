//! A parameter's type: taken as it is, or owned and then borrowed.

use darling::Error;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{GenericArgument, PathArguments, Type, TypeArray, TypeReference, TypeSlice};

use super::bare;
use crate::diagnostics::err;

/// The type a parameter is decoded as.
pub(super) struct ParamType {
    /// As written, without the `&` at its top.
    ty: Type,
    borrowed: bool,
}

impl ParamType {
    pub(super) fn new(ty: &Type) -> darling::Result<Self> {
        let ty = ungrouped(ty);
        let mut errors = Error::accumulator();
        let (ty, borrowed) = match ty {
            Type::Reference(reference) => {
                top(reference, &mut errors);
                (ungrouped(&reference.elem), true)
            }
            ty => (ty, false),
        };
        errors.handle(sized(ty, borrowed));
        inside(
            ty,
            "a reference may stand only at the top of a parameter's type",
            &mut errors,
        );
        bare::check(ty, &mut errors);
        errors.finish_with(Self {
            ty: ty.clone(),
            borrowed,
        })
    }

    /// Where it is written.
    pub(super) fn span(&self) -> Span {
        self.ty.span()
    }

    /// The owned type, whatever trait tells which that is.
    pub(super) fn owned(&self, private: &TokenStream) -> TokenStream {
        let ty = &self.ty;
        if self.borrowed {
            // Where it is written: its owned form is what must be a parameter.
            quote_spanned! {Span::mixed_site().located_at(ty.span())=>
                <#ty as #private::TakenByReference>::Owned
            }
        } else {
            ty.to_token_stream()
        }
    }

    /// The argument for the function, from a local that holds the owned value.
    pub(super) fn argument(&self, local: &TokenStream, private: &TokenStream) -> TokenStream {
        let ty = &self.ty;
        if self.borrowed {
            quote_spanned! {Span::mixed_site()=>
                <#ty as #private::TakenByReference>::lend(&#local)
            }
        } else {
            local.clone()
        }
    }
}

/// A type without parentheses and without the invisible group of a macro's `$ty:ty`.
pub(super) fn ungrouped(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            other => return other,
        };
    }
}

fn top(reference: &TypeReference, errors: &mut darling::error::Accumulator) {
    if let Some(token) = &reference.mutability {
        errors.push(err!(
            token,
            "a tool cannot change its arguments: the model sends them by value; write `&T` or `T`"
        ));
    }
    // `'_` says nothing, and any other is refused where the function declares it.
    if let Some(lifetime) = &reference.lifetime
        && lifetime.ident == "static"
    {
        errors.push(err!(
            lifetime,
            "an argument lives as long as the call, not `'static`; write `&T` or `T`"
        ));
    }
}

/// Refuses what has no value of its own to be read into.
fn sized(ty: &Type, borrowed: bool) -> darling::Result<()> {
    match ty {
        Type::TraitObject(object) => Err(err!(
            object,
            "a tool cannot take any type that has a trait: the schema needs one concrete type; write it here"
        )),
        Type::Slice(slice) if !borrowed => Err(err!(
            slice,
            "a slice has no size of its own; write `&[T]` or `Vec<T>`"
        )),
        ty if !borrowed && is_unsized(ty) => Err(err!(
            ty,
            "`str` has no size of its own; write `&str` or `String`"
        )),
        _ => Ok(()),
    }
}

/// Refuses a return type that no function has, as far as it can be seen.
pub(crate) fn check_returned(ty: &Type) -> darling::Result<()> {
    match ungrouped(ty) {
        Type::TraitObject(object) => Err(err!(
            object,
            "a tool returns one concrete type, whose values have a size; write it here"
        )),
        ty if is_unsized(ty) => Err(err!(
            ty,
            "a tool returns a value with a size of its own; write {}",
            owned_form(ty)
        )),
        _ => Ok(()),
    }
}

/// True for the types that a function never takes but by reference.
pub(super) fn is_unsized(ty: &Type) -> bool {
    match ungrouped(ty) {
        Type::Slice(_) => true,
        Type::Path(path) => path.path.is_ident("str"),
        _ => false,
    }
}

/// Refuses a field's type that borrows.
pub(crate) fn check_field(ty: &Type) -> darling::Result<()> {
    let mut errors = Error::accumulator();
    inside(ty, "a type the model fills owns what it holds", &mut errors);
    bare::check(ty, &mut errors);
    errors.finish()
}

/// Refuses what no owned value can stand in for; `rule` says why a reference is none.
fn inside(ty: &Type, rule: &str, errors: &mut darling::error::Accumulator) {
    match ungrouped(ty) {
        Type::Reference(reference) => {
            let owned = owned_form(&reference.elem);
            errors.push(err!(reference.and_token, "{rule}; write {owned} here"));
        }
        Type::ImplTrait(ty) => errors.push(err!(
            ty.impl_token,
            "a tool cannot be generic: the schema needs one concrete type; write it here"
        )),
        Type::Slice(TypeSlice { elem, .. }) | Type::Array(TypeArray { elem, .. }) => {
            inside(elem, rule, errors);
        }
        Type::Tuple(tuple) => tuple.elems.iter().for_each(|ty| inside(ty, rule, errors)),
        Type::Path(path) => path
            .path
            .segments
            .iter()
            .for_each(|segment| inside_arguments(&segment.arguments, rule, errors)),
        _ => {}
    }
}

fn inside_arguments(
    arguments: &PathArguments,
    rule: &str,
    errors: &mut darling::error::Accumulator,
) {
    let PathArguments::AngleBracketed(arguments) = arguments else {
        return;
    };
    for argument in &arguments.args {
        if let GenericArgument::Type(ty) = argument {
            inside(ty, rule, errors);
        }
    }
}

/// Only a hint in a message: no expansion depends on how a type is spelled.
pub(super) fn owned_form(ty: &Type) -> String {
    match ungrouped(ty) {
        Type::Path(path) if path.path.is_ident("str") => "`String`".to_owned(),
        Type::Path(path) if path.path.is_ident("Path") => "`PathBuf`".to_owned(),
        Type::Slice(_) => "a `Vec`".to_owned(),
        _ => "the type without `&`".to_owned(),
    }
}
