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
                #[automatically_derived]
                #[allow(non_upper_case_globals)]
                impl Station {
                    #[cfg(unix)]
                    const __AGENT_PARAMETER_0_OF_weather: ::agent_core::__private::TypedParameter<
                        u8,
                    > = ::agent_core::__private::typed::<u8>("days")
                        .with_default(::agent_core::__private::None);
                    #[cfg(unix)]
                    const __AGENT_DEFINITION_OF_weather: &'static ::agent_core::__private::ToolDefinition = {
                        const __AGENT_PARAMETERS: &[::agent_core::__private::Parameter] = &[
                            ::agent_core::__private::TypedParameter::parameter(
                                &<Station>::__AGENT_PARAMETER_0_OF_weather,
                            ),
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
                            "weather",
                            "Weather of a day.",
                            ::agent_core::__private::InputSchema::constant(
                                __AGENT_INPUT,
                                ::agent_core::__private::text(__AGENT_INPUT, &__AGENT_BYTES),
                                &__AGENT_COMPOSED,
                            ),
                            ::agent_core::__private::InputSchema::output(
                                ::agent_core::__private::Returns::<&str>::__AGENT_SCHEMA,
                                &__AGENT_OUTPUT,
                            ),
                        )
                    };
                    #[cfg(unix)]
                    fn __agent_call_weather<'a>(
                        __agent_object: &'a ::agent_core::__private::Arc<Self>,
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a ::agent_core::__private::ToolContext,
                    ) -> ::agent_core::__private::BoxFuture<
                        'a,
                        ::agent_core::__private::Result<
                            ::agent_core::__private::ToolOutcome,
                            ::agent_core::__private::ToolError,
                        >,
                    >
                    where
                        for<'x> Self: ::agent_core::__private::Shared,
                    {
                        ::agent_core::__private::Box::pin(async move {
                            let mut __agent_reader = ::agent_core::__private::ArgumentReader::new(
                                __agent_arguments,
                                __agent_context,
                            );
                            let __agent_argument_0 = ::agent_core::__private::TypedParameter::take_or(
                                &<Station>::__AGENT_PARAMETER_0_OF_weather,
                                &mut __agent_reader,
                                || Self::FACTOR,
                            );
                            let ::agent_core::__private::Some(__agent_argument_0) = __agent_argument_0
                            else {
                                return ::agent_core::__private::Err(__agent_reader.into_error());
                            };
                            __agent_reader.finish()?;
                            let __agent_value = ::agent_core::__private::require_send(
                                    Self::weather(&__agent_object, __agent_argument_0),
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
                    const __AGENT_DEFINITION_OF_place: &'static ::agent_core::__private::ToolDefinition = {
                        const __AGENT_PARAMETERS: &[::agent_core::__private::Parameter] = &[];
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
                            "where",
                            "place",
                            ::agent_core::__private::InputSchema::constant(
                                __AGENT_INPUT,
                                ::agent_core::__private::text(__AGENT_INPUT, &__AGENT_BYTES),
                                &__AGENT_COMPOSED,
                            ),
                            ::agent_core::__private::InputSchema::output(
                                ::agent_core::__private::Returns::<String>::__AGENT_SCHEMA,
                                &__AGENT_OUTPUT,
                            ),
                        )
                    };
                    fn __agent_call_place<'a>(
                        __agent_object: &'a ::agent_core::__private::Arc<Self>,
                        __agent_arguments: &'a ::core::primitive::str,
                        __agent_context: &'a ::agent_core::__private::ToolContext,
                    ) -> ::agent_core::__private::BoxFuture<
                        'a,
                        ::agent_core::__private::Result<
                            ::agent_core::__private::ToolOutcome,
                            ::agent_core::__private::ToolError,
                        >,
                    >
                    where
                        for<'x> Self: ::agent_core::__private::Shared,
                    {
                        ::agent_core::__private::Box::pin(async move {
                            let mut __agent_reader = ::agent_core::__private::ArgumentReader::new(
                                __agent_arguments,
                                __agent_context,
                            );
                            __agent_reader.finish()?;
                            use ::agent_core::__private::blocking as __agent_blocking;
                            let __agent_object = ::agent_core::__private::Clone::clone(
                                __agent_object,
                            );
                            __agent_blocking(
                                    __agent_context,
                                    move || {
                                        let __agent_value = Self::place(&__agent_object);
                                        {
                                            use ::agent_core::__private::convert::*;
                                            (&&&&&&::agent_core::__private::Probe::of(&__agent_value))
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
                    use ::agent_core::__private::{
                        check_parameter as __agent_check_parameter, check_tool as __agent_check_tool,
                    };
                    __agent_check_parameter(
                        ::agent_core::__private::TypedParameter::parameter(
                            &<Station>::__AGENT_PARAMETER_0_OF_weather,
                        ),
                        false,
                        false,
                        false,
                    );
                    __agent_check_tool(
                        &[
                            ::agent_core::__private::TypedParameter::parameter(
                                &<Station>::__AGENT_PARAMETER_0_OF_weather,
                            ),
                        ],
                        "Weather of a day.",
                        false,
                    );
                };
                const _: () = {
                    #[allow(unused_imports)]
                    use ::agent_core::__private::{
                        check_parameter as __agent_check_parameter, check_tool as __agent_check_tool,
                    };
                    __agent_check_tool(&[], "place", false);
                };
                #[automatically_derived]
                impl ::agent_core::__private::WriteToolBlock2AboveTheSecondBlock<1u32> for Station {
                    fn methods() -> ::agent_core::__private::Vec<
                        ::agent_core::__private::ToolMethod<Self>,
                    >
                    where
                        for<'x> Self: ::agent_core::__private::Shared,
                    {
                        #[allow(unused_imports)]
                        use ::agent_core::__private::blocks::*;
                        ::agent_core::__private::methods(
                            [
                                #[cfg(unix)]
                                ::agent_core::__private::ToolMethod::new(
                                    Self::__AGENT_DEFINITION_OF_weather,
                                    ::agent_core::__private::ToolMetadata::new()
                                        .located(::core::file!(), ::core::line!()),
                                    Self::__agent_call_weather,
                                ),
                                ::agent_core::__private::ToolMethod::new(
                                    Self::__AGENT_DEFINITION_OF_place,
                                    ::agent_core::__private::ToolMetadata::new()
                                        .located(::core::file!(), ::core::line!())
                                        .blocking(true),
                                    Self::__agent_call_place,
                                ),
                            ],
                            ::agent_core::__private::NextBlock::<Self, 2u32>::__agent_methods(),
                        )
                    }
                }
                #[automatically_derived]
                impl ::agent_core::__private::IntoTools for Station {
                    fn into_tools(
                        self,
                    ) -> ::agent_core::__private::Vec<
                        ::agent_core::__private::Arc<dyn ::agent_core::__private::ToolCallback>,
                    > {
                        ::agent_core::__private::callbacks_of::<Station>(self)
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
                #[automatically_derived]
                impl ::agent_core::__private::WriteToolBlock2AboveTheSecondBlock<1u32> for Station {
                    fn methods() -> ::agent_core::__private::Vec<
                        ::agent_core::__private::ToolMethod<Self>,
                    >
                    where
                        for<'x> Self: ::agent_core::__private::Shared,
                    {
                        #[allow(unused_imports)]
                        use ::agent_core::__private::blocks::*;
                        ::agent_core::__private::methods(
                            [],
                            ::agent_core::__private::NextBlock::<Self, 2u32>::__agent_methods(),
                        )
                    }
                }
                #[automatically_derived]
                impl ::agent_core::__private::IntoTools for Station {
                    fn into_tools(
                        self,
                    ) -> ::agent_core::__private::Vec<
                        ::agent_core::__private::Arc<dyn ::agent_core::__private::ToolCallback>,
                    > {
                        ::agent_core::__private::callbacks_of::<Station>(self)
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
