//! The type beside a function, with everything a tool is.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt as _;

use super::call::{self, Callee};
use super::param::Place;
use super::{Locals, definition, located, outcome, param};
use crate::paths;
use crate::signature::{FnItem, conditions};
use crate::tool::args::ToolArgs;
use crate::tool::model::ToolFn;
use crate::tool::names;

pub(in crate::tool) fn tool(tool: &ToolFn) -> TokenStream {
    let (private, import) = (&paths::private(), paths::import(tool.root.as_ref()));
    let ToolFn {
        conditions,
        allowances,
        type_name,
        function,
        ..
    } = tool;
    let definition_type = type_item(conditions, &tool.visibility, type_name, function);
    let places: Vec<Place> = (0..tool.params.len()).map(Place::beside_function).collect();
    let constants = tool
        .params
        .iter()
        .zip(&places)
        .map(|(param, place)| param::constant(tool, param, place, private));
    let definition = definition::definition(tool, &places, private);
    let checks = definition::checks(tool, &places, private);
    let metadata = definition::metadata(tool, private);
    let callee = Callee::Function(function);
    let call = call::body(tool, &callee, &places, private);
    let Locals {
        arguments, context, ..
    } = Locals::new();
    let outcome = outcome(private);
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
            #import

            #(#constants)*

            #checks

            #[automatically_derived]
            impl #type_name {
                /// What a model is told about this tool.
                pub const DEFINITION: &'static #private::ToolDefinition = #definition;

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
                    #arguments: &'a ::core::primitive::str,
                    #context: &'a #private::ToolContext,
                ) -> #private::BoxFuture<'a, #outcome> {
                    #call
                }
            }

            #submit
        };
    }
}

/// Just enough of a tool for `tools![name]`, so that an error stays the only one.
pub(in crate::tool) fn stub(args: TokenStream, item: &FnItem) -> Option<TokenStream> {
    // With a `self` the function stands in an `impl`, where no type may stand.
    if item.signature.receiver().is_some() {
        return None;
    }
    let (root, type_name) = ToolArgs::names(args);
    let (private, import) = (paths::private(), paths::import(root.as_ref()));
    let function = &item.signature.ident;
    let type_name = type_name.as_ref().unwrap_or(function);
    // It would hide the name from the rest of the module.
    if names::hidden_by(&type_name.unraw().to_string()).is_some() {
        return None;
    }
    let conditions = conditions(&item.attributes);
    let definition_type = type_item(&conditions, &item.visibility, type_name, function);
    Some(quote_spanned! {Span::mixed_site()=>
        #definition_type

        #(#conditions)*
        const _: () = {
            #import

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
