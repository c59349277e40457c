//! The body of a call: arguments in, the function, its value out.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::Token;

use super::param::{self, Place};
use super::{Locals, located};
use crate::tool::model::ToolFn;

/// What is called.
pub(super) enum Callee<'a> {
    Function(&'a Ident),
    /// A method of the `impl` block in which the call stands, on the local `object`.
    Method(&'a Ident),
}

/// All arguments are read before the first fault is told, so that a model hears of each.
pub(super) fn body(
    tool: &ToolFn,
    callee: &Callee<'_>,
    places: &[Place],
    private: &TokenStream,
) -> TokenStream {
    let Locals {
        arguments,
        context,
        reader,
        object,
    } = Locals::new();
    let locals: Vec<Ident> = (0..tool.params.len())
        .map(|index| format_ident!("__agent_argument_{index}", span = Span::mixed_site()))
        .collect();
    let conditions: Vec<_> = tool.params.iter().map(|param| &param.conditions).collect();
    let reads = tool
        .params
        .iter()
        .zip(places)
        .map(|(param, place)| param::read(param, place, &reader, private));
    let passed = tool.params.iter().zip(&locals).map(|(param, local)| {
        param
            .ty
            .argument(&quote_spanned! {Span::mixed_site()=> #local }, private)
    });
    let (called, found, object) = match callee {
        Callee::Function(function) => {
            let any = tool.params.iter().map(|_| Token![_](Span::mixed_site()));
            // Where another function has the name, this says so, and nothing after it.
            let found = quote_spanned! {Span::mixed_site()=>
                let __agent_function: fn(#(#(#conditions)* #any),*) -> _ = #function;
            };
            let called = quote_spanned! {located(function.span())=>
                __agent_function(#(#(#conditions)* #passed),*)
            };
            (called, Some(found), None)
        }
        Callee::Method(method) => {
            let called = quote_spanned! {located(method.span())=>
                Self::#method(&#object, #(#(#conditions)* #passed),*)
            };
            // A thread outlives the call, so it needs the object for itself.
            let object = quote_spanned! {Span::mixed_site()=>
                let #object = #private::Clone::clone(#object);
            };
            (called, None, Some(object))
        }
    };
    let site = located(tool.output);
    let value = Ident::new("__agent_value", site);
    let conversion = quote_spanned! {site=>
        (&&&&&&#private::Probe::of(&#value)).__agent_conversion().convert(#value)
    };
    let converted = quote_spanned! {Span::mixed_site()=>
        {
            use #private::convert::*;
            #conversion
        }
    };
    let awaited = quote_spanned! {located(tool.function.span())=> .await };
    let run = if tool.is_async {
        quote_spanned! {Span::mixed_site()=>
            #found
            let #value = #private::require_send(#called)#awaited;
            #converted
        }
    } else {
        let work = quote_spanned! {Span::mixed_site()=>
            #found
            let #value = #called;
            #converted
        };
        // Under the function's name, where an argument shows that no other thread may have.
        let blocking = quote_spanned! {located(tool.function.span())=>
            __agent_blocking(#context, move || { #work }).await
        };
        quote_spanned! {Span::mixed_site()=>
            use #private::blocking as __agent_blocking;
            #object
            #blocking
        }
    };
    let taken = if tool.whole {
        let paths = places.iter().map(Place::name);
        quote_spanned! {Span::mixed_site()=>
            #(
                #(#conditions)*
                let #locals = #private::WholeParameter::take(&#paths, #arguments, #context)?;
            )*
        }
    } else {
        quote_spanned! {Span::mixed_site()=>
            let mut #reader = #private::ArgumentReader::new(#arguments, #context);
            #(#(#conditions)* let #locals = #reads;)*
            #(
                #(#conditions)*
                let #private::Some(#locals) = #locals else {
                    return #private::Err(#reader.into_error());
                };
            )*
            #reader.finish()?;
        }
    };
    quote_spanned! {Span::mixed_site()=>
        #private::Box::pin(async move {
            #taken
            #run
        })
    }
}
