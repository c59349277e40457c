//! The body of `ToolCallback::call`: arguments in, the function, its value out.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use super::{located, param};
use crate::tool::model::ToolFn;

/// All arguments are read before the first fault is told, so that a model hears of each.
pub(super) fn body(tool: &ToolFn, private: &TokenStream) -> TokenStream {
    let locals: Vec<Ident> = (0..tool.params.len())
        .map(|index| format_ident!("argument_{index}", span = Span::mixed_site()))
        .collect();
    let conditions: Vec<_> = tool.params.iter().map(|param| &param.conditions).collect();
    let reader = Ident::new("reader", Span::mixed_site());
    let reads = tool.params.iter().enumerate();
    let reads = reads.map(|(index, param)| param::read(index, param, &reader));
    let passed = tool.params.iter().zip(&locals).map(|(param, local)| {
        param
            .ty
            .argument(&quote_spanned! {Span::mixed_site()=> #local }, private)
    });
    let function = &tool.function;
    let called = quote_spanned! {located(function.span())=>
        #function(#(#(#conditions)* #passed),*)
    };
    let conversion = quote_spanned! {located(tool.output)=>
        (&&&&#private::Probe::of(&value)).conversion().convert(value)
    };
    let converted = quote_spanned! {Span::mixed_site()=>
        {
            use #private::convert::*;
            #conversion
        }
    };
    let run = if tool.is_async {
        quote_spanned! {Span::mixed_site()=>
            let value = #private::require_send(#called).await;
            #converted
        }
    } else {
        quote_spanned! {Span::mixed_site()=>
            #private::blocking(context, move || {
                let value = #called;
                #converted
            })
            .await
        }
    };
    quote_spanned! {Span::mixed_site()=>
        #private::Box::pin(async move {
            let mut #reader = #private::ArgumentReader::new(arguments, context);
            #(#(#conditions)* let #locals = #reads;)*
            #(
                #(#conditions)*
                let #private::Some(#locals) = #locals else {
                    return #private::Err(#reader.into_error());
                };
            )*
            #reader.finish()?;
            #run
        })
    }
}
