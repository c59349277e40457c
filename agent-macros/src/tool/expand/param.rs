//! One parameter: a constant that knows its type, its place in the schema, how it is read.
//!
//! The constant is the only place that asks something of the type, so that a type which
//! cannot be a parameter is told of once.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::tool::model::Param;

pub(super) fn constant(index: usize, param: &Param, private: &TokenStream) -> TokenStream {
    let conditions = &param.conditions;
    let constant = name(index);
    let constructor = if param.schemars {
        "typed_schemars"
    } else {
        "typed"
    };
    let constructor = Ident::new(constructor, Span::mixed_site());
    let (ty, key) = (param.ty.owned(private), &*param.name);
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        const #constant: #private::TypedParameter<#ty> =
            #private::#constructor::<#ty>(#key);
    }
}

/// What of it the schema holds.
pub(super) fn schema(index: usize, param: &Param, private: &TokenStream) -> TokenStream {
    let conditions = &param.conditions;
    let constant = name(index);
    let described = param.description.as_ref().map(|text| {
        quote_spanned! {Span::mixed_site()=> .described(#text) }
    });
    let with_default = param.default.as_ref().map(|default| {
        let json = match default.json() {
            Some(json) => quote_spanned! {Span::mixed_site()=> #private::Some(#json) },
            None => quote_spanned! {Span::mixed_site()=> #private::None },
        };
        quote_spanned! {Span::mixed_site()=> .with_default(#json) }
    });
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)* #constant.parameter() #described #with_default
    }
}

/// Its value from the local `reader`, or nothing if that noted a fault.
pub(super) fn read(index: usize, param: &Param, reader: &Ident) -> TokenStream {
    let constant = name(index);
    match &param.default {
        Some(default) => {
            let value = default.expression();
            quote_spanned! {Span::mixed_site()=> #constant.take_or(&mut #reader, || #value) }
        }
        None => quote_spanned! {Span::mixed_site()=> #constant.take(&mut #reader) },
    }
}

fn name(index: usize) -> Ident {
    format_ident!("__AGENT_PARAMETER_{index}", span = Span::mixed_site())
}
