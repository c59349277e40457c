//! The body of `ToolCallback::call`: arguments in, the function, its value out.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};

use crate::tool::model::{Param, ToolFn};

/// All arguments are read before the first fault is told, so that a model hears of each.
pub(super) fn body(tool: &ToolFn, private: &TokenStream) -> TokenStream {
    let locals: Vec<Ident> = (0..tool.params.len())
        .map(|index| format_ident!("argument_{index}", span = Span::mixed_site()))
        .collect();
    let conditions: Vec<_> = tool.params.iter().map(|param| &param.conditions).collect();
    let reads = tool.params.iter().map(|param| read(param, private));
    let passed = tool.params.iter().zip(&locals).map(|(param, local)| {
        param
            .ty
            .argument(&quote_spanned! {Span::mixed_site()=> #local }, private)
    });
    let function = &tool.function;
    let called = quote_spanned! {Span::mixed_site()=> #function(#(#(#conditions)* #passed),*) };
    let converted = quote_spanned! {Span::mixed_site()=>
        {
            use #private::convert::*;
            (&&&&#private::Probe::of(&value)).conversion().convert(value)
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
            let mut reader = #private::ArgumentReader::new(arguments, context);
            #(#(#conditions)* let #locals = reader.#reads;)*
            #(
                #(#conditions)*
                let #private::Some(#locals) = #locals else {
                    return #private::Err(reader.into_error());
                };
            )*
            reader.finish()?;
            #run
        })
    }
}

fn read(param: &Param, private: &TokenStream) -> TokenStream {
    let method = match (param.schemars, &param.default) {
        (false, None) => "take",
        (false, Some(_)) => "take_or",
        (true, None) => "take_schemars",
        (true, Some(_)) => "take_schemars_or",
    };
    let method = Ident::new(method, Span::mixed_site());
    let ty = param.ty.owned(private);
    let name = &*param.name;
    let default = param.default.as_ref().map(|default| {
        let value = default.expression();
        quote_spanned! {Span::mixed_site()=> , || #value }
    });
    quote_spanned! {Span::mixed_site()=> #method::<#ty>(#name #default) }
}
