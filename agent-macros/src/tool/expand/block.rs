//! What an `impl` block with tools becomes: constants and calls in the object's type, and the
//! traits by which `.tools(…)` takes the object.
//!
//! What names the user's types stands in an `impl` block of the object's type, as `Self` may
//! be among them. It is that of a trait in the generated block: of a type of another crate the
//! compiler then tells no more than that it is one.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;

use super::call::{self, Callee};
use super::param::Place;
use super::{Locals, definition, located, outcome, param};
use crate::block::ImplBlock;
use crate::paths;
use crate::signature::{allowances, conditions};
use crate::tool::args::BlockArgs;
use crate::tool::model::ToolFn;

pub(in crate::tool) fn tools(args: &BlockArgs, block: &ImplBlock, tools: &[ToolFn]) -> TokenStream {
    let private = &paths::private();
    let object = &object(block);
    let declared = tools.iter().map(|tool| declared(tool, object, private));
    let associated = tools.iter().map(|tool| associated(tool, object, private));
    let methods = tools.iter().map(|tool| method(tool, private));
    let checks = tools.iter().map(|tool| {
        let (conditions, allowances) = (&tool.conditions, &tool.allowances);
        let checks = definition::checks(tool, &places(tool, object), private);
        quote_spanned! {Span::mixed_site()=> #(#conditions)* #(#allowances)* #checks }
    });
    in_block(
        block,
        args,
        private,
        &quote_spanned! {Span::mixed_site()=>
            #[allow(dead_code, non_camel_case_types, non_upper_case_globals)]
            trait __AgentTools: ::core::marker::Sized {
                #(#declared)*
            }

            #[automatically_derived]
            impl __AgentTools for #object {
                #(#associated)*
            }

            #(#checks)*
        },
        &quote_spanned! {Span::mixed_site()=> [#(#methods),*] },
    )
}

/// Just enough for `.tools(object)`, so that an error stays the only one.
pub(in crate::tool) fn stub(args: &BlockArgs, block: &ImplBlock) -> TokenStream {
    let private = &paths::private();
    let none = quote_spanned! {Span::mixed_site()=> [] };
    in_block(block, args, private, &TokenStream::new(), &none)
}

fn in_block(
    block: &ImplBlock,
    args: &BlockArgs,
    private: &TokenStream,
    items: &TokenStream,
    methods: &TokenStream,
) -> TokenStream {
    let (object, self_type) = (object(block), &block.self_type);
    let import = paths::import(args.root.as_ref());
    let conditions = conditions(&block.attributes);
    let allowances = allowances(&block.attributes);
    let number = args.block.as_deref().copied().unwrap_or(1);
    let next = number.saturating_add(1);
    // Shown under the number.
    let before = args.block.as_ref().map(|block| {
        let site = located(block.span());
        let mut before = Literal::u32_unsuffixed(**block - 1);
        before.set_span(site);
        let check = quote_spanned! {site=> __agent_block_before::<Self, #before>(); };
        quote_spanned! {Span::mixed_site()=>
            use #private::block_before as __agent_block_before;
            #check
        }
    });
    // The first block gives the object to `.tools(…)`.
    let into_tools = args.block.is_none().then(|| {
        // Under the object's type, where one that cannot be shared shows as an error.
        let site = object.span();
        let callbacks = quote_spanned! {site=> #private::callbacks_of::<#self_type>(self) };
        quote_spanned! {Span::mixed_site()=>
            #[automatically_derived]
            impl #private::IntoTools for #object {
                fn into_tools(self) -> #private::Vec<#private::Arc<dyn #private::ToolCallback>> {
                    #callbacks
                }
            }
        }
    });
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        #(#allowances)*
        const _: () = {
            #import

            // Written once more and not again, for what the compiler has to say of it.
            type #object = #self_type;

            #items

            #[automatically_derived]
            impl #private::WriteToolBlock2AboveTheSecondBlock<#number> for #object {
                fn methods() -> #private::Vec<#private::ToolMethod<Self>>
                where
                    for<'x> Self: #private::Shared,
                {
                    #before
                    #[allow(unused_imports)]
                    use #private::blocks::*;
                    #private::methods(#methods, #private::NextBlock::<Self, #next>::__agent_methods())
                }
            }

            #into_tools
        };
    }
}

/// One tool in the trait: its parts, and what is called in place of a method that is not there.
///
/// A method of the type itself is found before.
fn declared(tool: &ToolFn, object: &Ident, private: &TokenStream) -> TokenStream {
    let ToolFn {
        conditions,
        function,
        ..
    } = tool;
    let places = places(tool, object);
    let constants = tool
        .params
        .iter()
        .zip(&places)
        .map(|(param, place)| param::declared(tool, param, place, conditions, private));
    let Names { definition, call } = Names::of(function);
    let call = call_head(&call, private);
    let mut function = function.clone();
    function.set_span(Span::mixed_site());
    let params = tool.params.iter().map(|param| {
        let conditions = &param.conditions;
        quote_spanned! {Span::mixed_site()=> #(#conditions)* _: impl ::core::marker::Sized }
    });
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        const #definition: &'static #private::ToolDefinition;
        #(#conditions)*
        #call;
        #(#conditions)*
        fn #function(&self, #(#params),*) -> #private::Missing {
            #private::Missing
        }
        #(#constants)*
    }
}
/// The constants and the call of one tool.
fn associated(tool: &ToolFn, object: &Ident, private: &TokenStream) -> TokenStream {
    let ToolFn {
        conditions,
        allowances,
        function,
        ..
    } = tool;
    let places = places(tool, object);
    let outer = quote_spanned! {Span::mixed_site()=> #(#conditions)* #(#allowances)* };
    let constants = tool
        .params
        .iter()
        .zip(&places)
        .map(|(param, place)| param::associated(tool, param, place, &outer, private));
    let Names { definition, call } = Names::of(function);
    let call = call_head(&call, private);
    let text = definition::definition(tool, &places, private);
    let body = call::body(tool, &Callee::Method(function), &places, private);
    quote_spanned! {Span::mixed_site()=>
        #(#constants)*
        #outer
        const #definition: &'static #private::ToolDefinition = #text;
        #outer
        #call { #body }
    }
}

fn call_head(name: &Ident, private: &TokenStream) -> TokenStream {
    let outcome = outcome(private);
    let Locals {
        arguments,
        context,
        object,
        ..
    } = Locals::new();
    // The bound says what the object can do, so that a lack of it is not told here as well;
    // `for<'x>` keeps rustc from looking whether it holds.
    quote_spanned! {Span::mixed_site()=>
        fn #name<'a>(
            #object: &'a #private::Arc<Self>,
            #arguments: &'a ::core::primitive::str,
            #context: &'a #private::ToolContext,
        ) -> #private::BoxFuture<'a, #outcome>
        where
            for<'x> Self: #private::Shared
    }
}

/// The object's type, under the user's word for it.
fn object(block: &ImplBlock) -> Ident {
    Ident::new("__AgentObject", located(block.self_type.span()))
}

fn places(tool: &ToolFn, object: &Ident) -> Vec<Place> {
    let indices = 0..tool.params.len();
    indices
        .map(|index| Place::in_type(object, &tool.function, index))
        .collect()
}

fn method(tool: &ToolFn, private: &TokenStream) -> TokenStream {
    let conditions = &tool.conditions;
    let Names { definition, call } = Names::of(&tool.function);
    let metadata = definition::metadata(tool, private);
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        #private::ToolMethod::new(
            <Self as __AgentTools>::#definition,
            #metadata,
            <Self as __AgentTools>::#call,
        )
    }
}

struct Names {
    definition: Ident,
    call: Ident,
}

impl Names {
    fn of(method: &Ident) -> Self {
        let method = method.unraw();
        let span = Span::mixed_site();
        Self {
            definition: format_ident!("__AGENT_DEFINITION_OF_{method}", span = span),
            call: format_ident!("__agent_call_{method}", span = span),
        }
    }
}
