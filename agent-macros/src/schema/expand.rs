//! The generated implementation. Nothing is decided or refused here.
//!
//! Our tokens have the span `mixed_site`; the user's types keep theirs, so that rustc
//! underlines a type that has no schema.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{DeriveInput, Path, parse_quote};

use super::enums::Enum;
use super::field::{Field, Presence, Source};
use super::model::{Shape, TypeModel};
use crate::docs::{self, Text};
use crate::paths;

/// The implementation of `ToolSchema`.
pub(super) fn implementation(model: &TypeModel) -> TokenStream {
    let private = &paths::private(model.root.as_ref());
    let ident = &model.ident;
    let (schema, listed) = match &model.shape {
        Shape::Unit => (
            quote_spanned! {Span::mixed_site()=> #private::Schema::Null },
            None,
        ),
        Shape::Like(source, _) => (of(source, private), None),
        Shape::Object(fields) => (object(fields, private), None),
        Shape::Enum(all) => (texts(all, private), variants(all)),
    };
    let description = docs::followed_by(model.description.as_ref(), listed);
    let schema = described(schema, description.as_ref(), private);
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
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #parameters #private::ToolSchema for #ident #arguments #clause {
            const SCHEMA: #private::Schema = #schema;
            #required
        }
    }
}

/// A schema of anything, so that the errors in the type stay the only ones.
pub(super) fn stub(input: &DeriveInput, root: Option<&Path>) -> TokenStream {
    let private = paths::private(root);
    let ident = &input.ident;
    let (parameters, arguments, clause) = input.generics.split_for_impl();
    quote_spanned! {Span::mixed_site()=>
        #[automatically_derived]
        impl #parameters #private::ToolSchema for #ident #arguments #clause {
            const SCHEMA: #private::Schema = #private::Schema::Any;
        }
    }
}

fn of(source: &Source, private: &TokenStream) -> TokenStream {
    match source {
        Source::Own(ty) => quote_spanned! {Span::mixed_site()=> #private::Schema::of::<#ty>() },
        Source::Schemars(ty) => {
            quote_spanned! {Span::mixed_site()=> #private::Schema::schemars::<#ty>() }
        }
    }
}

fn object(fields: &[Field], private: &TokenStream) -> TokenStream {
    let properties = fields.iter().map(|field| property(field, private));
    quote_spanned! {Span::mixed_site()=> #private::Schema::Object(&[#(#properties),*]) }
}

fn property(field: &Field, private: &TokenStream) -> TokenStream {
    let key = &*field.name;
    let property = match &field.source {
        Source::Own(ty) => {
            quote_spanned! {Span::mixed_site()=> #private::Property::of::<#ty>(#key) }
        }
        Source::Schemars(ty) => {
            quote_spanned! {Span::mixed_site()=> #private::Property::schemars::<#ty>(#key) }
        }
    };
    let presence = match field.presence {
        Presence::ByType => None,
        Presence::Required => Some(quote_spanned! {Span::mixed_site()=> .required() }),
        Presence::Optional => {
            let json = field.default.as_ref().and_then(|default| default.json());
            let json = match json {
                Some(json) => quote_spanned! {Span::mixed_site()=> #private::Some(#json) },
                None => quote_spanned! {Span::mixed_site()=> #private::None },
            };
            Some(quote_spanned! {Span::mixed_site()=> .with_default(#json) })
        }
    };
    let text = field.description.as_ref().map(|text| {
        quote_spanned! {Span::mixed_site()=> .described(#text) }
    });
    quote_spanned! {Span::mixed_site()=> #property #presence #text }
}

/// The names of unit variants.
fn texts(all: &Enum, private: &TokenStream) -> TokenStream {
    let names = all.variants.iter().map(|variant| variant.name.as_str());
    quote_spanned! {Span::mixed_site()=> #private::Schema::Enum(&[#(#names),*]) }
}

/// What is told about each variant, as a list.
fn variants(all: &Enum) -> Option<Text> {
    let told = all.variants.iter().filter_map(|variant| {
        let text = variant.description.as_ref()?;
        Some((format!("- `{}`: ", *variant.name), text))
    });
    docs::list(told)
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
