//! Which calls of a history run, and what comes of them.

use std::sync::{Arc, Mutex};

use agent_core::message::{AssistantMessage, ToolCall, ToolResult};
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::{Message, ToolContext};
use agent_tests::runs::{result_texts, results};
use agent_tests::tools::{Counter, answers, tool};
use serde_json::{Value, json};

use super::{agent, model, pairs};

// TN-1, tn.1
#[tokio::test]
async fn a_result_has_the_id_and_the_name_of_its_call() {
    let echo = tool("echo", (), async |(), arguments: Value, _| {
        format!("Echo: {arguments}")
    });
    let call = calls("echo", json!({"message": "hello"})).with_id("call-1");
    let model = ScriptedModel::new([call, says("done")]);

    let run = agent(&model, echo).build().unwrap().run("q").await;

    let result = results(run.unwrap().messages()).remove(0);
    assert_eq!((result.call_id(), result.name()), ("call-1", "echo"));
    assert_eq!(result.text(), r#"Echo: {"message":"hello"}"#);
}

// TM-1, TM-2, tm.2, tm.3
#[tokio::test]
async fn the_results_of_a_reply_are_one_message() {
    let turn = super::Turn::default()
        .and_calls("toolA", json!({}))
        .with_id("1")
        .and_calls("toolB", json!({}))
        .with_id("2")
        .and_calls("toolA", json!({}))
        .with_id("3");
    let model = ScriptedModel::new([turn, says("done")]);

    let run = agent(&model, [answers("toolA", "a"), answers("toolB", "b")]);
    let run = run.build().unwrap().run("Hello").await.unwrap();

    assert_eq!(run.messages().len(), 4);
    let results = run.messages()[2].tool_results().iter();
    let results: Vec<_> = results.map(|r| (r.call_id(), r.name())).collect();
    assert_eq!(results, [("1", "toolA"), ("2", "toolB"), ("3", "toolA")]);
}

// C1, TN-2, TN-3, tn.2
#[tokio::test]
async fn in_a_row_calls_run_in_call_order_and_each_may_write() {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let notes = |name| {
        tool(
            name,
            Arc::clone(&ran),
            async |ran, _, context: ToolContext| {
                ran.lock().unwrap().push(context.call_id().to_owned());
                tokio::task::yield_now().await;
                context.update(context.tool_name(), context.call_id())
            },
        )
    };
    let model = model(&["z", "a", "m"]);

    let run = agent(&model, [notes("a"), notes("m"), notes("z")]);
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(*ran.lock().unwrap(), ["c1", "c2", "c3"]);
    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "Done"), ("c2", "Done"), ("c3", "Done")])
    );
    for (key, call) in [("z", "c1"), ("a", "c2"), ("m", "c3")] {
        assert_eq!(run.state().value(key), Some(&json!(call)));
    }
}

// C7, TN-14, tn.7
#[tokio::test]
async fn calls_without_a_result_run_and_all_results_stand_in_call_order() {
    for side_by_side in [false, true] {
        let ran = Counter::default();
        let runs = tool("runs", ran.clone(), async |ran, _, _| {
            ran.add();
            "now"
        });
        let calls = ["1", "2", "3"].map(|id| ToolCall::new(id, "runs", "{}"));
        let before = ToolResult::ok(&calls[1], vec!["before".into()]);
        let history = vec![
            Message::user("Go"),
            AssistantMessage::new("", None, calls.to_vec()).into(),
            Message::tool(vec![before]),
        ];
        let model = ScriptedModel::new([says("done")]);

        let run = agent(&model, runs).parallel_tool_execution(side_by_side);
        let run = run.build().unwrap().run(history).await.unwrap();

        assert_eq!(
            result_texts(run.messages()),
            pairs(&[("1", "now"), ("2", "before"), ("3", "now")])
        );
        assert_eq!((ran.get(), run.messages().len()), (2, 4));
    }
}
