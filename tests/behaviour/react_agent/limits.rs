//! How much a run may do, and what happens then.

use agent_core::agent::{Limit, Limits, OnLimit};
use agent_core::message::{AssistantMessage, ToolCall, ToolResult};
use agent_core::model::scripted::{Turn, calls, says};
use agent_core::model::{ScriptedModel, Usage};
use agent_core::{Message, Outcome, ReactAgent, RunOutput};
use agent_tests::runs::{offered, result_texts};
use agent_tests::tools::{ClosureTool, Counter, answers, tool};
use serde_json::json;

use super::calls_step;

/// A turn with this many calls of `step`.
fn steps(count: u32) -> Turn {
    (1..=count).fold(Turn::default(), |turn, n| {
        turn.and_calls("step", json!({"n": n}))
    })
}

async fn run(model: &ScriptedModel, limits: Limits) -> RunOutput {
    let tools = [super::step(), answers("other", "o")];
    let agent = ReactAgent::builder("assistant", model.clone())
        .tools(tools)
        .limits(limits);
    let run = agent.build().unwrap().run("Go").await.unwrap();
    assert!(run.state().transcript().is_closed(), "{:?}", run.messages());
    run
}

fn texts(run: &RunOutput) -> Vec<String> {
    let results = result_texts(run.messages()).into_iter();
    results.map(|(_, text)| text).collect()
}

// C12, case ex-24
#[tokio::test]
async fn the_limit_of_model_calls_ends_the_run_with_its_history() {
    let model = ScriptedModel::new((1..).map(calls_step).take(9));

    let run = run(&model, Limits::new().model_calls(4)).await;

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::ModelCalls));
    assert_eq!(model.requests().len(), 4);
    assert_eq!(texts(&run), ["1.", "2.", "3.", "4."]);
    assert_eq!(run.text(), "");
}

// C12
#[tokio::test]
async fn the_last_answer_is_given_without_tools_within_the_limit() {
    let model = ScriptedModel::new([calls_step(1), calls_step(2), says("So far: two.")]);

    let limits = Limits::new().model_calls(3).on_limit(OnLimit::LastAnswer);
    let run = run(&model, limits).await;

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::ModelCalls));
    assert_eq!(run.text(), "So far: two.");
    let requests = model.requests();
    assert_eq!(offered(&requests[1]), ["step", "other"]);
    assert!(offered(&requests[2]).is_empty());
}

// C12
#[tokio::test]
async fn a_call_in_the_last_answer_is_answered_and_does_not_run() {
    let model = ScriptedModel::new([calls_step(1), calls_step(2)]);

    let limits = Limits::new().model_calls(2).on_limit(OnLimit::LastAnswer);
    let run = run(&model, limits).await;

    assert_eq!(
        texts(&run),
        ["1.", "Error: no tool runs any more: a limit was reached"]
    );
}

const OVER_ALL: &str = "Error: not run: the limit of tool calls is reached";
const OVER_ONE: &str = "Error: not run: the limit of calls of `step` is reached";

// C12, TM-5, TM-7, tm.7
#[tokio::test]
async fn over_the_limit_of_tool_calls_each_open_call_is_answered() {
    let model = ScriptedModel::new([steps(3), says("never asked")]);

    let run = run(&model, Limits::new().tool_calls(2)).await;

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::ToolCalls));
    assert_eq!(texts(&run), ["1.", "2.", OVER_ALL]);
    assert_eq!(model.requests().len(), 1);
}

// C12, TM-6, TM-7, tm.6
#[tokio::test]
async fn an_error_result_lets_the_run_go_on() {
    let turn = steps(2).and_calls("other", json!({}));
    let model = ScriptedModel::new([turn, says("Fine.")]);

    let limits = Limits::new()
        .calls_per_tool(1)
        .on_limit(OnLimit::ErrorResult);
    let run = run(&model, limits).await;

    assert_eq!(run.outcome(), &Outcome::Finished);
    assert_eq!(run.text(), "Fine.");
    assert_eq!(texts(&run), ["1.", OVER_ONE, "o"]);
}

// C12, TM-7, tm.6
#[tokio::test]
async fn the_limit_of_one_tool_names_it() {
    let model = ScriptedModel::new([calls_step(1), steps(1), says("never asked")]);

    let run = run(&model, Limits::new().calls_per_tool(1)).await;

    let limit = Limit::ToolCallsOf("step".to_owned());
    assert_eq!(run.outcome(), &Outcome::LimitReached(limit));
    assert_eq!(texts(&run), ["1.", OVER_ONE]);
}

// C12, C9
#[tokio::test]
async fn a_prefix_before_the_name_does_not_get_around_the_limit() {
    let turn = steps(1).and_calls("functions.step", json!({"n": 2}));
    let model = ScriptedModel::new([turn]);

    let run = run(&model, Limits::new().calls_per_tool(1)).await;

    let limit = Limit::ToolCallsOf("step".to_owned());
    assert_eq!(run.outcome(), &Outcome::LimitReached(limit));
    assert_eq!(texts(&run), ["1.", OVER_ONE]);
}

// C12
#[tokio::test]
async fn over_the_limit_of_tool_calls_the_model_can_answer_once_more() {
    let model = ScriptedModel::new([steps(2), says("One of two.")]);

    let limits = Limits::new().tool_calls(1).on_limit(OnLimit::LastAnswer);
    let run = run(&model, limits).await;

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::ToolCalls));
    assert_eq!(run.text(), "One of two.");
    assert!(offered(&model.requests()[1]).is_empty());
}

// C12, TM-5, tm.8
#[tokio::test]
async fn by_default_a_tool_is_called_forty_times_in_a_run() {
    let model = ScriptedModel::new([steps(41)]);

    let run = run(&model, Limits::default()).await;

    let limit = Limit::ToolCallsOf("step".to_owned());
    assert_eq!(run.outcome(), &Outcome::LimitReached(limit));
    let texts = texts(&run);
    assert_eq!((&*texts[39], &*texts[40]), ("40.", OVER_ONE));
}

// C12, TM-6, tm.8
#[tokio::test]
async fn without_limits_a_tool_is_called_as_often_as_the_model_likes() {
    let model = ScriptedModel::new([steps(200), says("Many.")]);

    let run = run(&model, Limits::unlimited()).await;

    assert_eq!(run.text(), "Many.");
}

// C12, TM-5
#[tokio::test]
async fn limits_count_anew_in_each_run() {
    let round = || [steps(2), says("Fine.")];
    let model = ScriptedModel::new(round().into_iter().chain(round()));
    let agent = ReactAgent::builder("assistant", model).tools(super::step());
    let agent = agent.limits(Limits::new().tool_calls(2)).build().unwrap();

    agent.run("1").await.unwrap();
    let second = agent.run("2").await.unwrap();

    assert_eq!(second.outcome(), &Outcome::Finished);
}

// B9, US-3
#[tokio::test]
async fn a_run_that_reached_a_limit_keeps_its_usage() {
    let model = ScriptedModel::new([steps(2).with_usage(Usage::new(9, 1))]);

    let run = run(&model, Limits::new().tool_calls(1)).await;

    assert_eq!(run.usage(), Usage::new(9, 1));
}

// C12, TM-6
#[tokio::test]
async fn a_tool_can_have_a_limit_of_its_own() {
    let model = ScriptedModel::new([steps(3).and_calls("other", json!({})), says("done")]);

    let limits = Limits::new()
        .calls_per_tool(0)
        .calls_of("step", 2)
        .calls_of("other", None)
        .on_limit(OnLimit::ErrorResult);
    let run = run(&model, limits).await;

    assert_eq!(
        texts(&run),
        [
            "1.",
            "2.",
            "Error: not run: the limit of calls of `step` is reached",
            "o"
        ]
    );
}

// C12, TM-6, tm.10
#[tokio::test]
async fn a_tool_without_a_limit_of_its_own_still_counts_for_the_turn() {
    let model = ScriptedModel::new([steps(2).and_calls("other", json!({})), says("done")]);

    let limits = Limits::new().calls_of("step", None).tool_calls(2);
    let run = run(&model, limits).await;

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::ToolCalls));
    assert_eq!(texts(&run)[..2], ["1.", "2."]);
}

// C12, TM-5, tm.8
#[tokio::test]
async fn by_default_a_turn_has_a_hundred_and_fifty_tool_calls() {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    let turn = (0..152).fold(Turn::default(), |turn, n| {
        turn.and_calls(NAMES[n % 4], json!({}))
    });
    let model = ScriptedModel::new([turn]);
    let agent = ReactAgent::builder("assistant", model).tools(NAMES.map(|name| answers(name, "x")));

    let run = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::ToolCalls));
    let texts = texts(&run);
    assert!(texts[..150].iter().all(|text| text == "x"), "{texts:?}");
    assert_eq!(texts[150..], [OVER_ALL, OVER_ALL]);
}

// TM-2, TM-5
#[tokio::test]
async fn a_call_of_an_unknown_tool_counts_too() {
    let turn = calls("missing", json!({})).and_calls("step", json!({"n": 1}));
    let model = ScriptedModel::new([turn]);

    let run = run(&model, Limits::new().tool_calls(1)).await;

    assert_eq!(texts(&run)[1], OVER_ALL);
}

/// A question, this many answered calls of `step`, and then these messages.
fn history(calls: u32, then: &[Message]) -> Vec<Message> {
    let calls: Vec<ToolCall> = (0..calls)
        .map(|n| ToolCall::new(format!("p{n}"), "step", "{}"))
        .collect();
    let result = |call| ToolResult::ok(call, vec!["Mission accomplished!".into()]);
    let results = calls.iter().map(result).collect();
    let question = [
        Message::user("first"),
        AssistantMessage::new("", None, calls).into(),
        Message::tool(results),
    ];
    question.into_iter().chain(then.iter().cloned()).collect()
}

/// What the first call of `step` gives in a run that goes on from this history.
async fn next_step(history: Vec<Message>, limits: Limits) -> String {
    let model = ScriptedModel::new([calls_step(1), says("done")]);
    let agent = ReactAgent::builder("assistant", model).tools(super::step());
    let limits = limits.on_limit(OnLimit::ErrorResult);
    let agent = agent.limits(limits).build().unwrap();
    let run = agent.run(history).await.unwrap();
    result_texts(run.new_messages()).remove(0).1
}

// C12, TM-5, tm.9
#[tokio::test]
async fn calls_before_the_last_question_do_not_count() {
    let then = [Message::assistant("done"), Message::user("second")];

    for limits in [Limits::new().calls_per_tool(1), Limits::new().tool_calls(1)] {
        assert_eq!(next_step(history(3, &then), limits).await, "1.");
    }
}

// C12, TM-5, tm.6, tm.6.2, tm.7
#[tokio::test]
async fn calls_of_the_turn_that_a_history_brings_count() {
    let one_step = Limits::new().calls_per_tool(1);
    assert_eq!(next_step(history(1, &[]), one_step).await, OVER_ONE);
    let one_call = Limits::new().tool_calls(1);
    assert_eq!(next_step(history(1, &[]), one_call).await, OVER_ALL);
    let two = Limits::new().calls_per_tool(2);
    assert_eq!(next_step(history(1, &[]), two).await, "1.");
}

/// A turn that asks for the same list, written in another way each time.
fn list(number: usize) -> Turn {
    let arguments = [r#"{"p":"/","q":1}"#, r#"{ "q": 1, "p": "/" }"#];
    calls("list", json!(arguments[number % 2]))
}

/// A tool whose result changes after each `period` calls.
fn lists(runs: &Counter, period: usize) -> ClosureTool {
    tool(
        "list",
        (runs.clone(), period),
        async |(runs, period), _, _| format!("state {}", runs.add() / period),
    )
}

// Case ex-20
#[tokio::test]
async fn one_call_with_one_result_again_and_again_ends_the_run() {
    let runs = Counter::default();
    let model = ScriptedModel::new((0..50).map(list));
    let agent = ReactAgent::builder("assistant", model.clone())
        .tools(lists(&runs, usize::MAX))
        .limits(Limits::new().repeated_calls(3));

    let run = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::RepeatedCall));
    assert_eq!((runs.get(), model.requests().len()), (3, 4));
    assert!(run.state().transcript().is_closed());
    assert!(texts(&run)[3].contains("the same result several times"));
}

#[tokio::test]
async fn a_tool_that_is_polled_may_repeat_while_its_result_changes() {
    let runs = Counter::default();
    let model = ScriptedModel::new((0..12).map(list).chain([says("done")]));
    let agent = ReactAgent::builder("assistant", model.clone())
        .tools(lists(&runs, 2))
        .limits(Limits::new().repeated_calls(3));

    let run = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.outcome(), &Outcome::Finished);
    assert_eq!(runs.get(), 12);
}

#[tokio::test]
async fn another_call_between_makes_a_call_no_repetition() {
    let turns = (0..12).map(|number| match number % 3 {
        2 => calls_step(1),
        _ => calls("other", json!({})),
    });
    let model = ScriptedModel::new(turns.chain([says("done")]));

    let run = run(&model, Limits::new().repeated_calls(3)).await;

    assert_eq!(run.outcome(), &Outcome::Finished);
}

#[tokio::test]
async fn errors_in_a_row_end_the_run() {
    for on_limit in [OnLimit::Stop, OnLimit::ErrorResult] {
        let turns = [
            "missing", "missing", "other", "missing", "missing", "missing",
        ];
        let turns = turns.map(|name| calls(name, json!({})));
        let model = ScriptedModel::new(turns.into_iter().chain([says("done")]));

        let limits = Limits::new().errors_in_a_row(3).on_limit(on_limit);
        let run = run(&model, limits).await;

        assert_eq!(
            run.outcome(),
            &Outcome::LimitReached(Limit::ConsecutiveErrors)
        );
        assert_eq!(model.requests().len(), 6);
    }
}
