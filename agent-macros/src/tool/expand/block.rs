//! What an `impl` block with tools becomes: constants and calls in the object's type, and the
//! traits by which `.tools(…)` takes the object.
//!
//! What holds the user's expressions stands in an `impl` block of the object's type, as `Self` may
//! be among them; in a type [`OBJECT`] stands for it. The block is that of a trait in the generated
//! code: of a type of another crate the compiler then tells no more than that it is one.

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
    let constants = tools.iter().map(|tool| constants(tool, private));
    let declared = tools.iter().map(|tool| declared(tool, private));
    let associated = tools.iter().map(|tool| associated(tool, private));
    let methods = tools.iter().map(|tool| method(tool, private));
    let checks = tools.iter().map(|tool| {
        let (conditions, allowances) = (&tool.conditions, &tool.allowances);
        let checks = definition::checks(tool, &places(tool), private);
        quote_spanned! {Span::mixed_site()=> #(#conditions)* #(#allowances)* #checks }
    });
    in_block(
        block,
        args,
        private,
        &quote_spanned! {Span::mixed_site()=>
            #(#constants)*

            #[allow(dead_code)]
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

/// The constants of one tool.
fn constants(tool: &ToolFn, private: &TokenStream) -> TokenStream {
    let ToolFn {
        conditions,
        allowances,
        ..
    } = tool;
    let places = places(tool);
    let outer = quote_spanned! {Span::mixed_site()=>
        #(#conditions)* #(#allowances)* #[allow(non_upper_case_globals)]
    };
    let params = tool.params.iter().zip(&places).map(|(param, place)| {
        let constant = param::constant(tool, param, place, private);
        quote_spanned! {Span::mixed_site()=> #outer #constant }
    });
    let definition = Names::of(&tool.function).definition;
    let text = definition::definition(tool, &places, private);
    quote_spanned! {Span::mixed_site()=>
        #(#params)*
        #outer
        const #definition: &'static #private::ToolDefinition = #text;
    }
}

/// One tool in the trait: its call, and what is called in place of a method that is not there.
///
/// A method of the type itself is found before.
fn declared(tool: &ToolFn, private: &TokenStream) -> TokenStream {
    let conditions = &tool.conditions;
    let call = call_head(&Names::of(&tool.function).call, private);
    let mut method = tool.function.clone();
    method.set_span(Span::mixed_site());
    let params = tool.params.iter().map(|param| {
        let conditions = &param.conditions;
        quote_spanned! {Span::mixed_site()=> #(#conditions)* _: impl ::core::marker::Sized }
    });
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        #call;
        #(#conditions)*
        fn #method(&self, #(#params),*) -> #private::Missing {
            #private::Missing
        }
    }
}

/// One tool in the `impl` block: its call.
fn associated(tool: &ToolFn, private: &TokenStream) -> TokenStream {
    let ToolFn {
        conditions,
        allowances,
        function,
        ..
    } = tool;
    let call = call_head(&Names::of(function).call, private);
    let body = call::body(tool, &Callee::Method(function), &places(tool), private);
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        #(#allowances)*
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

/// What the generated code calls the object's type.
pub(in crate::tool) const OBJECT: &str = "__AgentObject";

/// That name, where the user wrote the type.
fn object(block: &ImplBlock) -> Ident {
    Ident::new(OBJECT, located(block.self_type.span()))
}

fn places(tool: &ToolFn) -> Vec<Place> {
    let indices = 0..tool.params.len();
    indices
        .map(|index| Place::beside_object(&tool.function, index))
        .collect()
}

fn method(tool: &ToolFn, private: &TokenStream) -> TokenStream {
    let conditions = &tool.conditions;
    let Names { definition, call } = Names::of(&tool.function);
    let metadata = definition::metadata(tool, private);
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        #private::ToolMethod::new(
            #definition,
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
