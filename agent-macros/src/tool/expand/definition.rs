//! What a tool is told and tells: the constants of its definition and of its metadata.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::located;
use super::param::{self, Place};
use crate::tool::args::Effect;
use crate::tool::model::ToolFn;

/// The definition, as an expression for a constant.
pub(super) fn definition(tool: &ToolFn, places: &[Place], private: &TokenStream) -> TokenStream {
    let (name, description) = (&*tool.name, &tool.description);
    let parameters = tool
        .params
        .iter()
        .zip(places)
        .map(|(param, place)| param::schema(tool, param, place, private));
    let input = if tool.whole { "whole" } else { "of" };
    let input = Ident::new(input, Span::mixed_site());
    let open = tool.open.map(|_| {
        quote_spanned! {Span::mixed_site()=> .open() }
    });
    let schema = quote_spanned! {Span::mixed_site()=>
        #private::InputSchema::constant(
            __AGENT_INPUT,
            #private::text(__AGENT_INPUT, &__AGENT_BYTES),
            &__AGENT_COMPOSED,
        )
    };
    let definition = match &tool.returns {
        None => quote_spanned! {Span::mixed_site()=>
            &#private::ToolDefinition::constant(#name, #description, #schema)
        },
        Some(ty) => quote_spanned! {Span::mixed_site()=>
            static __AGENT_OUTPUT: #private::Composed = #private::Composed::new();
            #[allow(unused_imports)]
            use #private::returns::*;
            &#private::ToolDefinition::constant_with_output(
                #name,
                #description,
                #schema,
                #private::InputSchema::output(
                    #private::Returns::<#ty>::__AGENT_SCHEMA,
                    &__AGENT_OUTPUT,
                ),
            )
        },
    };
    quote_spanned! {Span::mixed_site()=>
        {
            const __AGENT_PARAMETERS: &[#private::Parameter] = &[#(#parameters),*];
            const __AGENT_INPUT: #private::Input = #private::Input::#input(__AGENT_PARAMETERS) #open;
            const __AGENT_LENGTH: ::core::primitive::usize = #private::text_length(__AGENT_INPUT);
            const __AGENT_BYTES: [::core::primitive::u8; __AGENT_LENGTH] = #private::text_bytes::<__AGENT_LENGTH>(__AGENT_INPUT);
            static __AGENT_COMPOSED: #private::Composed = #private::Composed::new();
            #definition
        }
    }
}

/// The checks that need the types, as an item.
pub(super) fn checks(tool: &ToolFn, places: &[Place], private: &TokenStream) -> TokenStream {
    let params = || tool.params.iter().zip(places);
    let each = params().map(|(param, place)| param::check(tool, param, place, private));
    let all = params().map(|(param, place)| param::schema(tool, param, place, private));
    let (description, whole) = (&tool.description, tool.whole);
    let site = located(tool.function.span());
    let check = quote_spanned! {site=>
        __agent_check_tool(&[#(#all),*], #description, #whole)
    };
    quote_spanned! {Span::mixed_site()=>
        const _: () = {
            // A path would show as a whole, from the attribute on.
            #[allow(unused_imports)]
            use #private::{
                check_parameter as __agent_check_parameter, check_tool as __agent_check_tool,
            };
            #(#each)*
            #check;
        };
    }
}

/// How the tool wants to be run, as a constant expression.
pub(super) fn metadata(tool: &ToolFn, private: &TokenStream) -> TokenStream {
    let return_direct = tool.return_direct.then(|| {
        quote_spanned! {Span::mixed_site()=> .return_direct(true) }
    });
    let timeout = tool.timeout_millis.map(|millis| {
        quote_spanned! {Span::mixed_site()=> .timeout_millis(#millis) }
    });
    let effect = tool.effect.map(|effect| {
        let effect = match effect {
            Effect::Pure => "Pure",
            Effect::Idempotent => "Idempotent",
            Effect::Once => "Once",
        };
        let effect = Ident::new(effect, Span::mixed_site());
        quote_spanned! {Span::mixed_site()=> .effect(#private::Effect::#effect) }
    });
    let max_calls = tool.max_calls.map(|limit| {
        quote_spanned! {Span::mixed_site()=> .max_calls(#limit) }
    });
    let sequential = tool.sequential.then(|| {
        quote_spanned! {Span::mixed_site()=> .sequential(true) }
    });
    let approval = tool.approval.then(|| {
        quote_spanned! {Span::mixed_site()=> .approval(true) }
    });
    let strict = tool.strict.map(|_| {
        quote_spanned! {Span::mixed_site()=> .strict(true) }
    });
    let blocking = (!tool.is_async).then(|| {
        quote_spanned! {Span::mixed_site()=> .blocking(true) }
    });
    quote_spanned! {Span::mixed_site()=>
        #private::ToolMetadata::new()
            .located(::core::file!(), ::core::line!())
            #return_direct #timeout #effect #max_calls #sequential #approval #strict #blocking
    }
}
