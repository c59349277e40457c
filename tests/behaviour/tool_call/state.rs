//! What calls write to the state, and pauses.

use std::time::Duration;

use agent_core::graph::KeyStrategy;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::tool::{InterruptRequest, ToolOutcome};
use agent_core::{IntoToolOutput as _, Outcome, ToolContext};
use agent_tests::runs::{result_texts, results};
use agent_tests::tools::{ClosureTool, answers, tool};
use serde_json::json;
use tokio::time::sleep;

use super::{agent, model, pairs, parallel, turn};

/// Writes its name under `who`, after this many milliseconds.
fn writes(name: &'static str, after: u64) -> ClosureTool {
    tool(name, after, async |after, _, context: ToolContext| {
        sleep(Duration::from_millis(after)).await;
        context.update("who", context.tool_name())
    })
}

// C6, TN-8
#[tokio::test(start_paused = true)]
async fn updates_join_in_call_order_however_calls_end() {
    for side_by_side in [false, true] {
        let model = model(&["slow", "fast"]);

        let run = agent(&model, [writes("slow", 80), writes("fast", 1)]);
        let run = run.parallel_tool_execution(side_by_side).build().unwrap();
        let run = run.run("Go").await.unwrap();

        assert_eq!(run.state().value("who"), Some(&json!("fast")));
    }
}

// C6, KS-1
#[tokio::test(start_paused = true)]
async fn updates_go_through_the_strategy_of_their_key() {
    for side_by_side in [false, true] {
        let model = model(&["slow", "fast"]);

        let run = agent(&model, [writes("slow", 80), writes("fast", 1)])
            .key("who", KeyStrategy::Append)
            .parallel_tool_execution(side_by_side);
        let run = run
            .build()
            .unwrap()
            .run("Go")
            .state("who", "me")
            .await
            .unwrap();

        assert_eq!(
            run.state().value("who"),
            Some(&json!(["me", "slow", "fast"]))
        );
    }
}

// C6
#[tokio::test]
async fn each_call_reads_the_state_as_the_turn_found_it() {
    let reads = tool("reads", (), async |(), _, context: ToolContext| {
        format!("{:?}", context.state().value("who"))
    });
    let model = model(&["writes", "reads"]);

    let run = agent(&model, [writes("writes", 0), reads]).build().unwrap();
    let run = run.run("Go").await.unwrap();

    assert_eq!(result_texts(run.messages())[1].1, "None");
    assert_eq!(run.state().value("who"), Some(&json!("writes")));
}

// C3, TN-6
#[tokio::test(start_paused = true)]
async fn a_call_that_fails_or_times_out_changes_no_state() {
    let fails = tool("fails", (), async |(), _, context: ToolContext| {
        context.update("failed", true).unwrap();
        Err::<(), _>("no")
    });
    let hangs = tool("hangs", (), async |(), _, context: ToolContext| {
        context.update("hung", true).unwrap();
        std::future::pending::<()>().await;
    });
    let model = model(&["fails", "hangs", "fine"]);

    let run = parallel(&model, [fails, hangs, writes("fine", 1)])
        .build()
        .unwrap();
    let run = run.run("Go").await.unwrap();

    assert_eq!(run.state().keys().collect::<Vec<_>>(), ["who"]);
}

// C6, TN-9
#[tokio::test]
async fn a_tool_cannot_overwrite_the_messages() {
    let overwrites = tool("overwrites", (), async |(), _, context: ToolContext| {
        context.update("messages", json!([]))
    });
    let model = model(&["overwrites"]);

    let run = agent(&model, overwrites)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert!(result_texts(run.messages())[0].1.starts_with("Error: "));
    assert_eq!(run.messages().len(), 4);
}

fn asks(name: &'static str) -> ClosureTool {
    tool(name, (), async |(), _, context: ToolContext| {
        context.update("asked", true).unwrap();
        ToolOutcome::Interrupt(InterruptRequest::new("Really?")).into_tool_output()
    })
}

#[tokio::test]
async fn a_pause_keeps_what_its_siblings_did() {
    for side_by_side in [false, true] {
        let model = model(&["writes", "asks", "fine"]);

        let tools = [writes("writes", 0), asks("asks"), answers("fine", "ok")];
        let run = agent(&model, tools).parallel_tool_execution(side_by_side);
        let run = run.build().unwrap().run("Go").await.unwrap();

        let Outcome::Interrupted(interrupts) = run.outcome() else {
            panic!("{:?}", run.outcome());
        };
        assert_eq!(interrupts[0].call_id, "c2");
        assert_eq!(interrupts[0].tool, "asks");
        assert_eq!(interrupts[0].request.payload, json!("Really?"));
        let kept = run.state().transcript().partial_results();
        let kept: Vec<&str> = kept.map(|result| &*result.call_id).collect();
        assert_eq!(kept, ["c1", "c3"]);
        assert_eq!(run.state().value("who"), Some(&json!("writes")));
        assert_eq!(model.requests().len(), 1);
    }
}

// A pause runs the call again, so what it wrote before would be written twice.
#[tokio::test]
async fn a_call_that_pauses_changes_no_state() {
    let model = model(&["asks"]);

    let run = agent(&model, asks("asks"))
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(run.state().value("asked"), None);
}

// C7, TN-14
#[tokio::test]
async fn a_call_that_has_its_result_does_not_run_again() {
    let paused = model(&["writes", "asks"]);
    let tools = || [writes("writes", 0), asks("asks")];
    let run = agent(&paused, tools())
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();
    let assistant = run.messages().last().unwrap().clone();
    let first = run
        .state()
        .transcript()
        .partial_results()
        .next()
        .unwrap()
        .clone();
    let history = vec![
        "Go".into(),
        assistant,
        agent_core::Message::tool(vec![first]),
    ];

    let model = ScriptedModel::new([says("done")]);
    let tools = [answers("writes", "again"), answers("asks", "yes")];
    let run = agent(&model, tools)
        .build()
        .unwrap()
        .run(history)
        .await
        .unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "Done"), ("c2", "yes")])
    );
}

/// Reads the result whose handle stands in backticks at the end of the last result.
fn reads_on() -> ClosureTool {
    tool("reads_on", (), async |(), _, context: ToolContext| {
        let results = results(context.state().messages());
        let text = results.last().unwrap().text();
        let handle = text.split('`').nth(1).unwrap_or_default().to_owned();
        let whole = context.whole_result(&handle).map(str::len);
        format!("{whole:?} bytes")
    })
}

// Case ex-12
#[tokio::test]
async fn a_long_result_is_cut_in_its_middle_and_kept_whole() {
    let long = tool("long", (), async |(), _, _| "é".repeat(20_000));
    let turns = [turn(&["long"]), calls("reads_on", json!({})), says("done")];
    let model = ScriptedModel::new(turns);

    let agent = agent(&model, [long, reads_on()]).max_result_bytes(9999);
    let run = agent.build().unwrap().run("Go").await.unwrap();

    let texts = result_texts(run.messages());
    let (head, rest) = texts[0].1.split_once('\n').unwrap();
    let (mark, tail) = rest.split_once('\n').unwrap();
    assert!(head.len() + tail.len() <= 9999);
    assert!(head.chars().chain(tail.chars()).all(|c| c == 'é'));
    assert!(
        mark.contains("truncated") && mark.contains("40000"),
        "{mark}"
    );
    assert_eq!(texts[1].1, "Some(40000) bytes");
}

#[tokio::test]
async fn a_long_result_that_is_the_answer_is_not_cut() {
    let long = tool("long", (), async |(), _, _| "é".repeat(20_000)).direct();
    let model = model(&["long"]);

    let agent = agent(&model, long).max_result_bytes(9999).build().unwrap();

    assert_eq!(agent.run("Go").await.unwrap().text().len(), 40_000);
}

#[tokio::test]
async fn a_result_is_not_cut_below_64_kib_nor_without_a_limit() {
    for (length, limit) in [(64 * 1024, Some(64 * 1024)), (200_000, None)] {
        let long = tool("long", length, async |length, _, _| "x".repeat(length));
        let model = model(&["long"]);

        let mut agent = agent(&model, long);
        if limit.is_none() {
            agent = agent.max_result_bytes(limit);
        }
        let run = agent.build().unwrap().run("Go").await.unwrap();

        assert_eq!(result_texts(run.messages())[0].1.len(), length);
    }
}
