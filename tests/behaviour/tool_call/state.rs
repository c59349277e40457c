//! What calls write to the state, and pauses.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use agent_core::graph::KeyStrategy;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{Turn, calls, says};
use agent_core::tool::{InterruptRequest, ToolOutcome};
use agent_core::{IntoToolOutput as _, Outcome, ToolContext, ToolError};
use agent_tests::runs::{result_texts, results};
use agent_tests::tools::{ClosureTool, answers, tool};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{agent, model, pairs, turn};

/// Writes its name under `who`, after this many milliseconds.
fn writes(name: &'static str, after: u64) -> ClosureTool {
    tool(name, after, async |after, _, context: ToolContext| {
        sleep(Duration::from_millis(after)).await;
        context.update("who", context.tool_name())
    })
}

// C6, TN-8, tn.22
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

// C6, TN-4, TN-16, tn.17
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

// C3, TN-6, TN-3, tn.10
#[tokio::test(start_paused = true)]
async fn a_call_that_fails_or_times_out_changes_no_state() {
    for side_by_side in [false, true] {
        let fails = tool("fails", (), async |(), _, context: ToolContext| {
            context.update("failed", true).unwrap();
            Err::<(), _>("no")
        });
        let hangs = tool("hangs", (), async |(), _, context: ToolContext| {
            context.update("hung", true).unwrap();
            std::future::pending::<()>().await;
        });
        let hangs = hangs.timeout(Duration::from_millis(100));
        let model = model(&["fine", "fails", "hangs"]);

        let run = agent(&model, [writes("fine", 1), fails, hangs]);
        let run = run.parallel_tool_execution(side_by_side).build().unwrap();
        let run = run.run("Go").await.unwrap();

        assert_eq!(run.state().keys().collect::<Vec<_>>(), ["who"]);
        assert_eq!(
            result_texts(run.messages()),
            pairs(&[
                ("c1", "Done"),
                ("c2", "Error: no"),
                ("c3", "Error: timed out after 100 ms")
            ])
        );
    }
}

fn notes_what_it_is_told() -> ClosureTool {
    tool(
        "notes",
        (),
        async |(), arguments: Value, context: ToolContext| {
            for (key, value) in arguments.as_object().unwrap() {
                context.update(key.as_str(), value)?;
            }
            Ok::<_, ToolError>("noted")
        },
    )
}

/// The state after one turn with a call of `notes` for each of these objects.
async fn noted(side_by_side: bool, calls: &[Value], appended: &'static str) -> Value {
    let calls = calls.iter().cloned();
    let turn = calls.fold(Turn::default(), |turn, arguments| {
        turn.and_calls("notes", arguments)
    });
    let model = ScriptedModel::new([turn, says("done")]);
    let run = agent(&model, notes_what_it_is_told())
        .key(appended, KeyStrategy::Append)
        .parallel_tool_execution(side_by_side);
    let run = run.build().unwrap().run("Go").await.unwrap();
    let mut state = run.state().to_value();
    state.as_object_mut().unwrap().remove("messages");
    state
}

// C6, TN-8, CT-9, tn.16, tn.22, cc.1, cc.4
#[tokio::test]
async fn what_several_calls_write_is_joined_alike_in_both_modes() {
    for side_by_side in [false, true] {
        let cases = [
            (
                vec![json!({"items": ["a", "b"]}), json!({"items": ["c", "d"]})],
                json!({"items": ["a", "b", "c", "d"]}),
            ),
            (
                vec![json!({"key": "first"}), json!({"key": "second"})],
                json!({"key": "second"}),
            ),
            (
                vec![
                    json!({"result": "from-tool-0", "unique0": "value0"}),
                    json!({"result": "from-tool-1", "unique1": "value1"}),
                    json!({"result": "from-tool-2", "unique2": "value2"}),
                ],
                json!({
                    "result": "from-tool-2",
                    "unique0": "value0", "unique1": "value1", "unique2": "value2",
                }),
            ),
        ];
        for (calls, expected) in cases {
            assert_eq!(noted(side_by_side, &calls, "items").await, expected);
        }
    }
}

// TN-17
#[tokio::test]
async fn a_tool_may_write_null() {
    let calls = [json!({"who": "me"}), json!({"who": null})];

    assert_eq!(noted(false, &calls, "items").await, json!({"who": null}));
}

// C3, CT-9, cc.2
#[tokio::test(start_paused = true)]
async fn what_is_written_after_the_end_of_a_call_is_dropped() {
    let (keep, kept) = mpsc::channel::<ToolContext>();
    let lends = |name, hangs| {
        let shared = (keep.clone(), hangs);
        tool(
            name,
            shared,
            async |(keep, hangs), _, context: ToolContext| {
                context.update("key", context.tool_name()).unwrap();
                keep.send(context).unwrap();
                if hangs {
                    std::future::pending::<()>().await;
                }
            },
        )
    };
    let kept = Arc::new(Mutex::new(kept));
    let late = tool("late", kept, async |kept, _, _| {
        let ended: Vec<ToolContext> = kept.lock().unwrap().try_iter().collect();
        for context in &ended {
            context.update("key", "late").unwrap();
        }
        ended.len().to_string()
    });
    let model = model(&["good", "slow", "late"]);

    let slow = lends("slow", true).timeout(Duration::from_millis(100));
    let run = agent(&model, [lends("good", false), slow, late]);
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(result_texts(run.messages())[2].1, "2");
    assert_eq!(run.state().value("key"), Some(&json!("good")));
}

// C6, TN-9, tn.15
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
        let kept: Vec<&str> = kept.map(|result| result.call_id()).collect();
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

// C7, TN-14, tn.7
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

#[tokio::test]
async fn a_handle_reads_whole_results_and_nothing_else_of_the_state() {
    let reads = tool("reads", (), async |(), _, context: ToolContext| {
        format!("{:?}", context.whole_result("api_token"))
    });

    let agent = agent(&model(&["reads"]), reads).build().unwrap();
    let run = agent
        .run("Go")
        .state("api_token", "sk-live-9")
        .await
        .unwrap();

    assert_eq!(result_texts(run.messages()), pairs(&[("c1", "None")]));
}
