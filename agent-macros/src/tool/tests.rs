//! What the attribute expands to, and the rules behind it.

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse_quote;

use super::names::{property_fault, tool_fault, words};
use crate::docs::{self, Text};

fn expansion(args: TokenStream, item: &TokenStream) -> String {
    let file = syn::parse2(super::attribute(args, item)).expect("the expansion is a file");
    prettyplease::unparse(&file)
}

fn check(args: TokenStream, item: &TokenStream, expected: &Expect) {
    expected.assert_eq(&expansion(args, item));
}

#[test]
fn an_async_function() {
    check(
        quote! {},
        &quote! {
            /// Weather of a city.
            pub async fn get_weather(
                /// City name
                city: &str,
                #[param(default = 1)] days: u8,
                context: &ToolContext,
            ) -> Result<String, Error> {
                body
            }
        },
        &expect![[r##"
            #[allow(clippy::unused_async)]
            /// Weather of a city.
            pub async fn get_weather(
                city: &str,
                days: u8,
                context: &ToolContext,
            ) -> Result<String, Error> {
                body
            }
            /// The tool made of the function `get_weather`.
            #[allow(non_camel_case_types, missing_copy_implementations)]
            #[derive(::core::fmt::Debug)]
            pub struct get_weather {}
            const _: () = {
                const __AGENT_PARAMETER_0: ::agent_core::__private::TypedParameter<
                    <str as ::agent_core::__private::ToOwned>::Owned,
                > = ::agent_core::__private::typed::<
                    <str as ::agent_core::__private::ToOwned>::Owned,
                >("city");
                const __AGENT_PARAMETER_1: ::agent_core::__private::TypedParameter<u8> = ::agent_core::__private::typed::<
                    u8,
                >("days");
                const __AGENT_PARAMETER_2: ::agent_core::__private::TypedParameter<
                    <ToolContext as ::agent_core::__private::ToOwned>::Owned,
                > = ::agent_core::__private::typed::<
                    <ToolContext as ::agent_core::__private::ToOwned>::Owned,
                >("context");
                #[automatically_derived]
                impl get_weather {
                    /// What a model is told about this tool.
                    pub const DEFINITION: &'static ::agent_core::__private::ToolDefinition = {
                        const __AGENT_PARAMETERS: &[::agent_core::__private::Parameter] = &[
                            __AGENT_PARAMETER_0.parameter().described("City name"),
                            __AGENT_PARAMETER_1
                                .parameter()
                                .with_default(::agent_core::__private::Some("1")),
                            __AGENT_PARAMETER_2.parameter(),
                        ];
                        const __AGENT_LENGTH: ::core::primitive::usize = ::agent_core::__private::text_length(
                            __AGENT_PARAMETERS,
                        );
                        const __AGENT_BYTES: [::core::primitive::u8; __AGENT_LENGTH] = ::agent_core::__private::text_bytes::<
                            __AGENT_LENGTH,
                        >(__AGENT_PARAMETERS);
                        static __AGENT_COMPOSED: ::agent_core::__private::Composed = ::agent_core::__private::Composed::new();
                        &::agent_core::__private::ToolDefinition::constant(
                            "get_weather",
                            "Weather of a city.",
                            ::agent_core::__private::InputSchema::constant(
                                __AGENT_PARAMETERS,
                                ::agent_core::__private::text(__AGENT_PARAMETERS, &__AGENT_BYTES),
                                &__AGENT_COMPOSED,
                            ),
                        )
                    };
                    /// This tool, ready to be given to an agent.
                    #[must_use]
                    pub fn callback() -> ::agent_core::__private::Arc<
                        dyn ::agent_core::__private::ToolCallback,
                    > {
                        ::agent_core::__private::Arc::new(Self {})
                    }
                }
                #[automatically_derived]
                impl ::agent_core::__private::ToolCallback for get_weather {
                    fn definition(&self) -> &::agent_core::__private::ToolDefinition {
                        Self::DEFINITION
                    }
                    fn metadata(&self) -> &::agent_core::__private::ToolMetadata {
                        const __AGENT_METADATA: ::agent_core::__private::ToolMetadata = ::agent_core::__private::ToolMetadata::new()
                            .located(::core::file!(), ::core::line!());
                        &__AGENT_METADATA
                    }
                    fn call<'a>(
                        &'a self,
                        arguments: &'a ::core::primitive::str,
                        context: &'a ::agent_core::__private::ToolContext,
                    ) -> ::agent_core::__private::BoxFuture<
                        'a,
                        ::agent_core::__private::Result<
                            ::agent_core::__private::ToolOutcome,
                            ::agent_core::__private::ToolError,
                        >,
                    > {
                        ::agent_core::__private::Box::pin(async move {
                            let mut reader = ::agent_core::__private::ArgumentReader::new(
                                arguments,
                                context,
                            );
                            let argument_0 = __AGENT_PARAMETER_0.take(&mut reader);
                            let argument_1 = __AGENT_PARAMETER_1.take_or(&mut reader, || 1);
                            let argument_2 = __AGENT_PARAMETER_2.take(&mut reader);
                            let ::agent_core::__private::Some(argument_0) = argument_0 else {
                                return ::agent_core::__private::Err(reader.into_error());
                            };
                            let ::agent_core::__private::Some(argument_1) = argument_1 else {
                                return ::agent_core::__private::Err(reader.into_error());
                            };
                            let ::agent_core::__private::Some(argument_2) = argument_2 else {
                                return ::agent_core::__private::Err(reader.into_error());
                            };
                            reader.finish()?;
                            let value = ::agent_core::__private::require_send(
                                    get_weather(
                                        ::agent_core::__private::Borrow::<str>::borrow(&argument_0),
                                        argument_1,
                                        ::agent_core::__private::Borrow::<
                                            ToolContext,
                                        >::borrow(&argument_2),
                                    ),
                                )
                                .await;
                            {
                                use ::agent_core::__private::convert::*;
                                (&&&&::agent_core::__private::Probe::of(&value))
                                    .conversion()
                                    .convert(value)
                            }
                        })
                    }
                }
                ::agent_core::__private::inventory::submit! {
                    ::agent_core::__private::ToolRegistration::new(get_weather::callback)
                }
            };
        "##]],
    );
}

#[test]
fn a_blocking_function_with_every_key() {
    check(
        quote! {
            name = "find", description = "Finds.", type = Finder, return_direct,
            timeout = "2m", effect = "pure", schemars, crate = core_renamed, register = false
        },
        &quote! {
            #[cfg(unix)]
            #[cfg_attr(test, cfg(unix), inline)]
            #[inline]
            fn search(
                #[param(rename = "filter", description = "What to find", default)] _by: Filter,
                #[cfg(unix)] mut root: PathBuf,
            ) -> usize {
                body
            }
        },
        &expect![[r##"
            #[cfg(unix)]
            #[cfg_attr(test, cfg(unix), inline)]
            #[inline]
            fn search(_by: Filter, #[cfg(unix)] mut root: PathBuf) -> usize {
                body
            }
            #[cfg(unix)]
            #[cfg_attr(test, cfg(unix))]
            /// The tool made of the function `search`.
            #[allow(non_camel_case_types, missing_copy_implementations)]
            #[derive(::core::fmt::Debug)]
            struct Finder {}
            #[cfg(unix)]
            #[cfg_attr(test, cfg(unix))]
            const _: () = {
                const __AGENT_PARAMETER_0: core_renamed::__private::TypedParameter<Filter> = core_renamed::__private::typed_schemars::<
                    Filter,
                >("filter");
                #[cfg(unix)]
                const __AGENT_PARAMETER_1: core_renamed::__private::TypedParameter<PathBuf> = core_renamed::__private::typed_schemars::<
                    PathBuf,
                >("root");
                #[automatically_derived]
                impl Finder {
                    /// What a model is told about this tool.
                    pub const DEFINITION: &'static core_renamed::__private::ToolDefinition = {
                        const __AGENT_PARAMETERS: &[core_renamed::__private::Parameter] = &[
                            __AGENT_PARAMETER_0
                                .parameter()
                                .described("What to find")
                                .with_default(core_renamed::__private::None),
                            #[cfg(unix)]
                            __AGENT_PARAMETER_1.parameter(),
                        ];
                        const __AGENT_LENGTH: ::core::primitive::usize = core_renamed::__private::text_length(
                            __AGENT_PARAMETERS,
                        );
                        const __AGENT_BYTES: [::core::primitive::u8; __AGENT_LENGTH] = core_renamed::__private::text_bytes::<
                            __AGENT_LENGTH,
                        >(__AGENT_PARAMETERS);
                        static __AGENT_COMPOSED: core_renamed::__private::Composed = core_renamed::__private::Composed::new();
                        &core_renamed::__private::ToolDefinition::constant(
                            "find",
                            "Finds.",
                            core_renamed::__private::InputSchema::constant(
                                __AGENT_PARAMETERS,
                                core_renamed::__private::text(__AGENT_PARAMETERS, &__AGENT_BYTES),
                                &__AGENT_COMPOSED,
                            ),
                        )
                    };
                    /// This tool, ready to be given to an agent.
                    #[must_use]
                    pub fn callback() -> core_renamed::__private::Arc<
                        dyn core_renamed::__private::ToolCallback,
                    > {
                        core_renamed::__private::Arc::new(Self {})
                    }
                }
                #[automatically_derived]
                impl core_renamed::__private::ToolCallback for Finder {
                    fn definition(&self) -> &core_renamed::__private::ToolDefinition {
                        Self::DEFINITION
                    }
                    fn metadata(&self) -> &core_renamed::__private::ToolMetadata {
                        const __AGENT_METADATA: core_renamed::__private::ToolMetadata = core_renamed::__private::ToolMetadata::new()
                            .located(::core::file!(), ::core::line!())
                            .return_direct(true)
                            .timeout_millis(120000u64)
                            .effect(core_renamed::__private::Effect::Pure)
                            .blocking(true);
                        &__AGENT_METADATA
                    }
                    fn call<'a>(
                        &'a self,
                        arguments: &'a ::core::primitive::str,
                        context: &'a core_renamed::__private::ToolContext,
                    ) -> core_renamed::__private::BoxFuture<
                        'a,
                        core_renamed::__private::Result<
                            core_renamed::__private::ToolOutcome,
                            core_renamed::__private::ToolError,
                        >,
                    > {
                        core_renamed::__private::Box::pin(async move {
                            let mut reader = core_renamed::__private::ArgumentReader::new(
                                arguments,
                                context,
                            );
                            let argument_0 = __AGENT_PARAMETER_0
                                .take_or(&mut reader, || ::core::default::Default::default());
                            #[cfg(unix)]
                            let argument_1 = __AGENT_PARAMETER_1.take(&mut reader);
                            let core_renamed::__private::Some(argument_0) = argument_0 else {
                                return core_renamed::__private::Err(reader.into_error());
                            };
                            #[cfg(unix)]
                            let core_renamed::__private::Some(argument_1) = argument_1 else {
                                return core_renamed::__private::Err(reader.into_error());
                            };
                            reader.finish()?;
                            core_renamed::__private::blocking(
                                    context,
                                    move || {
                                        let value = search(argument_0, #[cfg(unix)] argument_1);
                                        {
                                            use core_renamed::__private::convert::*;
                                            (&&&&core_renamed::__private::Probe::of(&value))
                                                .conversion()
                                                .convert(value)
                                        }
                                    },
                                )
                                .await
                        })
                    }
                }
            };
        "##]],
    );
}

#[test]
fn an_error_leaves_the_function_and_a_stub() {
    check(
        quote! { nmae = "x" },
        &quote! { fn f(/** docs */ #[param(rename = "b")] a: u8) {} },
        &expect![[r#"
            fn f(a: u8) {}
            /// The tool made of the function `f`.
            #[allow(non_camel_case_types, missing_copy_implementations)]
            #[derive(::core::fmt::Debug)]
            struct f {}
            const _: () = {
                impl f {
                    pub fn callback() -> ::agent_core::__private::Arc<
                        dyn ::agent_core::__private::ToolCallback,
                    > {
                        ::core::unreachable!()
                    }
                }
            };
            ::core::compile_error! {
                "Unknown field: `nmae`. Did you mean `name`?"
            }
        "#]],
    );
}

#[test]
fn an_error_in_a_method_leaves_the_method_alone() {
    check(
        quote! {},
        &quote! { async fn f(&self) {} },
        &expect![[r##"
            #[allow(clippy::unused_async)]
            async fn f(&self) {}
            ::core::compile_error! {
                "a tool is a free function without `self`"
            }
        "##]],
    );
}

#[test]
fn names_are_what_every_provider_takes() {
    for good in [
        "a",
        "_",
        "get_weather",
        "get-weather",
        "A1",
        &"x".repeat(64),
    ] {
        assert_eq!(tool_fault(good), None, "{good}");
    }
    for bad in ["", "1a", "-a", "a b", "a.b", "wetter_für", &"x".repeat(65)] {
        assert!(tool_fault(bad).is_some(), "{bad}");
    }
    assert!(property_fault("get-weather").is_some());
    assert_eq!(property_fault("get_weather"), None);
}

#[test]
fn a_name_is_split_into_words() {
    assert_eq!(words("get_weather"), "get weather");
    assert_eq!(words("getWeather"), "get weather");
    assert_eq!(words("_get__weather2Day"), "get weather2 day");
    assert_eq!(words("readHTML"), "read html");
    assert_eq!(words("now"), "now");
}

fn described(attributes: &[syn::Attribute]) -> Option<String> {
    match docs::description(attributes)? {
        Text::Known(text) => Some(text),
        composed => Some(quote::ToTokens::to_token_stream(&composed).to_string()),
    }
}

#[test]
fn a_doc_comment_loses_one_space_per_line_and_its_blank_ends() {
    let attributes: Vec<syn::Attribute> = vec![
        parse_quote!(#[doc = ""]),
        parse_quote!(#[doc = " First."]),
        parse_quote!(#[inline]),
        parse_quote!(#[doc = ""]),
        parse_quote!(#[doc(hidden)]),
        parse_quote!(#[doc = "   - indented"]),
        parse_quote!(#[doc = " "]),
    ];

    assert_eq!(
        described(&attributes).as_deref(),
        Some("First.\n\n  - indented")
    );
}

#[test]
fn a_blank_doc_comment_is_none() {
    assert_eq!(described(&[parse_quote!(#[doc = "  "])]), None);
}

#[test]
fn a_doc_comment_from_a_file_is_put_together_by_the_compiler() {
    let attributes: Vec<syn::Attribute> = vec![
        parse_quote!(#[doc = " First."]),
        parse_quote!(#[doc = include_str!("a.md")]),
    ];

    assert_eq!(
        described(&attributes).as_deref(),
        Some(
            r#":: core :: concat ! ("First." , "\n" , include_str ! ("a.md") , "\n") . trim_ascii ()"#
        )
    );
}
