//! The generated code. Nothing is decided or refused here.
//!
//! All tokens have the span `mixed_site`, so that the locals below and the user's own
//! names cannot meet; the user's tokens keep theirs, so that rustc underlines them. Items
//! know no such hygiene: their names are made so that no user's type has one of them.

mod call;
mod param;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt as _;

use super::args::{Effect, ToolArgs};
use super::model::ToolFn;
use crate::paths;
use crate::signature::{FnItem, conditions};

/// The type beside the function, with everything a tool is.
pub(super) fn tool(tool: &ToolFn) -> TokenStream {
    let private = &paths::private(tool.root.as_ref());
    let ToolFn {
        conditions,
        allowances,
        type_name,
        ..
    } = tool;
    let (name, description) = (&*tool.name, &tool.description);
    let definition_type = type_item(conditions, &tool.visibility, type_name, &tool.function);
    let params = tool.params.iter().enumerate();
    let constants = params
        .clone()
        .map(|(index, param)| param::constant(index, param, private));
    let parameters = params.map(|(index, param)| param::schema(index, param, private));
    let metadata = metadata(tool, private);
    let call = call::body(tool, private);
    let submit = tool.register.then(|| {
        quote_spanned! {Span::mixed_site()=>
            #private::inventory::submit! { #private::ToolRegistration::new(#type_name::callback) }
        }
    });
    quote_spanned! {Span::mixed_site()=>
        #definition_type

        #(#conditions)*
        #(#allowances)*
        const _: () = {
            #(#constants)*

            #[automatically_derived]
            impl #type_name {
                /// What a model is told about this tool.
                pub const DEFINITION: &'static #private::ToolDefinition = {
                    const __AGENT_PARAMETERS: &[#private::Parameter] = &[#(#parameters),*];
                    const __AGENT_LENGTH: ::core::primitive::usize = #private::text_length(__AGENT_PARAMETERS);
                    const __AGENT_BYTES: [::core::primitive::u8; __AGENT_LENGTH] = #private::text_bytes::<__AGENT_LENGTH>(__AGENT_PARAMETERS);
                    static __AGENT_COMPOSED: #private::Composed = #private::Composed::new();
                    &#private::ToolDefinition::constant(
                        #name,
                        #description,
                        #private::InputSchema::constant(
                            __AGENT_PARAMETERS,
                            #private::text(__AGENT_PARAMETERS, &__AGENT_BYTES),
                            &__AGENT_COMPOSED,
                        ),
                    )
                };

                /// This tool, ready to be given to an agent.
                #[must_use]
                pub fn callback() -> #private::Arc<dyn #private::ToolCallback> {
                    #private::Arc::new(Self {})
                }
            }

            #[automatically_derived]
            impl #private::ToolCallback for #type_name {
                fn definition(&self) -> &#private::ToolDefinition {
                    Self::DEFINITION
                }

                fn metadata(&self) -> &#private::ToolMetadata {
                    const __AGENT_METADATA: #private::ToolMetadata = #metadata;
                    &__AGENT_METADATA
                }

                fn call<'a>(
                    &'a self,
                    arguments: &'a ::core::primitive::str,
                    context: &'a #private::ToolContext,
                ) -> #private::BoxFuture<'a, #private::Result<#private::ToolOutcome, #private::ToolError>> {
                    #call
                }
            }

            #submit
        };
    }
}

/// Just enough of a tool for `tools![name]`, so that an error stays the only one.
pub(super) fn stub(args: TokenStream, item: &FnItem) -> Option<TokenStream> {
    // With a `self` the function stands in an `impl`, where no type may stand.
    if item.signature.receiver().is_some() {
        return None;
    }
    let (root, type_name) = ToolArgs::names(args);
    let private = paths::private(root.as_ref());
    let function = &item.signature.ident;
    let type_name = type_name.as_ref().unwrap_or(function);
    let conditions = conditions(&item.attributes);
    let definition_type = type_item(&conditions, &item.visibility, type_name, function);
    Some(quote_spanned! {Span::mixed_site()=>
        #definition_type

        #(#conditions)*
        const _: () = {
            impl #type_name {
                pub fn callback() -> #private::Arc<dyn #private::ToolCallback> {
                    ::core::unreachable!()
                }
            }
        };
    })
}

fn type_item(
    conditions: &[TokenStream],
    visibility: &syn::Visibility,
    type_name: &Ident,
    function: &Ident,
) -> TokenStream {
    let doc = format!(" The tool made of the function `{}`.", function.unraw());
    let item = quote_spanned! {located(type_name.span())=> #visibility struct #type_name {} };
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        #[doc = #doc]
        #[allow(non_camel_case_types, missing_copy_implementations)]
        #[derive(::core::fmt::Debug)]
        #item
    }
}

/// The span for our tokens whose errors belong under a token of the user's.
fn located(place: Span) -> Span {
    Span::mixed_site().located_at(place)
}

fn metadata(tool: &ToolFn, private: &TokenStream) -> TokenStream {
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
    let blocking = (!tool.is_async).then(|| {
        quote_spanned! {Span::mixed_site()=> .blocking(true) }
    });
    quote_spanned! {Span::mixed_site()=>
        #private::ToolMetadata::new()
            .located(::core::file!(), ::core::line!())
            #return_direct #timeout #effect #blocking
    }
}
