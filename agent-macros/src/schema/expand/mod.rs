//! The generated implementation. Nothing is decided or refused here.
//!
//! Our tokens have the span `mixed_site`; the user's types keep theirs, so that rustc
//! underlines a type that has no schema.

mod enums;
mod fields;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{DeriveInput, Path, parse_quote};

use super::field::Source;
use super::model::{Shape, TypeModel};
use super::own;
use crate::docs::{self, Text};
use crate::paths;

/// The implementation of `ToolSchema`.
pub(super) fn implementation(model: &TypeModel) -> TokenStream {
    let (private, import) = (&paths::private(), paths::import(model.root.as_ref()));
    let ident = &model.ident;
    let (schema, listed) = match &model.shape {
        Shape::Unit => (
            quote_spanned! {Span::mixed_site()=> #private::Schema::Null },
            None,
        ),
        Shape::Like(source, _) => (of(source, private), None),
        Shape::Object(fields) => (fields::object(None, fields, model.is_open, private), None),
        Shape::Enum(all) => enums::schema(all, private),
    };
    let description = docs::followed_by(model.description.as_ref(), listed);
    let mut schema = described(schema, description.as_ref(), private);
    let mut marker = None;
    if model.is_recursive {
        let name = ident.unraw().to_string();
        let marker_type = own::marker();
        schema = quote_spanned! {Span::mixed_site()=> #private::Schema::Def(#name, &#schema) };
        marker = Some(quote_spanned! {Span::mixed_site()=>
            #[derive(::core::clone::Clone)]
            struct #marker_type;

            impl #private::ToolSchema for #marker_type {
                const SCHEMA: #private::Schema = #private::Schema::Ref(#name);
            }
        });
    }
    let required = match &model.shape {
        Shape::Like(source, true) => source.own().map(|ty| {
            quote_spanned! {Span::mixed_site()=>
                const REQUIRED: ::core::primitive::bool = <#ty as #private::ToolSchema>::REQUIRED;
            }
        }),
        _ => None,
    };
    let mut generics = model.generics.clone();
    for parameter in generics.type_params_mut() {
        parameter.bounds.push(parse_quote! { #private::ToolSchema });
    }
    let (parameters, arguments, clause) = generics.split_for_impl();
    let implementation = quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #parameters #private::ToolSchema for #ident #arguments #clause {
            const SCHEMA: #private::Schema = #schema;
            #required
        }
    };
    quote_spanned! {Span::mixed_site()=>
        const _: () = {
            #import
            #marker
            #implementation
        };
    }
}

/// A schema of anything, so that the errors in the type stay the only ones.
pub(super) fn stub(input: &DeriveInput, root: Option<&Path>) -> TokenStream {
    let (private, import) = (paths::private(), paths::import(root));
    let ident = &input.ident;
    let (parameters, arguments, clause) = input.generics.split_for_impl();
    quote_spanned! {Span::mixed_site()=>
        const _: () = {
            #import
            #[automatically_derived]
            impl #parameters #private::ToolSchema for #ident #arguments #clause {
                const SCHEMA: #private::Schema = #private::Schema::Any;
            }
        };
    }
}

fn of(source: &Source, private: &TokenStream) -> TokenStream {
    match source {
        Source::Own(ty) => quote_spanned! {Span::mixed_site()=> #private::Schema::of::<#ty>() },
        Source::Schemars(ty) => {
            quote_spanned! {Span::mixed_site()=> #private::Schema::schemars::<#ty>() }
        }
        Source::Recursive(ty) => {
            quote_spanned! {Span::mixed_site()=> #private::Schema::recursive::<#ty>() }
        }
    }
}

fn described(schema: TokenStream, text: Option<&Text>, private: &TokenStream) -> TokenStream {
    match text {
        Some(text) => {
            let text = text.to_token_stream();
            quote_spanned! {Span::mixed_site()=> #private::Schema::Described(#text, &#schema) }
        }
        None => schema,
    }
}
