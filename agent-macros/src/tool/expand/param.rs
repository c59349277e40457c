//! One parameter: a constant that knows its type, its place in the schema, how it is read.
//!
//! The constant is the only place that asks something of the type, so that a type which
//! cannot be a parameter is told of once.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt as _;

use super::located;
use crate::tool::model::{Param, ToolFn};

/// The name of a parameter's constant in the generated block.
pub(super) struct Place(Ident);

impl Place {
    /// In the block of a function's tool.
    pub(super) fn beside_function(index: usize) -> Self {
        Self(format_ident!(
            "__AGENT_PARAMETER_{index}",
            span = Span::mixed_site()
        ))
    }

    /// In the block of an object's tools.
    pub(super) fn beside_object(method: &Ident, index: usize) -> Self {
        let method = method.unraw();
        Self(format_ident!(
            "__AGENT_PARAMETER_{index}_OF_{method}",
            span = Span::mixed_site()
        ))
    }

    pub(super) fn name(&self) -> &Ident {
        &self.0
    }
}

pub(super) fn constant(
    tool: &ToolFn,
    param: &Param,
    place: &Place,
    private: &TokenStream,
) -> TokenStream {
    let conditions = &param.conditions;
    let constant = place.name();
    let holder = holder(tool);
    let constructor = match (tool.whole, param.schemars) {
        (false, false) => "typed",
        (false, true) => "typed_schemars",
        (true, false) => "whole",
        (true, true) => "whole_schemars",
    };
    let constructor = Ident::new(constructor, Span::mixed_site());
    let (owned, key) = (param.ty.owned(private), &*param.name);
    let ty = quote_spanned! {Span::mixed_site()=> #private::#holder<#owned> };
    let bare = quote_spanned! {Span::mixed_site()=> #private::#constructor::<#owned>(#key) };
    let told = told(param, private);
    let plain = quote_spanned! {Span::mixed_site()=> #bare #told };
    let constrained = param.constraints.steps(private).map(|steps| {
        quote_spanned! {Span::mixed_site()=>
            let __agent_parameter = __agent_parameter.constrained(const { let __agent_of = #bare; &{ #steps } });
        }
    });
    let required = required(param);
    let value = if constrained.is_none() && required.is_none() {
        plain
    } else {
        quote_spanned! {Span::mixed_site()=>
            {
                let __agent_parameter = #plain;
                #constrained
                #required
                __agent_parameter
            }
        }
    };
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        const #constant: #ty = #value;
    }
}

/// Stands under its key, where one that cannot hold shows.
fn required(param: &Param) -> Option<TokenStream> {
    let required = param.required.as_ref()?;
    let site = located(required.span());
    match (**required, &param.default) {
        (true, _) => {
            Some(quote_spanned! {site=> let __agent_parameter = __agent_parameter.demanded(); })
        }
        (false, None) => {
            Some(quote_spanned! {site=> let __agent_parameter = __agent_parameter.optional(); })
        }
        (false, Some(_)) => None,
    }
}

/// The type of the constant.
fn holder(tool: &ToolFn) -> Ident {
    let name = if tool.whole {
        "WholeParameter"
    } else {
        "TypedParameter"
    };
    Ident::new(name, Span::mixed_site())
}

/// What of it the schema holds.
pub(super) fn schema(
    tool: &ToolFn,
    param: &Param,
    place: &Place,
    private: &TokenStream,
) -> TokenStream {
    let conditions = &param.conditions;
    let parameter = parameter(tool, place, private);
    quote_spanned! {Span::mixed_site()=> #(#conditions)* #parameter }
}

/// The check of its type, shown there.
pub(super) fn check(
    tool: &ToolFn,
    param: &Param,
    place: &Place,
    private: &TokenStream,
) -> TokenStream {
    let conditions = &param.conditions;
    let parameter = parameter(tool, place, private);
    let (strict, docs, whole) = (tool.strict.is_some(), tool.require_docs, tool.whole);
    let site = located(param.ty.span());
    let check = quote_spanned! {site=>
        __agent_check_parameter(#parameter, #strict, #docs, #whole)
    };
    quote_spanned! {Span::mixed_site()=> #(#conditions)* #check; }
}

fn parameter(tool: &ToolFn, place: &Place, private: &TokenStream) -> TokenStream {
    let constant = place.name();
    let holder = holder(tool);
    quote_spanned! {Span::mixed_site()=> #private::#holder::parameter(&#constant) }
}

/// What the model is told of it beside its type.
fn told(param: &Param, private: &TokenStream) -> TokenStream {
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
    quote_spanned! {Span::mixed_site()=> #described #with_default }
}

/// Its value from the local `reader`, or nothing if that noted a fault.
pub(super) fn read(
    param: &Param,
    place: &Place,
    reader: &Ident,
    private: &TokenStream,
) -> TokenStream {
    let constant = place.name();
    match &param.default {
        Some(default) => {
            let value = default.expression();
            quote_spanned! {Span::mixed_site()=>
                #private::TypedParameter::take_or(&#constant, &mut #reader, || #value)
            }
        }
        None => quote_spanned! {Span::mixed_site()=>
            #private::TypedParameter::take(&#constant, &mut #reader)
        },
    }
}
