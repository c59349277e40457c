//! The schema of named fields.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::spanned::Spanned as _;

use crate::schema::field::{Field, Presence, Source};

/// An object with these fields, after the property `first`. The members of a flattened field
/// stand in its place.
pub(super) fn object(
    first: Option<TokenStream>,
    fields: &[Field],
    is_open: bool,
    private: &TokenStream,
) -> TokenStream {
    let mut parts = Vec::new();
    let mut properties = Vec::from_iter(first);
    for field in fields {
        match (field.flatten, field.source.own()) {
            (true, Some(ty)) => {
                parts.extend(closed(&mut properties, private));
                parts.push(flattened(field, ty, private));
            }
            _ => properties.push(property(field, private)),
        }
    }
    if parts.is_empty() && !is_open {
        return quote_spanned! {Span::mixed_site()=> #private::Schema::Object(&[#(#properties),*]) };
    }
    parts.extend(closed(&mut properties, private));
    if is_open {
        parts.push(quote_spanned! {Span::mixed_site()=>
            #private::Schema::Map(&#private::Schema::Any)
        });
    }
    quote_spanned! {Span::mixed_site()=> #private::Schema::Joined(&[#(#parts),*]) }
}

/// The properties so far as a part of their own.
fn closed(properties: &mut Vec<TokenStream>, private: &TokenStream) -> Option<TokenStream> {
    let properties = std::mem::take(properties);
    (!properties.is_empty()).then(|| {
        quote_spanned! {Span::mixed_site()=> #private::Schema::Object(&[#(#properties),*]) }
    })
}

fn flattened(field: &Field, ty: &syn::Type, private: &TokenStream) -> TokenStream {
    let members = members_of(ty, private);
    // What may be left out as a whole may be left out in its parts.
    if field.presence == Presence::Optional {
        quote_spanned! {Span::mixed_site()=> #private::Schema::Nullable(&#members) }
    } else {
        members
    }
}

/// The members of a type; at the type, where it is told of one that has none.
pub(super) fn members_of(ty: &syn::Type, private: &TokenStream) -> TokenStream {
    let site = Span::mixed_site().located_at(ty.span());
    let private = private.clone().into_iter().map(|mut token| {
        token.set_span(site);
        token
    });
    let private = TokenStream::from_iter(private);
    quote_spanned! {site=> #private::Schema::members_of::<#ty>() }
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
        Source::Recursive(ty) => {
            quote_spanned! {Span::mixed_site()=> #private::Property::recursive::<#ty>(#key) }
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
    let constrained = field.constraints.steps(private).map(|steps| {
        quote_spanned! {Span::mixed_site()=>
            .constrained(const { let __agent_of = #property; &{ #steps } })
        }
    });
    let required = field.required.as_ref().and_then(|required| {
        let site = Span::mixed_site().located_at(required.span());
        match (**required, field.presence) {
            (true, _) => Some(quote_spanned! {site=> .demanded() }),
            (false, Presence::Optional) => None,
            (false, _) => Some(quote_spanned! {site=> .optional() }),
        }
    });
    quote_spanned! {Span::mixed_site()=> #property #presence #text #constrained #required }
}
