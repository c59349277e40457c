//! What the derive expands to.

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;
use quote::quote;

fn check(item: TokenStream, expected: &Expect) {
    let file = syn::parse2(super::derive(item)).expect("the expansion is a file");
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn a_struct_with_named_fields() {
    check(
        quote! {
            /// A page.
            #[serde(rename_all = "camelCase")]
            struct Page<T> {
                /// Which one
                page_number: u8,
                #[serde(default)]
                words: Vec<String>,
                #[param(minimum = 1, example = 2)]
                size: Option<u32>,
                #[serde(flatten)]
                filter: T,
                #[serde(skip)]
                seen: bool,
            }
        },
        &expect![[r#"
            const _: () = {
                use ::agent_core::__private as __agent_private;
                #[automatically_derived]
                impl<T: __agent_private::ToolSchema> __agent_private::ToolSchema for Page<T> {
                    const SCHEMA: __agent_private::Schema = __agent_private::Schema::Described(
                        "A page.",
                        &__agent_private::Schema::Joined(
                            &[
                                __agent_private::Schema::Object(
                                    &[
                                        __agent_private::Property::of::<u8>("pageNumber")
                                            .described("Which one"),
                                        __agent_private::Property::of::<Vec<String>>("words")
                                            .with_default(__agent_private::None),
                                        __agent_private::Property::of::<Option<u32>>("size")
                                            .constrained(const {
                                                let __agent_of = __agent_private::Property::of::<
                                                    Option<u32>,
                                                >("size");
                                                &{
                                                    let __agent_constraints = __agent_of.constraints();
                                                    __agent_constraints
                                                        .check_value(__agent_private::Bound::Integer(1i64));
                                                    let __agent_constraints = __agent_constraints
                                                        .minimum(__agent_private::Bound::Integer(1i64));
                                                    let __agent_constraints = __agent_constraints.example("2");
                                                    __agent_constraints
                                                }
                                            }),
                                    ],
                                ),
                                __agent_private::Schema::members_of::<T>(),
                            ],
                        ),
                    );
                }
            };
        "#]],
    );
}

#[test]
fn a_type_that_holds_itself() {
    check(
        quote! {
            struct Folder {
                name: String,
                folders: Vec<Folder>,
            }
        },
        &expect![[r#"
            const _: () = {
                use ::agent_core::__private as __agent_private;
                #[derive(::core::clone::Clone)]
                struct __AgentRef;
                impl __agent_private::ToolSchema for __AgentRef {
                    const SCHEMA: __agent_private::Schema = __agent_private::Schema::Ref("Folder");
                }
                #[automatically_derived]
                impl __agent_private::ToolSchema for Folder {
                    const SCHEMA: __agent_private::Schema = __agent_private::Schema::Def(
                        "Folder",
                        &__agent_private::Schema::Object(
                            &[
                                __agent_private::Property::of::<String>("name"),
                                __agent_private::Property::of::<Vec<__AgentRef>>("folders"),
                            ],
                        ),
                    );
                }
            };
        "#]],
    );
}

#[test]
fn a_newtype() {
    check(
        quote! {
            /// Degrees Celsius.
            struct Celsius(f64);
        },
        &expect![[r#"
            const _: () = {
                use ::agent_core::__private as __agent_private;
                #[automatically_derived]
                impl __agent_private::ToolSchema for Celsius {
                    const SCHEMA: __agent_private::Schema = __agent_private::Schema::Described(
                        "Degrees Celsius.",
                        &__agent_private::Schema::of::<f64>(),
                    );
                }
            };
        "#]],
    );
}

#[test]
fn an_enum_of_names() {
    check(
        quote! {
            #[serde(rename_all = "lowercase")]
            enum Unit {
                /// Celsius and metres
                Metric,
                #[serde(alias = "us")]
                Imperial,
            }
        },
        &expect![[r#"
            const _: () = {
                use ::agent_core::__private as __agent_private;
                #[automatically_derived]
                impl __agent_private::ToolSchema for Unit {
                    const SCHEMA: __agent_private::Schema = __agent_private::Schema::Described(
                        "- `metric`: Celsius and metres",
                        &__agent_private::Schema::Enum(&["metric", "imperial"]),
                    );
                }
            };
        "#]],
    );
}

#[test]
fn an_enum_with_a_tag() {
    check(
        quote! {
            #[serde(tag = "action")]
            enum Command {
                /// Opens a file
                Open { path: String },
                Named(Page),
                Close,
            }
        },
        &expect![[r#"
            const _: () = {
                use ::agent_core::__private as __agent_private;
                #[automatically_derived]
                impl __agent_private::ToolSchema for Command {
                    const SCHEMA: __agent_private::Schema = __agent_private::Schema::AnyOf(
                        &[
                            __agent_private::Schema::Object(
                                &[
                                    __agent_private::Property::new(
                                        "action",
                                        &__agent_private::Schema::Enum(&["Close"]),
                                        true,
                                    ),
                                ],
                            ),
                            __agent_private::Schema::Described(
                                "Opens a file",
                                &__agent_private::Schema::Object(
                                    &[
                                        __agent_private::Property::new(
                                            "action",
                                            &__agent_private::Schema::Enum(&["Open"]),
                                            true,
                                        ),
                                        __agent_private::Property::of::<String>("path"),
                                    ],
                                ),
                            ),
                            __agent_private::Schema::Joined(
                                &[
                                    __agent_private::Schema::Object(
                                        &[
                                            __agent_private::Property::new(
                                                "action",
                                                &__agent_private::Schema::Enum(&["Named"]),
                                                true,
                                            ),
                                        ],
                                    ),
                                    __agent_private::Schema::members_of::<Page>(),
                                ],
                            ),
                        ],
                    );
                }
            };
        "#]],
    );
}

#[test]
fn an_error_leaves_a_stub() {
    check(
        quote! {
            struct Guest {
                #[param(rename = "fullName")]
                name: String,
            }
        },
        &expect![[r#"
            const _: () = {
                use ::agent_core::__private as __agent_private;
                #[automatically_derived]
                impl __agent_private::ToolSchema for Guest {
                    const SCHEMA: __agent_private::Schema = __agent_private::Schema::Any;
                }
            };
            ::core::compile_error! {
                "serde reads this field by the name it has there; write `#[serde(rename = \"fullName\")]`"
            }
        "#]],
    );
}
