//! The type beside a function, with everything a tool is.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Token, Visibility};

use super::call::{self, Callee};
use super::param::Place;
use super::{Locals, definition, located, outcome, param};
use crate::paths;
use crate::signature::{FnItem, conditions};
use crate::tool::args::ToolArgs;
use crate::tool::model::ToolFn;
use crate::tool::{check, names};

pub(in crate::tool) fn tool(tool: &ToolFn) -> TokenStream {
    let (private, import) = (&paths::private(), paths::import(tool.root.as_ref()));
    let ToolFn {
        conditions,
        allowances,
        type_name,
        function,
        ..
    } = tool;
    let companion = Companion::of(type_name);
    let declared = companion.declared(conditions, &tool.visibility, function, tool.ends);
    let companion = companion.path();
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
            #private::inventory::submit! { #private::ToolRegistration::new(#companion::callback) }
        }
    });
    outside_impl(&quote_spanned! {Span::mixed_site()=>
        #declared

        #(#conditions)*
        #(#allowances)*
        const _: () = {
            #import

            #(#constants)*

            #checks

            #[automatically_derived]
            impl #companion {
                /// What a model is told about this tool.
                pub const DEFINITION: &'static #private::ToolDefinition = #definition;

                /// This tool, ready to be given to an agent.
                #[must_use]
                pub fn callback() -> #private::Arc<dyn #private::ToolCallback> {
                    #private::Arc::new(Self {})
                }
            }

            #[automatically_derived]
            impl #private::ToolCallback for #companion {
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
    })
}

/// Just enough of a tool for `tools![name]`, so that an error stays the only one.
pub(in crate::tool) fn stub(args: TokenStream, item: &FnItem) -> Option<TokenStream> {
    // Such a function stands in an `impl`, where no type may stand.
    if check::no_receiver(&item.signature).is_err() {
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
    let companion = Companion::of(type_name);
    let declared = companion.declared(&conditions, &item.visibility, function, item.ends());
    let companion = companion.path();
    Some(outside_impl(&quote_spanned! {Span::mixed_site()=>
        #declared

        #(#conditions)*
        const _: () = {
            #import

            impl #companion {
                pub fn callback() -> #private::Arc<dyn #private::ToolCallback> {
                    ::core::unreachable!()
                }
            }
        };
    }))
}

/// The items by way of a macro that stands beside them.
///
/// In an `impl` block, which may hold neither these items nor that macro, rustc tells of the
/// macro and of its missing name, which says what to write, and of nothing else.
fn outside_impl(items: &TokenStream) -> TokenStream {
    let name = Ident::new(
        "write_tool_above_the_impl_block_too_and_take_self",
        Span::mixed_site(),
    );
    quote_spanned! {Span::mixed_site()=>
        macro_rules! #name {
            ($($items:tt)*) => { $($items)* };
        }
        #name! { #items }
    }
}

/// The type beside the function: an alias of one in a module that no other tool has, so that a
/// second item of its name contradicts that name and nothing that is made of it.
struct Companion<'a> {
    name: &'a Ident,
    module: Ident,
}

impl<'a> Companion<'a> {
    fn of(name: &'a Ident) -> Self {
        let plain = name.unraw().to_string();
        let module = match count(&plain) {
            0 => format_ident!("__agent_tool_{plain}", span = Span::mixed_site()),
            count => format_ident!("__agent_tool_{plain}_{count}", span = Span::mixed_site()),
        };
        Self { name, module }
    }

    fn path(&self) -> TokenStream {
        let Self { name, module } = self;
        quote_spanned! {Span::mixed_site()=> #module::#name }
    }

    fn declared(
        &self,
        conditions: &[TokenStream],
        visibility: &Visibility,
        function: &Ident,
        (first, last): (Span, Span),
    ) -> TokenStream {
        let Self { name, module } = self;
        let doc = format!(
            " The tool made of the function `{}`: its `DEFINITION`, and `callback()` for an agent.",
            function.unraw()
        );
        let item = quote_spanned! {located(name.span())=> pub struct #name {} };
        // Of the function's name, it stands where that does from end to end: rustc tells of a name
        // that is there twice once for each place.
        let (first, last) = if *name == function {
            (first, last)
        } else {
            (name.span(), name.span())
        };
        let (keyword, end) = (Token![type](first), Token![;](last));
        let path = self.path();
        quote_spanned! {Span::mixed_site()=>
            #(#conditions)*
            #[doc(hidden)]
            #[allow(non_snake_case, unreachable_pub)]
            mod #module {
                #[allow(non_camel_case_types, missing_copy_implementations)]
                #[derive(::core::fmt::Debug)]
                #item
            }
            #(#conditions)*
            #[doc = #doc]
            #[allow(dead_code, non_camel_case_types)]
            #visibility #keyword #name = #path #end
        }
    }
}

/// How many tools had this name before, whatever their modules.
fn count(name: &str) -> usize {
    static SEEN: LazyLock<Mutex<HashMap<String, usize>>> = LazyLock::new(Mutex::default);
    if cfg!(test) {
        return 0;
    }
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let count = seen.entry(name.to_owned()).or_default();
    *count += 1;
    *count - 1
}
