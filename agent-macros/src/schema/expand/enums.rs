//! The schema of an enum: its names if that is all, else a choice of what its variants hold.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

use super::{described, fields, of};
use crate::docs::{self, Text};
use crate::schema::enums::{Enum, Payload, Tagging, Variant};
use crate::schema::field::Source;

/// The schema, and what is told about variants that are nothing but a name, if the whole is
/// only that.
pub(super) fn schema(all: &Enum, private: &TokenStream) -> (TokenStream, Option<Text>) {
    let is_name = |variant: &&Variant| {
        let untagged = variant.untagged || matches!(all.tagging, Tagging::Untagged);
        !untagged && matches!(variant.payload, Payload::Unit)
    };
    let names: Vec<&Variant> = all.variants.iter().filter(is_name).collect();
    let others: Vec<&Variant> = all.variants.iter().filter(|it| !is_name(it)).collect();
    if others.is_empty() && matches!(all.tagging, Tagging::External) {
        return (texts(&names, private), list(&names));
    }
    let mut branches = Vec::new();
    if !names.is_empty() {
        branches.push(named(&names, &all.tagging, private));
    }
    for variant in others {
        let branch = branch(variant, &all.tagging, private);
        branches.push(described(branch, variant.description.as_ref(), private));
    }
    let schema = match &branches[..] {
        [branch] => branch.clone(),
        branches => {
            quote_spanned! {Span::mixed_site()=> #private::Schema::AnyOf(&[#(#branches),*]) }
        }
    };
    (schema, None)
}

/// The variants that hold nothing.
fn named(names: &[&Variant], tagging: &Tagging, private: &TokenStream) -> TokenStream {
    let texts = described(texts(names, private), list(names).as_ref(), private);
    match tagging {
        Tagging::Internal(tag) | Tagging::Adjacent(tag, _) => quote_spanned! {Span::mixed_site()=>
            #private::Schema::Object(&[#private::Property::new(#tag, &#texts, true)])
        },
        Tagging::External | Tagging::Untagged => texts,
    }
}

fn branch(variant: &Variant, tagging: &Tagging, private: &TokenStream) -> TokenStream {
    let name = &*variant.name;
    let tag = |tag: &syn::LitStr| {
        quote_spanned! {Span::mixed_site()=>
            #private::Property::new(#tag, &#private::Schema::Enum(&[#name]), true)
        }
    };
    match tagging {
        _ if variant.untagged => payload(&variant.payload, private),
        Tagging::Untagged => payload(&variant.payload, private),
        Tagging::External => {
            let payload = payload(&variant.payload, private);
            quote_spanned! {Span::mixed_site()=>
                #private::Schema::Object(&[#private::Property::new(#name, &#payload, true)])
            }
        }
        Tagging::Internal(key) => match &variant.payload {
            Payload::Struct(fields) => fields::object(Some(tag(key)), fields, false, private),
            Payload::Newtype(Source::Own(ty)) => {
                let (tag, members) = (tag(key), fields::members_of(ty, private));
                quote_spanned! {Span::mixed_site()=>
                    #private::Schema::Joined(&[#private::Schema::Object(&[#tag]), #members])
                }
            }
            // serde refuses these, or the checks do.
            _ => {
                let tag = tag(key);
                quote_spanned! {Span::mixed_site()=> #private::Schema::Object(&[#tag]) }
            }
        },
        Tagging::Adjacent(key, content) => {
            let tag = tag(key);
            let content = match &variant.payload {
                // The content may be left out where its type has a value for that.
                Payload::Newtype(Source::Own(ty)) => {
                    quote_spanned! {Span::mixed_site()=> #private::Property::of::<#ty>(#content) }
                }
                other => {
                    let payload = payload(other, private);
                    quote_spanned! {Span::mixed_site()=>
                        #private::Property::new(#content, &#payload, true)
                    }
                }
            };
            quote_spanned! {Span::mixed_site()=> #private::Schema::Object(&[#tag, #content]) }
        }
    }
}

fn payload(payload: &Payload, private: &TokenStream) -> TokenStream {
    match payload {
        Payload::Unit => quote_spanned! {Span::mixed_site()=> #private::Schema::Null },
        Payload::Newtype(source) => of(source, private),
        Payload::Tuple(places) => {
            let places = places.iter().map(|place| of(place, private));
            quote_spanned! {Span::mixed_site()=> #private::Schema::Tuple(&[#(&#places),*]) }
        }
        Payload::Struct(fields) => fields::object(None, fields, false, private),
    }
}

fn texts(names: &[&Variant], private: &TokenStream) -> TokenStream {
    let names = names.iter().map(|variant| variant.name.as_str());
    quote_spanned! {Span::mixed_site()=> #private::Schema::Enum(&[#(#names),*]) }
}

/// What is told about each of the variants, as a list.
fn list(names: &[&Variant]) -> Option<Text> {
    let told = names.iter().filter_map(|variant| {
        let text = variant.description.as_ref()?;
        Some((format!("- `{}`: ", *variant.name), text))
    });
    docs::list(told)
}
