//! What is made of an `impl` block.

use expect_test::expect;
use quote::quote;

use super::check;

#[test]
fn an_impl_block() {
    check(
        quote! {},
        &quote! {
            impl Station {
                const FACTOR: u8 = 2;

                /// Weather of a day.
                #[cfg(unix)]
                #[tool]
                async fn weather(&self, #[param(default = Self::FACTOR)] days: u8) -> &str {
                    body
                }

                fn helper(&mut self) {}

                #[tool(name = "where")]
                fn place(&self) -> String {
                    body
                }
            }
        },
        &expect![[r#"
            impl Station {
                const FACTOR: u8 = 2;
                #[allow(clippy::unused_async)]
                /// Weather of a day.
                #[cfg(unix)]
                async fn weather(&self, days: u8) -> &str {
                    body
                }
                fn helper(&mut self) {}
                fn place(&self) -> String {
                    body
                }
            }
            const _: () = {
                use ::agent_core::__private as __agent_private;
                type __AgentObject = Station;
                #[cfg(unix)]
                #[allow(non_upper_case_globals)]
                const __AGENT_PARAMETER_0_OF_weather: __agent_private::TypedParameter<u8> = __agent_private::typed::<
                    u8,
                >("days")
                    .with_default(__agent_private::None);
                #[cfg(unix)]
                #[allow(non_upper_case_globals)]
                const __AGENT_DEFINITION_OF_weather: &'static __agent_private::ToolDefinition = {
                    const __AGENT_PARAMETERS: &[__agent_private::Parameter] = &[
                        __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_0_OF_weather),
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
                        "weather",
                        "Weather of a day.",
                        __agent_private::InputSchema::constant(
                            __AGENT_INPUT,
                            __agent_private::text(__AGENT_INPUT, &__AGENT_BYTES),
                            &__AGENT_COMPOSED,
                        ),
                        __agent_private::InputSchema::output(
                            __agent_private::Returns::<&str>::__AGENT_SCHEMA,
                            &__AGENT_OUTPUT,
                        ),
                    )
                };
                #[allow(non_upper_case_globals)]
                const __AGENT_DEFINITION_OF_place: &'static __agent_private::ToolDefinition = {
                    const __AGENT_PARAMETERS: &[__agent_private::Parameter] = &[];
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
                        "where",
                        "place",
                        __agent_private::InputSchema::constant(
                            __AGENT_INPUT,
                            __agent_private::text(__AGENT_INPUT, &__AGENT_BYTES),
                            &__AGENT_COMPOSED,
                        ),
                        __agent_private::InputSchema::output(
                            __agent_private::Returns::<String>::__AGENT_SCHEMA,
                            &__AGENT_OUTPUT,
                        ),
                    )
                };
                #[allow(dead_code)]
                trait __AgentTools: ::core::marker::Sized {
                    #[cfg(unix)]
                    fn __agent_call_weather<'a>(
                        __agent_object: &'a __agent_private::Arc<Self>,
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a __agent_private::ToolContext,
                    ) -> __agent_private::BoxFuture<
                        'a,
                        __agent_private::Result<
                            __agent_private::ToolOutcome,
                            __agent_private::ToolError,
                        >,
                    >
                    where
                        for<'x> Self: __agent_private::Shared;
                    #[cfg(unix)]
                    fn weather(&self, _: impl ::core::marker::Sized) -> __agent_private::Missing {
                        __agent_private::Missing
                    }
                    fn __agent_call_place<'a>(
                        __agent_object: &'a __agent_private::Arc<Self>,
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a __agent_private::ToolContext,
                    ) -> __agent_private::BoxFuture<
                        'a,
                        __agent_private::Result<
                            __agent_private::ToolOutcome,
                            __agent_private::ToolError,
                        >,
                    >
                    where
                        for<'x> Self: __agent_private::Shared;
                    fn place(&self) -> __agent_private::Missing {
                        __agent_private::Missing
                    }
                }
                #[automatically_derived]
                impl __AgentTools for __AgentObject {
                    #[cfg(unix)]
                    fn __agent_call_weather<'a>(
                        __agent_object: &'a __agent_private::Arc<Self>,
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a __agent_private::ToolContext,
                    ) -> __agent_private::BoxFuture<
                        'a,
                        __agent_private::Result<
                            __agent_private::ToolOutcome,
                            __agent_private::ToolError,
                        >,
                    >
                    where
                        for<'x> Self: __agent_private::Shared,
                    {
                        __agent_private::Box::pin(async move {
                            let mut __agent_reader = __agent_private::ArgumentReader::new(
                                __agent_arguments,
                                __agent_context,
                            );
                            let __agent_argument_0 = __agent_private::TypedParameter::take_or(
                                &__AGENT_PARAMETER_0_OF_weather,
                                &mut __agent_reader,
                                || Self::FACTOR,
                            );
                            let __agent_private::Some(__agent_argument_0) = __agent_argument_0 else {
                                return __agent_private::Err(__agent_reader.into_error());
                            };
                            __agent_reader.finish()?;
                            let __agent_value = __agent_private::require_send(
                                    Self::weather(&__agent_object, __agent_argument_0),
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
                    fn __agent_call_place<'a>(
                        __agent_object: &'a __agent_private::Arc<Self>,
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a __agent_private::ToolContext,
                    ) -> __agent_private::BoxFuture<
                        'a,
                        __agent_private::Result<
                            __agent_private::ToolOutcome,
                            __agent_private::ToolError,
                        >,
                    >
                    where
                        for<'x> Self: __agent_private::Shared,
                    {
                        __agent_private::Box::pin(async move {
                            let mut __agent_reader = __agent_private::ArgumentReader::new(
                                __agent_arguments,
                                __agent_context,
                            );
                            __agent_reader.finish()?;
                            use __agent_private::blocking as __agent_blocking;
                            let __agent_object = __agent_private::Clone::clone(__agent_object);
                            __agent_blocking(
                                    __agent_context,
                                    move || {
                                        let __agent_value = Self::place(&__agent_object);
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
                #[cfg(unix)]
                const _: () = {
                    #[allow(unused_imports)]
                    use __agent_private::{
                        check_parameter as __agent_check_parameter, check_tool as __agent_check_tool,
                    };
                    __agent_check_parameter(
                        __agent_private::TypedParameter::parameter(&__AGENT_PARAMETER_0_OF_weather),
                        false,
                        false,
                        false,
                    );
                    __agent_check_tool(
                        &[
                            __agent_private::TypedParameter::parameter(
                                &__AGENT_PARAMETER_0_OF_weather,
                            ),
                        ],
                        "Weather of a day.",
                        false,
                    );
                };
                const _: () = {
                    #[allow(unused_imports)]
                    use __agent_private::{
                        check_parameter as __agent_check_parameter, check_tool as __agent_check_tool,
                    };
                    __agent_check_tool(&[], "place", false);
                };
                #[automatically_derived]
                impl __agent_private::WriteToolBlock2AboveTheSecondBlock<1u32> for __AgentObject {
                    fn methods() -> __agent_private::Vec<__agent_private::ToolMethod<Self>>
                    where
                        for<'x> Self: __agent_private::Shared,
                    {
                        #[allow(unused_imports)]
                        use __agent_private::blocks::*;
                        __agent_private::methods(
                            [
                                #[cfg(unix)]
                                __agent_private::ToolMethod::new(
                                    __AGENT_DEFINITION_OF_weather,
                                    __agent_private::ToolMetadata::new()
                                        .located(::core::file!(), ::core::line!()),
                                    <Self as __AgentTools>::__agent_call_weather,
                                ),
                                __agent_private::ToolMethod::new(
                                    __AGENT_DEFINITION_OF_place,
                                    __agent_private::ToolMetadata::new()
                                        .located(::core::file!(), ::core::line!())
                                        .blocking(true),
                                    <Self as __AgentTools>::__agent_call_place,
                                ),
                            ],
                            __agent_private::NextBlock::<Self, 2u32>::__agent_methods(),
                        )
                    }
                }
                #[automatically_derived]
                impl __agent_private::IntoTools for __AgentObject {
                    fn into_tools(
                        self,
                    ) -> __agent_private::Vec<
                        __agent_private::Arc<dyn __agent_private::ToolCallback>,
                    > {
                        __agent_private::callbacks_of::<Station>(self)
                    }
                }
            };
        "#]],
    );
}

#[test]
fn an_error_in_an_impl_block_leaves_the_block_and_a_stub() {
    check(
        quote! {},
        &quote! {
            impl Station {
                #[tool(nmae = "x")]
                fn place(&self, #[param(rename = "b")] a: u8) {}
            }
        },
        &expect![[r#"
            impl Station {
                fn place(&self, a: u8) {}
            }
            const _: () = {
                use ::agent_core::__private as __agent_private;
                type __AgentObject = Station;
                #[automatically_derived]
                impl __agent_private::WriteToolBlock2AboveTheSecondBlock<1u32> for __AgentObject {
                    fn methods() -> __agent_private::Vec<__agent_private::ToolMethod<Self>>
                    where
                        for<'x> Self: __agent_private::Shared,
                    {
                        #[allow(unused_imports)]
                        use __agent_private::blocks::*;
                        __agent_private::methods(
                            [],
                            __agent_private::NextBlock::<Self, 2u32>::__agent_methods(),
                        )
                    }
                }
                #[automatically_derived]
                impl __agent_private::IntoTools for __AgentObject {
                    fn into_tools(
                        self,
                    ) -> __agent_private::Vec<
                        __agent_private::Arc<dyn __agent_private::ToolCallback>,
                    > {
                        __agent_private::callbacks_of::<Station>(self)
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
                "a method is a tool only together with its `impl` block; write `#[tool]` above that too"
            }
        "##]],
    );
}
