//! What is made of a function.

use expect_test::expect;
use quote::quote;

use super::check;

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
                    <str as ::agent_core::__private::TakenByReference>::Owned,
                > = ::agent_core::__private::typed::<
                    <str as ::agent_core::__private::TakenByReference>::Owned,
                >("city")
                    .described("City name");
                const __AGENT_PARAMETER_1: ::agent_core::__private::TypedParameter<u8> = ::agent_core::__private::typed::<
                    u8,
                >("days")
                    .with_default(::agent_core::__private::Some("1"));
                const __AGENT_PARAMETER_2: ::agent_core::__private::TypedParameter<
                    <ToolContext as ::agent_core::__private::TakenByReference>::Owned,
                > = ::agent_core::__private::typed::<
                    <ToolContext as ::agent_core::__private::TakenByReference>::Owned,
                >("context");
                const _: () = {
                    #[allow(unused_imports)]
                    use ::agent_core::__private::{
                        check_parameter as __agent_check_parameter, check_tool as __agent_check_tool,
                    };
                    __agent_check_parameter(
                        ::agent_core::__private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                        false,
                        false,
                        false,
                    );
                    __agent_check_parameter(
                        ::agent_core::__private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                        false,
                        false,
                        false,
                    );
                    __agent_check_parameter(
                        ::agent_core::__private::TypedParameter::parameter(&__AGENT_PARAMETER_2),
                        false,
                        false,
                        false,
                    );
                    __agent_check_tool(
                        &[
                            ::agent_core::__private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                            ::agent_core::__private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                            ::agent_core::__private::TypedParameter::parameter(&__AGENT_PARAMETER_2),
                        ],
                        "Weather of a city.",
                        false,
                    );
                };
                #[automatically_derived]
                impl get_weather {
                    /// What a model is told about this tool.
                    pub const DEFINITION: &'static ::agent_core::__private::ToolDefinition = {
                        const __AGENT_PARAMETERS: &[::agent_core::__private::Parameter] = &[
                            ::agent_core::__private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                            ::agent_core::__private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                            ::agent_core::__private::TypedParameter::parameter(&__AGENT_PARAMETER_2),
                        ];
                        const __AGENT_INPUT: ::agent_core::__private::Input = ::agent_core::__private::Input::of(
                            __AGENT_PARAMETERS,
                        );
                        const __AGENT_LENGTH: ::core::primitive::usize = ::agent_core::__private::text_length(
                            __AGENT_INPUT,
                        );
                        const __AGENT_BYTES: [::core::primitive::u8; __AGENT_LENGTH] = ::agent_core::__private::text_bytes::<
                            __AGENT_LENGTH,
                        >(__AGENT_INPUT);
                        static __AGENT_COMPOSED: ::agent_core::__private::Composed = ::agent_core::__private::Composed::new();
                        static __AGENT_OUTPUT: ::agent_core::__private::Composed = ::agent_core::__private::Composed::new();
                        #[allow(unused_imports)]
                        use ::agent_core::__private::returns::*;
                        &::agent_core::__private::ToolDefinition::constant_with_output(
                            "get_weather",
                            "Weather of a city.",
                            ::agent_core::__private::InputSchema::constant(
                                __AGENT_INPUT,
                                ::agent_core::__private::text(__AGENT_INPUT, &__AGENT_BYTES),
                                &__AGENT_COMPOSED,
                            ),
                            ::agent_core::__private::InputSchema::output(
                                ::agent_core::__private::Returns::<
                                    Result<String, Error>,
                                >::__AGENT_SCHEMA,
                                &__AGENT_OUTPUT,
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
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a ::agent_core::__private::ToolContext,
                    ) -> ::agent_core::__private::BoxFuture<
                        'a,
                        ::agent_core::__private::Result<
                            ::agent_core::__private::ToolOutcome,
                            ::agent_core::__private::ToolError,
                        >,
                    > {
                        ::agent_core::__private::Box::pin(async move {
                            let mut __agent_reader = ::agent_core::__private::ArgumentReader::new(
                                __agent_arguments,
                                __agent_context,
                            );
                            let __agent_argument_0 = ::agent_core::__private::TypedParameter::take(
                                &__AGENT_PARAMETER_0,
                                &mut __agent_reader,
                            );
                            let __agent_argument_1 = ::agent_core::__private::TypedParameter::take_or(
                                &__AGENT_PARAMETER_1,
                                &mut __agent_reader,
                                || 1,
                            );
                            let __agent_argument_2 = ::agent_core::__private::TypedParameter::take(
                                &__AGENT_PARAMETER_2,
                                &mut __agent_reader,
                            );
                            let ::agent_core::__private::Some(__agent_argument_0) = __agent_argument_0
                            else {
                                return ::agent_core::__private::Err(__agent_reader.into_error());
                            };
                            let ::agent_core::__private::Some(__agent_argument_1) = __agent_argument_1
                            else {
                                return ::agent_core::__private::Err(__agent_reader.into_error());
                            };
                            let ::agent_core::__private::Some(__agent_argument_2) = __agent_argument_2
                            else {
                                return ::agent_core::__private::Err(__agent_reader.into_error());
                            };
                            __agent_reader.finish()?;
                            let __agent_value = ::agent_core::__private::require_send(
                                    get_weather(
                                        <str as ::agent_core::__private::TakenByReference>::lend(
                                            &__agent_argument_0,
                                        ),
                                        __agent_argument_1,
                                        <ToolContext as ::agent_core::__private::TakenByReference>::lend(
                                            &__agent_argument_2,
                                        ),
                                    ),
                                )
                                .await;
                            {
                                use ::agent_core::__private::convert::*;
                                (&&&&&&::agent_core::__private::Probe::of(&__agent_value))
                                    .__agent_conversion()
                                    .convert(__agent_value)
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
                >("filter")
                    .described("What to find")
                    .with_default(core_renamed::__private::None);
                #[cfg(unix)]
                const __AGENT_PARAMETER_1: core_renamed::__private::TypedParameter<PathBuf> = core_renamed::__private::typed_schemars::<
                    PathBuf,
                >("root");
                const _: () = {
                    #[allow(unused_imports)]
                    use core_renamed::__private::{
                        check_parameter as __agent_check_parameter, check_tool as __agent_check_tool,
                    };
                    __agent_check_parameter(
                        core_renamed::__private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                        false,
                        false,
                        false,
                    );
                    #[cfg(unix)]
                    __agent_check_parameter(
                        core_renamed::__private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                        false,
                        false,
                        false,
                    );
                    __agent_check_tool(
                        &[
                            core_renamed::__private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                            #[cfg(unix)]
                            core_renamed::__private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                        ],
                        "Finds.",
                        false,
                    );
                };
                #[automatically_derived]
                impl Finder {
                    /// What a model is told about this tool.
                    pub const DEFINITION: &'static core_renamed::__private::ToolDefinition = {
                        const __AGENT_PARAMETERS: &[core_renamed::__private::Parameter] = &[
                            core_renamed::__private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                            #[cfg(unix)]
                            core_renamed::__private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                        ];
                        const __AGENT_INPUT: core_renamed::__private::Input = core_renamed::__private::Input::of(
                            __AGENT_PARAMETERS,
                        );
                        const __AGENT_LENGTH: ::core::primitive::usize = core_renamed::__private::text_length(
                            __AGENT_INPUT,
                        );
                        const __AGENT_BYTES: [::core::primitive::u8; __AGENT_LENGTH] = core_renamed::__private::text_bytes::<
                            __AGENT_LENGTH,
                        >(__AGENT_INPUT);
                        static __AGENT_COMPOSED: core_renamed::__private::Composed = core_renamed::__private::Composed::new();
                        static __AGENT_OUTPUT: core_renamed::__private::Composed = core_renamed::__private::Composed::new();
                        #[allow(unused_imports)]
                        use core_renamed::__private::returns::*;
                        &core_renamed::__private::ToolDefinition::constant_with_output(
                            "find",
                            "Finds.",
                            core_renamed::__private::InputSchema::constant(
                                __AGENT_INPUT,
                                core_renamed::__private::text(__AGENT_INPUT, &__AGENT_BYTES),
                                &__AGENT_COMPOSED,
                            ),
                            core_renamed::__private::InputSchema::output(
                                core_renamed::__private::Returns::<usize>::__AGENT_SCHEMA,
                                &__AGENT_OUTPUT,
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
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a core_renamed::__private::ToolContext,
                    ) -> core_renamed::__private::BoxFuture<
                        'a,
                        core_renamed::__private::Result<
                            core_renamed::__private::ToolOutcome,
                            core_renamed::__private::ToolError,
                        >,
                    > {
                        core_renamed::__private::Box::pin(async move {
                            let mut __agent_reader = core_renamed::__private::ArgumentReader::new(
                                __agent_arguments,
                                __agent_context,
                            );
                            let __agent_argument_0 = core_renamed::__private::TypedParameter::take_or(
                                &__AGENT_PARAMETER_0,
                                &mut __agent_reader,
                                || ::core::default::Default::default(),
                            );
                            #[cfg(unix)]
                            let __agent_argument_1 = core_renamed::__private::TypedParameter::take(
                                &__AGENT_PARAMETER_1,
                                &mut __agent_reader,
                            );
                            let core_renamed::__private::Some(__agent_argument_0) = __agent_argument_0
                            else {
                                return core_renamed::__private::Err(__agent_reader.into_error());
                            };
                            #[cfg(unix)]
                            let core_renamed::__private::Some(__agent_argument_1) = __agent_argument_1
                            else {
                                return core_renamed::__private::Err(__agent_reader.into_error());
                            };
                            __agent_reader.finish()?;
                            use core_renamed::__private::blocking as __agent_blocking;
                            __agent_blocking(
                                    __agent_context,
                                    move || {
                                        let __agent_value = search(
                                            __agent_argument_0,
                                            #[cfg(unix)]
                                            __agent_argument_1,
                                        );
                                        {
                                            use core_renamed::__private::convert::*;
                                            (&&&&&&core_renamed::__private::Probe::of(&__agent_value))
                                                .__agent_conversion()
                                                .convert(__agent_value)
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
