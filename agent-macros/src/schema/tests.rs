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
        &expect![[r##"
            #[automatically_derived]
            impl<T: ::agent_core::__private::ToolSchema> ::agent_core::__private::ToolSchema
            for Page<T> {
                const SCHEMA: ::agent_core::__private::Schema = ::agent_core::__private::Schema::Described(
                    "A page.",
                    &::agent_core::__private::Schema::Joined(
                        &[
                            ::agent_core::__private::Schema::Object(
                                &[
                                    ::agent_core::__private::Property::of::<u8>("pageNumber")
                                        .described("Which one"),
                                    ::agent_core::__private::Property::of::<Vec<String>>("words")
                                        .with_default(::agent_core::__private::None),
                                    ::agent_core::__private::Property::of::<Option<u32>>("size")
                                        .constrained(const {
                                            let __agent_of = ::agent_core::__private::Property::of::<
                                                Option<u32>,
                                            >("size");
                                            &{
                                                let __agent_constraints = __agent_of.constraints();
                                                __agent_constraints
                                                    .check_value(::agent_core::__private::Bound::Integer(1i64));
                                                let __agent_constraints = __agent_constraints
                                                    .minimum(::agent_core::__private::Bound::Integer(1i64));
                                                let __agent_constraints = __agent_constraints.example("2");
                                                __agent_constraints
                                            }
                                        }),
                                ],
                            ),
                            ::agent_core::__private::Schema::members_of::<T>(),
                        ],
                    ),
                );
            }
        "##]],
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
                #[derive(::core::clone::Clone)]
                struct __AgentRef;
                impl ::agent_core::__private::ToolSchema for __AgentRef {
                    const SCHEMA: ::agent_core::__private::Schema = ::agent_core::__private::Schema::Ref(
                        "Folder",
                    );
                }
                #[automatically_derived]
                impl ::agent_core::__private::ToolSchema for Folder {
                    const SCHEMA: ::agent_core::__private::Schema = ::agent_core::__private::Schema::Def(
                        "Folder",
                        &::agent_core::__private::Schema::Object(
                            &[
                                ::agent_core::__private::Property::of::<String>("name"),
                                ::agent_core::__private::Property::of::<Vec<__AgentRef>>("folders"),
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
        &expect![[r##"
            #[automatically_derived]
            impl ::agent_core::__private::ToolSchema for Celsius {
                const SCHEMA: ::agent_core::__private::Schema = ::agent_core::__private::Schema::Described(
                    "Degrees Celsius.",
                    &::agent_core::__private::Schema::of::<f64>(),
                );
            }
        "##]],
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
        &expect![[r##"
            #[automatically_derived]
            impl ::agent_core::__private::ToolSchema for Unit {
                const SCHEMA: ::agent_core::__private::Schema = ::agent_core::__private::Schema::Described(
                    "- `metric`: Celsius and metres",
                    &::agent_core::__private::Schema::Enum(&["metric", "imperial"]),
                );
            }
        "##]],
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
        &expect![[r##"
            #[automatically_derived]
            impl ::agent_core::__private::ToolSchema for Command {
                const SCHEMA: ::agent_core::__private::Schema = ::agent_core::__private::Schema::AnyOf(
                    &[
                        ::agent_core::__private::Schema::Object(
                            &[
                                ::agent_core::__private::Property::new(
                                    "action",
                                    &::agent_core::__private::Schema::Enum(&["Close"]),
                                    true,
                                ),
                            ],
                        ),
                        ::agent_core::__private::Schema::Described(
                            "Opens a file",
                            &::agent_core::__private::Schema::Object(
                                &[
                                    ::agent_core::__private::Property::new(
                                        "action",
                                        &::agent_core::__private::Schema::Enum(&["Open"]),
                                        true,
                                    ),
                                    ::agent_core::__private::Property::of::<String>("path"),
                                ],
                            ),
                        ),
                        ::agent_core::__private::Schema::Joined(
                            &[
                                ::agent_core::__private::Schema::Object(
                                    &[
                                        ::agent_core::__private::Property::new(
                                            "action",
                                            &::agent_core::__private::Schema::Enum(&["Named"]),
                                            true,
                                        ),
                                    ],
                                ),
                                ::agent_core::__private::Schema::members_of::<Page>(),
                            ],
                        ),
                    ],
                );
            }
        "##]],
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
        &expect![[r##"
            #[automatically_derived]
            impl ::agent_core::__private::ToolSchema for Guest {
                const SCHEMA: ::agent_core::__private::Schema = ::agent_core::__private::Schema::Any;
            }
            ::core::compile_error! {
                "serde reads this field by the name it has there; write `#[serde(rename = \"fullName\")]`"
            }
        "##]],
    );
}
