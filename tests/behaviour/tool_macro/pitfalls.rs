//! What has gone wrong in tool macros elsewhere, and in ours.
//!
//! Those with a compiler's answer are in `tests/ui`: a typo costs one error and keeps the function
//! (`unknown-key`, `used-in-spite-of-an-error`), references inside types (`reference-inside-a-type`),
//! `Send` at the function (`future-not-send`), errors of a parameter at the parameter
//! (`parameter-without-schema`), two tools of one name (`impl-two-tools-of-one-name`), no description
//! under `require_docs` (`checked-tool-without-docs`, `checked-argument-without-docs`,
//! `checked-field-without-docs`), a block without a tool (TS-13:
//! `impl-without-a-tool`). What stands beside null in a union is in `schema::dialect_forms`, a
//! reference to a tuple in `schema::dialect_values`. A crate that depends on `agent-core` alone,
//! and under another name, is `tests/fixtures/renamed`.
#![deny(
    missing_docs,
    clippy::pedantic,
    clippy::exhaustive_structs,
    clippy::missing_const_for_fn,
    reason = "what a strict user asks of all code"
)]
#![allow(
    clippy::unused_async,
    clippy::missing_panics_doc,
    clippy::needless_pass_by_value,
    reason = "the tools of these tests need not be good ones"
)]

use agent_core::tool::IntoTools as _;
use agent_core::{ToolContext, tool, tools};
use serde_json::json;

use super::told;

/// Names that generated code could use for its own values. A pattern that names a constant is no
/// binding.
#[allow(
    non_upper_case_globals,
    dead_code,
    reason = "they only stand in the way"
)]
mod constants {
    use agent_core::{ToolContext, tool};

    const value: u8 = 1;
    const reader: u8 = 2;
    const arguments: u8 = 3;
    const argument_0: u8 = 4;
    const context: u8 = 5;
    const object: u8 = 6;
    const parameter: u8 = 7;
    static input: u8 = 8;
    static output: u8 = 9;

    /// Adds up.
    #[tool(register = false)]
    pub(super) async fn sums(#[param(minimum = 0)] first: i64, _context: &ToolContext) -> i64 {
        first + i64::from(value + argument_0 + input)
    }

    /// Adds up, on a thread.
    #[tool(register = false)]
    pub(super) fn sums_in_place(first: i64) -> i64 {
        first + i64::from(reader + output)
    }
}

// pitfall: helpers and values at module level collide with the user's
#[tokio::test]
async fn constants_of_any_name_may_stand_beside_a_tool() {
    assert_eq!(
        told(constants::sums::callback(), r#"{"first":1}"#).await,
        "14"
    );
    assert_eq!(
        told(constants::sums_in_place::callback(), r#"{"first":1}"#).await,
        "12"
    );
}

/// A trait for everything, with methods of the names that generated code calls.
mod blanket {
    use agent_core::tool;

    #[allow(dead_code, reason = "they only stand in the way")]
    pub(super) trait Everything: Sized {
        fn conversion(&self) -> u8 {
            0
        }
        fn convert(self, _: u8) -> u8 {
            0
        }
        fn take(self) -> u8 {
            0
        }
        fn parameter(&self) -> u8 {
            0
        }
        fn into_tool_output(self) -> u8 {
            0
        }
    }

    impl<T> Everything for T {}

    /// Says it again.
    #[tool(register = false)]
    pub(super) async fn says(text: String) -> String {
        text
    }
}

#[tokio::test]
async fn a_users_trait_for_all_types_is_not_called() {
    assert_eq!(
        told(blanket::says::callback(), r#"{"text":"a"}"#).await,
        "a"
    );
}

/// An alias of a context is a context, and one of an argument an argument.
mod aliases {
    use agent_core::{ToolContext, tool};

    type Surroundings = ToolContext;
    type Names = Vec<String>;
    type Answer<T> = Result<T, std::num::ParseIntError>;

    /// Counts.
    #[tool(register = false)]
    pub(super) async fn counts(names: Names, _surroundings: &Surroundings) -> Answer<usize> {
        Ok(names.len())
    }
}

// pitfall: aliases give an empty schema, contexts are told by name, aliases of `Result` are refused
#[tokio::test]
async fn types_are_told_apart_by_traits_and_not_by_names() {
    let schema = aliases::counts::DEFINITION.input_schema().value();

    assert_eq!(
        schema["properties"],
        json!({"names": {"type": "array", "items": {"type": "string"}}})
    );
    assert_eq!(
        told(aliases::counts::callback(), r#"{"names":["a"]}"#).await,
        "1"
    );
}

/// A type and a static of these names would be one.
mod short {
    use agent_core::tool;

    /// Gives one.
    #[tool(register = false)]
    pub(super) async fn g() -> u8 {
        1
    }

    /// Not a tool.
    pub(super) const G: u8 = 2;
}

// pitfall: the names of type and static collide
#[tokio::test]
async fn a_tool_of_one_letter_and_a_constant_of_it_live_together() {
    assert_eq!(
        told(short::g::callback(), "").await,
        (short::G - 1).to_string()
    );
}

/// Two defaults for one name.
#[tool(register = false)]
async fn first(#[param(default = one())] count: u8) -> u8 {
    count
}

/// Two defaults for one name.
#[tool(register = false)]
async fn second(#[param(default = one() + 1)] count: u8) -> u8 {
    count
}

const fn one() -> u8 {
    1
}

// pitfall: helpers of defaults collide between two tools
#[tokio::test]
async fn two_tools_may_have_defaults_of_one_name() {
    assert_eq!(told(first::callback(), "").await, "1");
    assert_eq!(told(second::callback(), "").await, "2");
}

/// Has every right to be here.
#[tool(register = false)]
#[allow(clippy::too_many_arguments, reason = "kept with the function")]
#[allow(clippy::many_single_char_names, reason = "kept as well")]
async fn attributed(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8) -> u8 {
    a + b + c + d + e + f + g + h
}

// pitfall: attributes of the function are lost, the function disappears or becomes async
#[tokio::test]
async fn the_function_is_what_it_was() {
    let sum: u8 = attributed(1, 1, 1, 1, 1, 1, 1, 1).await;
    let synchronous: i64 = constants::sums_in_place(1);

    assert_eq!((sum, synchronous), (8, 12));
}

/// Counts.
#[tool(register = false)]
async fn strict(count: u8) -> u8 {
    count
}

// pitfall: a missing argument panics, a malformed one becomes the default, extra ones are refused
#[tokio::test]
async fn what_is_missing_or_malformed_is_an_error_and_what_is_extra_is_dropped() {
    let context = ToolContext::default();
    for arguments in ["{}", r#"{"count":"many"}"#, r#"{"count":[]}"#] {
        strict::callback()
            .call(arguments, &context)
            .await
            .unwrap_err();
    }

    assert_eq!(
        told(strict::callback(), r#"{"count":1,"more":2}"#).await,
        "1"
    );
}

/// Was good.
#[deprecated]
#[tool(register = false)]
async fn old() {}

#[test]
fn a_deprecated_tool_is_one_where_it_is_named() {
    assert_eq!(tools![old][0].definition().name(), "old");
}

/// Where nothing has a name but what is written out.
#[no_implicit_prelude]
mod without_a_prelude {
    use ::agent_core::{ToolSchema, tool};
    use ::serde::Deserialize;
    use ::std::option::Option;
    use ::std::string::String;
    use ::std::vec::Vec;

    #[derive(Deserialize, ToolSchema)]
    pub(super) struct Part {
        #[param(minimum = 1)]
        count: u8,
        #[serde(default)]
        parts: Vec<Part>,
        kind: Option<Kind>,
    }

    #[derive(Deserialize, ToolSchema)]
    pub(super) enum Kind {
        Plain,
        Named { name: String },
    }

    /// Counts.
    #[tool(register = false)]
    pub(super) async fn count(
        part: Part,
        #[param(default = 2, maximum = 9)] times: u8,
        #[param(example = "x")] _note: Option<String>,
    ) -> ::std::result::Result<u8, ::std::fmt::Error> {
        let inner: u8 =
            ::std::iter::Iterator::sum(::std::iter::Iterator::map(part.parts.iter(), |part| {
                part.count
            }));
        let named: u8 = match part.kind {
            Option::Some(Kind::Named { name }) => ::std::convert::From::from(!name.is_empty()),
            Option::Some(Kind::Plain) | Option::None => 0,
        };
        let all = part.count.checked_add(inner + named);
        ::std::result::Result::Ok(all.ok_or(::std::fmt::Error)? * times)
    }

    /// Counts in place.
    #[tool(register = false, args)]
    #[allow(clippy::missing_const_for_fn)]
    pub(super) fn count_one(part: Part) -> u8 {
        part.count
    }

    pub(super) struct Counter;

    #[tool]
    impl Counter {
        /// Counts letters.
        #[tool]
        #[allow(clippy::unused_self, clippy::missing_const_for_fn)]
        fn letters(&self, text: &str) -> usize {
            text.len()
        }
    }
}

// pitfall: generated code names what only the prelude has
#[tokio::test]
async fn a_module_without_a_prelude_may_have_tools() {
    let part = r#"{"count":1,"parts":[{"count":2}],"kind":{"Named":{"name":"4"}}}"#;

    assert_eq!(
        told(
            without_a_prelude::count::callback(),
            &format!(r#"{{"part":{part}}}"#)
        )
        .await,
        "8"
    );
    assert_eq!(
        told(without_a_prelude::count_one::callback(), part).await,
        "1"
    );
    let tool = without_a_prelude::Counter.into_tools().swap_remove(0);
    assert_eq!(told(tool, r#"{"text":"abc"}"#).await, "3");
}
