//! `return_direct`: when tools answer in the model's place.

use agent_core::Outcome;
use agent_core::model::{FinishReason, ScriptedModel, Usage};
use agent_tests::runs::result_texts;
use agent_tests::tools::{answers, tool};

use super::{agent, model, pairs, parallel, turn};

// C13, rd.1
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

// C13, rd.2
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

// C13, TM-8, case ex-16
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
