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
            #[doc(hidden)]
            #[allow(non_snake_case, unreachable_pub)]
            mod __agent_tool_get_weather {
                #[allow(non_camel_case_types, missing_copy_implementations)]
                #[derive(::core::fmt::Debug)]
                pub struct get_weather {}
            }
            /// The tool made of the function `get_weather`: its `DEFINITION`, and `callback()` for an agent.
            #[allow(dead_code, non_camel_case_types)]
            pub type get_weather = __agent_tool_get_weather::get_weather;
            const _: () = {
                use ::agent_core::__private as __agent_private;
                const __AGENT_PARAMETER_0: __agent_private::TypedParameter<
                    <str as __agent_private::TakenByReference>::Owned,
                > = __agent_private::typed::<
                    <str as __agent_private::TakenByReference>::Owned,
                >("city")
                    .described("City name");
                const __AGENT_PARAMETER_1: __agent_private::TypedParameter<u8> = __agent_private::typed::<
                    u8,
                >("days")
                    .with_default(__agent_private::Some("1"));
                const __AGENT_PARAMETER_2: __agent_private::TypedParameter<
                    <ToolContext as __agent_private::TakenByReference>::Owned,
                > = __agent_private::typed::<
                    <ToolContext as __agent_private::TakenByReference>::Owned,
                >("context");
                const _: () = {
                    #[allow(unused_imports)]
                    use __agent_private::{
                        check_parameter as __agent_check_parameter, check_tool as __agent_check_tool,
                    };
                    __agent_check_parameter(
                        __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                        false,
                        false,
                        false,
                    );
                    __agent_check_parameter(
                        __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                        false,
                        false,
                        false,
                    );
                    __agent_check_parameter(
                        __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_2),
                        false,
                        false,
                        false,
                    );
                    __agent_check_tool(
                        &[
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_2),
                        ],
                        "Weather of a city.",
                        false,
                    );
                };
                #[automatically_derived]
                impl __agent_tool_get_weather::get_weather {
                    /// What a model is told about this tool.
                    pub const DEFINITION: &'static __agent_private::ToolDefinition = {
                        const __AGENT_PARAMETERS: &[__agent_private::Parameter] = &[
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_2),
                        ];
                        const __AGENT_INPUT: __agent_private::Input = __agent_private::Input::of(
                            __AGENT_PARAMETERS,
                        );
                        const __AGENT_LENGTH: ::core::primitive::usize = __agent_private::text_length(
                            __AGENT_INPUT,
                        );
                        const __AGENT_BYTES: [::core::primitive::u8; __AGENT_LENGTH] = __agent_private::text_bytes::<
                            __AGENT_LENGTH,
                        >(__AGENT_INPUT);
                        static __AGENT_COMPOSED: __agent_private::Composed = __agent_private::Composed::new();
                        static __AGENT_OUTPUT: __agent_private::Composed = __agent_private::Composed::new();
                        #[allow(unused_imports)]
                        use __agent_private::returns::*;
                        &__agent_private::ToolDefinition::constant_with_output(
                            "get_weather",
                            "Weather of a city.",
                            __agent_private::InputSchema::constant(
                                __AGENT_INPUT,
                                __agent_private::text(__AGENT_INPUT, &__AGENT_BYTES),
                                &__AGENT_COMPOSED,
                            ),
                            __agent_private::InputSchema::output(
                                __agent_private::Returns::<Result<String, Error>>::__AGENT_SCHEMA,
                                &__AGENT_OUTPUT,
                            ),
                        )
                    };
                    /// This tool, ready to be given to an agent.
                    #[must_use]
                    pub fn callback() -> __agent_private::Arc<dyn __agent_private::ToolCallback> {
                        __agent_private::Arc::new(Self {})
                    }
                }
                #[automatically_derived]
                impl __agent_private::ToolCallback for __agent_tool_get_weather::get_weather {
                    fn definition(&self) -> &__agent_private::ToolDefinition {
                        Self::DEFINITION
                    }
                    fn metadata(&self) -> &__agent_private::ToolMetadata {
                        const __AGENT_METADATA: __agent_private::ToolMetadata = __agent_private::ToolMetadata::new()
                            .located(::core::file!(), ::core::line!());
                        &__AGENT_METADATA
                    }
                    fn call<'a>(
                        &'a self,
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a __agent_private::ToolContext,
                    ) -> __agent_private::BoxFuture<
                        'a,
                        __agent_private::Result<
                            __agent_private::ToolOutcome,
                            __agent_private::ToolError,
                        >,
                    > {
                        __agent_private::Box::pin(async move {
                            let mut __agent_reader = __agent_private::ArgumentReader::new(
                                __agent_arguments,
                                __agent_context,
                            );
                            let __agent_argument_0 = __agent_private::TypedParameter::take(
                                &__AGENT_PARAMETER_0,
                                &mut __agent_reader,
                            );
                            let __agent_argument_1 = __agent_private::TypedParameter::take_or(
                                &__AGENT_PARAMETER_1,
                                &mut __agent_reader,
                                || 1,
                            );
                            let __agent_argument_2 = __agent_private::TypedParameter::take(
                                &__AGENT_PARAMETER_2,
                                &mut __agent_reader,
                            );
                            let __agent_private::Some(__agent_argument_0) = __agent_argument_0 else {
                                return __agent_private::Err(__agent_reader.into_error());
                            };
                            let __agent_private::Some(__agent_argument_1) = __agent_argument_1 else {
                                return __agent_private::Err(__agent_reader.into_error());
                            };
                            let __agent_private::Some(__agent_argument_2) = __agent_argument_2 else {
                                return __agent_private::Err(__agent_reader.into_error());
                            };
                            __agent_reader.finish()?;
                            let __agent_function: fn(_, _, _) -> _ = get_weather;
                            let __agent_value = __agent_private::require_send(
                                    __agent_function(
                                        <str as __agent_private::TakenByReference>::lend(
                                            &__agent_argument_0,
                                        ),
                                        __agent_argument_1,
                                        <ToolContext as __agent_private::TakenByReference>::lend(
                                            &__agent_argument_2,
                                        ),
                                    ),
                                )
                                .await;
                            {
                                use __agent_private::convert::*;
                                (&&&&&&__agent_private::Probe::of(&__agent_value))
                                    .__agent_conversion()
                                    .convert(__agent_value)
                            }
                        })
                    }
                }
                __agent_private::inventory::submit! {
                    __agent_private::ToolRegistration::new(__agent_tool_get_weather::get_weather::callback)
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
            #[doc(hidden)]
            #[allow(non_snake_case, unreachable_pub)]
            mod __agent_tool_Finder {
                #[allow(non_camel_case_types, missing_copy_implementations)]
                #[derive(::core::fmt::Debug)]
                pub struct Finder {}
            }
            #[cfg(unix)]
            #[cfg_attr(test, cfg(unix))]
            /// The tool made of the function `search`: its `DEFINITION`, and `callback()` for an agent.
            #[allow(dead_code, non_camel_case_types)]
            type Finder = __agent_tool_Finder::Finder;
            #[cfg(unix)]
            #[cfg_attr(test, cfg(unix))]
            const _: () = {
                use core_renamed::__private as __agent_private;
                const __AGENT_PARAMETER_0: __agent_private::TypedParameter<Filter> = __agent_private::typed_schemars::<
                    Filter,
                >("filter")
                    .described("What to find")
                    .with_default(__agent_private::None);
                #[cfg(unix)]
                const __AGENT_PARAMETER_1: __agent_private::TypedParameter<PathBuf> = __agent_private::typed_schemars::<
                    PathBuf,
                >("root");
                const _: () = {
                    #[allow(unused_imports)]
                    use __agent_private::{
                        check_parameter as __agent_check_parameter, check_tool as __agent_check_tool,
                    };
                    __agent_check_parameter(
                        __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                        false,
                        false,
                        false,
                    );
                    #[cfg(unix)]
                    __agent_check_parameter(
                        __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                        false,
                        false,
                        false,
                    );
                    __agent_check_tool(
                        &[
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                            #[cfg(unix)]
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                        ],
                        "Finds.",
                        false,
                    );
                };
                #[automatically_derived]
                impl __agent_tool_Finder::Finder {
                    /// What a model is told about this tool.
                    pub const DEFINITION: &'static __agent_private::ToolDefinition = {
                        const __AGENT_PARAMETERS: &[__agent_private::Parameter] = &[
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_0),
                            #[cfg(unix)]
                            __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_1),
                        ];
                        const __AGENT_INPUT: __agent_private::Input = __agent_private::Input::of(
                            __AGENT_PARAMETERS,
                        );
                        const __AGENT_LENGTH: ::core::primitive::usize = __agent_private::text_length(
                            __AGENT_INPUT,
                        );
                        const __AGENT_BYTES: [::core::primitive::u8; __AGENT_LENGTH] = __agent_private::text_bytes::<
                            __AGENT_LENGTH,
                        >(__AGENT_INPUT);
                        static __AGENT_COMPOSED: __agent_private::Composed = __agent_private::Composed::new();
                        static __AGENT_OUTPUT: __agent_private::Composed = __agent_private::Composed::new();
                        #[allow(unused_imports)]
                        use __agent_private::returns::*;
                        &__agent_private::ToolDefinition::constant_with_output(
                            "find",
                            "Finds.",
                            __agent_private::InputSchema::constant(
                                __AGENT_INPUT,
                                __agent_private::text(__AGENT_INPUT, &__AGENT_BYTES),
                                &__AGENT_COMPOSED,
                            ),
                            __agent_private::InputSchema::output(
                                __agent_private::Returns::<usize>::__AGENT_SCHEMA,
                                &__AGENT_OUTPUT,
                            ),
                        )
                    };
                    /// This tool, ready to be given to an agent.
                    #[must_use]
                    pub fn callback() -> __agent_private::Arc<dyn __agent_private::ToolCallback> {
                        __agent_private::Arc::new(Self {})
                    }
                }
                #[automatically_derived]
                impl __agent_private::ToolCallback for __agent_tool_Finder::Finder {
                    fn definition(&self) -> &__agent_private::ToolDefinition {
                        Self::DEFINITION
                    }
                    fn metadata(&self) -> &__agent_private::ToolMetadata {
                        const __AGENT_METADATA: __agent_private::ToolMetadata = __agent_private::ToolMetadata::new()
                            .located(::core::file!(), ::core::line!())
                            .return_direct(true)
                            .timeout_millis(120000u64)
                            .effect(__agent_private::Effect::Pure)
                            .blocking(true);
                        &__AGENT_METADATA
                    }
                    fn call<'a>(
                        &'a self,
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a __agent_private::ToolContext,
                    ) -> __agent_private::BoxFuture<
                        'a,
                        __agent_private::Result<
                            __agent_private::ToolOutcome,
                            __agent_private::ToolError,
                        >,
                    > {
                        __agent_private::Box::pin(async move {
                            let mut __agent_reader = __agent_private::ArgumentReader::new(
                                __agent_arguments,
                                __agent_context,
                            );
                            let __agent_argument_0 = __agent_private::TypedParameter::take_or(
                                &__AGENT_PARAMETER_0,
                                &mut __agent_reader,
                                || ::core::default::Default::default(),
                            );
                            #[cfg(unix)]
                            let __agent_argument_1 = __agent_private::TypedParameter::take(
                                &__AGENT_PARAMETER_1,
                                &mut __agent_reader,
                            );
                            let __agent_private::Some(__agent_argument_0) = __agent_argument_0 else {
                                return __agent_private::Err(__agent_reader.into_error());
                            };
                            #[cfg(unix)]
                            let __agent_private::Some(__agent_argument_1) = __agent_argument_1 else {
                                return __agent_private::Err(__agent_reader.into_error());
                            };
                            __agent_reader.finish()?;
                            use __agent_private::blocking as __agent_blocking;
                            __agent_blocking(
                                    __agent_context,
                                    move || {
                                        let __agent_function: fn(_, #[cfg(unix)] _) -> _ = search;
                                        let __agent_value = __agent_function(
                                            __agent_argument_0,
                                            #[cfg(unix)]
                                            __agent_argument_1,
                                        );
                                        {
                                            use __agent_private::convert::*;
                                            (&&&&&&__agent_private::Probe::of(&__agent_value))
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
            #[doc(hidden)]
            #[allow(non_snake_case, unreachable_pub)]
            mod __agent_tool_f {
                #[allow(non_camel_case_types, missing_copy_implementations)]
                #[derive(::core::fmt::Debug)]
                pub struct f {}
            }
            /// The tool made of the function `f`: its `DEFINITION`, and `callback()` for an agent.
            #[allow(dead_code, non_camel_case_types)]
            type f = __agent_tool_f::f;
            const _: () = {
                use ::agent_core::__private as __agent_private;
                impl __agent_tool_f::f {
                    pub fn callback() -> __agent_private::Arc<dyn __agent_private::ToolCallback> {
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
