//! What is linked costs no allocation, and what is many costs no more for each.
//!
//! A binary of its own, as it counts the allocations of its whole thread.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use agent_core::agent::Limits;
use agent_core::message::{AssistantMessage, ToolCall, ToolResult, Transcript};
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::{Message, ReactAgent, ToolDefinition, tool};
use agent_tests::tools::answers;
use serde_json::json;
use tokio::runtime::Builder;

type Visit<'a> = &'a mut dyn FnMut(&'static ToolDefinition);

/// A module for each name, with what `inner` makes of ten more names inside; `tool` ends it.
macro_rules! modules {
    (tool: $($name:ident)*) => {
        $(mod $name {
            use super::*;

            /// The weather to come.
            #[tool(register = false)]
            fn forecast(
                /// City name.
                city: &str,
                days: Option<u8>,
                #[param(default = 1.5)] scale: f64,
                tags: Vec<String>,
                #[param(minimum = 1, maximum = 9)] offset: i32,
            ) -> String {
                format!("{city} {days:?} {scale} {tags:?} {offset}")
            }

            pub(super) fn visit(seen: Visit<'_>) {
                seen(forecast::DEFINITION);
            }
        })*
        pub(super) fn visit(seen: Visit<'_>) {
            $($name::visit(seen);)*
        }
    };
    (ten: $($name:ident)*) => {
        $(mod $name {
            use super::*;
            modules! { tool: a b c d e f g h i j }
        })*
        pub(super) fn visit(seen: Visit<'_>) {
            $($name::visit(seen);)*
        }
    };
    (hundred: $($name:ident)*) => {
        $(mod $name {
            use super::*;
            modules! { ten: a b c d e f g h i j }
        })*
        pub(super) fn visit(seen: Visit<'_>) {
            $($name::visit(seen);)*
        }
    };
}

mod thousand {
    use super::{Visit, tool};

    modules! { hundred: a b c d e f g h i j }
}

#[test]
fn the_schemas_of_a_thousand_tools_cost_no_allocation() {
    let (mut tools, mut bytes) = (0, 0);

    let info = allocation_counter::measure(|| {
        thousand::visit(&mut |definition| {
            tools += 1;
            bytes += definition.name().len() + definition.description().len();
            bytes += definition.input_schema().text().len();
        });
    });

    assert_eq!(tools, 1000);
    assert!(bytes > 300_000, "{bytes}");
    assert_eq!(info.count_total, 0);
}

#[test]
fn an_allocation_is_counted() {
    let info = allocation_counter::measure(|| drop(Box::new(1)));

    assert_eq!(info.count_total, 1);
}

/// The bytes that a run allocates in which the model calls a tool this often in one reply.
fn bytes_of_a_run(count: u32, side_by_side: bool) -> u64 {
    let mut turn = calls("step", json!({}));
    for _ in 1..count {
        turn = turn.and_calls("step", json!({}));
    }
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([turn, says("done")]))
        .tools(answers("step", "ok"))
        .limits(Limits::unlimited())
        .parallel_tool_execution(side_by_side)
        .build()
        .unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let info = allocation_counter::measure(|| {
        runtime.block_on(agent.run("Go").into_future()).unwrap();
    });
    info.bytes_total
}

#[test]
fn a_run_costs_as_much_per_call_however_many_there_are_in_one_reply() {
    for side_by_side in [false, true] {
        let (one, twice) = (
            bytes_of_a_run(1000, side_by_side),
            bytes_of_a_run(2000, side_by_side),
        );

        // Four times as much where each call costs something for every other.
        assert!(twice < 3 * one, "{twice} bytes and {one}");
    }
}

/// The bytes that mending a history allocates that has this many calls of one id in one message,
/// and each result in a message of its own.
fn bytes_of_mending(count: usize) -> u64 {
    let call = ToolCall::new("c", "step", "{}");
    let mut messages = vec![AssistantMessage::new("", None, vec![call.clone(); count]).into()];
    let result = ToolResult::ok(&call, vec!["ok".into()]);
    messages.extend((0..count).map(|_| Message::tool(vec![result.clone()])));
    let info = allocation_counter::measure(|| {
        let (transcript, repairs) = Transcript::repaired(messages);
        assert_eq!((transcript.len(), repairs.len()), (2, count - 1));
    });
    info.bytes_total
}

#[test]
fn a_history_is_mended_at_as_much_per_call_however_many_share_an_id() {
    let (one, twice) = (bytes_of_mending(1000), bytes_of_mending(2000));

    assert!(twice < 3 * one, "{twice} bytes and {one}");
}
