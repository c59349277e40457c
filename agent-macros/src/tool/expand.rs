//! The generated code. Nothing is decided or refused here.
//!
//! All tokens have the span `mixed_site`, so that the locals below and the user's own
//! names cannot meet; the user's tokens keep theirs, so that rustc underlines them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt as _;

use super::args::Effect;
use super::model::{Param, ToolFn};
use crate::paths;
use crate::signature::{FnItem, conditions};

/// The type beside the function, with everything a tool is.
pub(super) fn tool(tool: &ToolFn) -> TokenStream {
    let private = &paths::private(tool.root.as_ref());
    let ToolFn {
        conditions,
        type_name,
        ..
    } = tool;
    let (name, description) = (&*tool.name, &tool.description);
    let definition_type = type_item(conditions, &tool.visibility, type_name, &tool.function);
    let parameters = tool.params.iter().map(|param| parameter(param, private));
    let metadata = metadata(tool, private);
    let call = call(tool, private);
    let submit = tool.register.then(|| {
        quote_spanned! {Span::mixed_site()=>
            #private::inventory::submit! { #private::ToolRegistration::new(#type_name::callback) }
        }
    });
    quote_spanned! {Span::mixed_site()=>
        #definition_type

        #(#conditions)*
        const _: () = {
            #[automatically_derived]
            impl #type_name {
                /// What a model is told about this tool.
                pub const DEFINITION: &'static #private::ToolDefinition = {
                    const PARAMETERS: &[#private::Parameter] = &[#(#parameters),*];
                    const LENGTH: #private::usize = #private::text_length(PARAMETERS);
                    const BYTES: [#private::u8; LENGTH] = #private::text_bytes::<LENGTH>(PARAMETERS);
                    static COMPOSED: #private::Composed = #private::Composed::new();
                    &#private::ToolDefinition::constant(
                        #name,
                        #description,
                        #private::InputSchema::constant(
                            PARAMETERS,
                            #private::text(PARAMETERS, &BYTES),
                            &COMPOSED,
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
                    const METADATA: #private::ToolMetadata = #metadata;
                    &METADATA
                }

                fn call<'a>(
                    &'a self,
                    arguments: &'a #private::str,
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
pub(super) fn stub(item: &FnItem) -> Option<TokenStream> {
    // With a `self` the function stands in an `impl`, where no type may stand.
    if item.signature.receiver().is_some() {
        return None;
    }
    let private = paths::private(None);
    let ident = &item.signature.ident;
    let conditions = conditions(&item.attributes);
    let definition_type = type_item(&conditions, &item.visibility, ident, ident);
    Some(quote_spanned! {Span::mixed_site()=>
        #definition_type

        #(#conditions)*
        const _: () = {
            impl #ident {
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
    let doc = format!("The tool made of the function `{}`.", function.unraw());
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)*
        #[doc = #doc]
        #[allow(non_camel_case_types, missing_copy_implementations)]
        #[derive(::core::fmt::Debug)]
        #visibility struct #type_name {}
    }
}

fn parameter(param: &Param, private: &TokenStream) -> TokenStream {
    let conditions = &param.conditions;
    let constructor = Ident::new(
        if param.schemars { "schemars" } else { "of" },
        Span::mixed_site(),
    );
    let ty = param.ty.owned(private);
    let name = &*param.name;
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
    quote_spanned! {Span::mixed_site()=>
        #(#conditions)* #private::Parameter::#constructor::<#ty>(#name) #described #with_default
    }
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

/// The body of `ToolCallback::call`: all arguments are read before the first fault is told.
fn call(tool: &ToolFn, private: &TokenStream) -> TokenStream {
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
            use #private::{ViaOutput as _, ViaResult as _, ViaSerialize as _, ViaNothing as _};
            (&&&#private::Probe::of(&value)).kind().convert(value)
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
        let value = default.expression(private);
        quote_spanned! {Span::mixed_site()=> , || #value }
    });
    quote_spanned! {Span::mixed_site()=> #method::<#ty>(#name #default) }
}
