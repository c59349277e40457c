//! `return_direct`: when tools answer in the model's place.

use agent_core::agent::{Limits, OnLimit};
use agent_core::message::{AssistantMessage, ToolCall, ToolResult};
use agent_core::model::scripted::says;
use agent_core::model::{FinishReason, ScriptedModel, Usage};
use agent_core::{Message, Outcome};
use agent_tests::runs::result_texts;
use agent_tests::tools::{answers, tool};

use super::{agent, model, pairs, parallel, turn};

// C13, rd.1, HK-12
#[tokio::test]
async fn one_direct_result_is_the_answer_word_for_word() {
    let model = model(&["direct"]);

    let run = agent(&model, answers("direct", " \"as\" it is\n").direct());
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.text(), " \"as\" it is\n");
    assert_eq!(run.finish_reason(), Some(&FinishReason::ReturnDirect));
    assert_eq!(run.outcome(), &Outcome::Finished);
    assert_eq!(model.requests().len(), 1);
}

// C13, rd.2, tm.4
#[tokio::test]
async fn several_direct_results_are_a_json_array_in_call_order() {
    let model = model(&["text", "json", "nothing"]);
    let tools = [
        answers("text", "12 \"words\"").direct(),
        answers("json", r#"{"b":1,"a":[2]}"#).direct(),
        answers("nothing", "null").direct(),
    ];

    let run = parallel(&model, tools)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(run.text(), r#"["12 \"words\"",{"b":1,"a":[2]},null]"#);
    let texts: Vec<String> = run
        .direct_results()
        .iter()
        .map(|result| result.text())
        .collect();
    assert_eq!(texts, ["12 \"words\"", r#"{"b":1,"a":[2]}"#, "null"]);
}

// C13, TN-15, TM-2, tm.4.2, rd.4, case ex-16
#[tokio::test]
async fn one_tool_that_is_not_direct_sends_the_whole_turn_to_the_model() {
    let model = model(&["direct", "normal", "normal"]);
    let tools = [answers("direct", "d").direct(), answers("normal", "n")];

    let run = agent(&model, tools)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(run.text(), "done");
    assert!(run.direct_results().is_empty());
    let second = model.requests().remove(1);
    let messages: Vec<_> = second.messages().cloned().collect();
    assert_eq!(
        result_texts(&messages),
        pairs(&[("c1", "d"), ("c2", "n"), ("c3", "n")])
    );
}

// C13
#[tokio::test]
async fn a_direct_tool_that_fails_goes_back_to_the_model() {
    let model = model(&["direct"]);
    let fails = tool("direct", (), async |(), _, _| {
        Err::<(), _>(std::io::Error::other("no disk"))
    });

    let run = agent(&model, fails.direct())
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(run.text(), "done");
    assert_eq!(model.requests()[1].last_tool_result(), "Error: no disk");
}

// C13, B9
#[tokio::test]
async fn a_direct_answer_keeps_the_usage_of_the_model() {
    let model = ScriptedModel::new([turn(&["direct"]).with_usage(Usage::new(7, 3))]);

    let run = agent(&model, answers("direct", "d").direct());
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.usage(), Usage::new(7, 3));
}

// C13, B6
#[tokio::test]
async fn a_direct_answer_is_written_to_the_output_key() {
    let model = model(&["direct"]);

    let run = agent(&model, answers("direct", "d").direct()).output_key("answer");
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.state().value("answer"), Some(&"d".into()));
}

// C9, C13
#[tokio::test]
async fn a_prefix_before_the_name_does_not_keep_a_tool_from_being_direct() {
    let model = model(&["functions.direct", "direct"]);

    let run = agent(&model, answers("direct", "d").direct());
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.text(), r#"["d","d"]"#);
}

// C13, rd.2, rd.2b
#[tokio::test]
async fn json_stands_as_it_is_in_the_array_and_text_as_a_text() {
    let cases: [(&[&'static str], _); 2] = [
        (&["City1", "City2"], r#"["City1","City2"]"#),
        (
            &[r#"{"a":1}"#, "x \"q\"", "null"],
            r#"[{"a":1},"x \"q\"",null]"#,
        ),
    ];
    for (texts, expected) in cases {
        let names = &["a", "b", "c"][..texts.len()];
        let tools = names.iter().zip(texts);
        let tools = tools.map(|(name, text)| answers(name, text).direct());

        let run = agent(&model(names), tools.collect::<Vec<_>>());
        let run = run.build().unwrap().run("Go").await.unwrap();

        assert_eq!(run.text(), expected);
    }
}

// rd.5
#[tokio::test]
async fn after_a_direct_answer_the_next_turn_asks_the_model() {
    let model = ScriptedModel::new([turn(&["direct"]), says("Again.")]);
    let agent = agent(&model, answers("direct", "d").direct())
        .build()
        .unwrap();
    let first = agent.run("Go").await.unwrap();

    let mut history = first.messages().to_vec();
    history.push(Message::user("And now?"));
    let second = agent.run(history).await.unwrap();

    assert_eq!((first.text(), second.text()), ("d", "Again."));
    assert_eq!(model.requests().len(), 2);
}

// C13, TN-15
#[tokio::test]
async fn an_unknown_tool_beside_a_direct_one_sends_the_turn_to_the_model() {
    let model = model(&["direct", "missing"]);

    let run = agent(&model, answers("direct", "d").direct());
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.text(), "done");
}

// C7, C13, TN-14, TN-15
#[tokio::test]
async fn results_from_before_count_for_a_direct_answer() {
    for (first, expected) in [("direct", r#"["before","d"]"#), ("normal", "done")] {
        let calls = [("c1", first), ("c2", "direct")];
        let calls = calls.map(|(id, name)| ToolCall::new(id, name, "{}"));
        let before = ToolResult::ok(&calls[0], vec!["before".into()]);
        let history = vec![
            Message::user("Go"),
            AssistantMessage::new("", None, calls.to_vec()).into(),
            Message::tool(vec![before]),
        ];
        let model = ScriptedModel::new([says("done")]);
        let tools = [answers("direct", "d").direct(), answers("normal", "n")];

        let run = agent(&model, tools).build().unwrap().run(history);

        assert_eq!(run.await.unwrap().text(), expected);
    }
}

const OVER: &str = "Error: not run: the limit of calls of `direct` is reached";

// C13, TM-8
#[tokio::test]
async fn a_call_over_its_limit_has_no_say_in_whether_a_turn_is_direct() {
    let both = format!(r#"["d","{OVER}"]"#);
    for (names, limit, expected) in [
        (&["direct", "direct"][..], 1, &*both),
        (&["direct", "direct", "normal"], 1, "done"),
        // With no call that ran there is no answer.
        (&["direct"], 0, "done"),
    ] {
        let limits = Limits::new()
            .calls_of("direct", limit)
            .on_limit(OnLimit::ErrorResult);
        let tools = [answers("direct", "d").direct(), answers("normal", "n")];

        let run = agent(&model(names), tools).limits(limits).build().unwrap();

        assert_eq!(run.run("Go").await.unwrap().text(), expected);
    }
}
