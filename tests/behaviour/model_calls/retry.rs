//! A model that failed is asked again, where this may help and harms nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_core::agent::{ModelRetry, ReactAgentBuilder};
use agent_core::event::EventKind;
use agent_core::graph::CancellationToken;
use agent_core::model::scripted::{Turn, calls, fails, hangs, says};
use agent_core::model::{
    FinishReason, FunctionModel, ModelDelta, ModelError, ModelErrorKind, OpenAi, ScriptedModel,
};
use agent_core::{AgentError, Outcome, ReactAgent};
use agent_tests::replay::{Answer, ReplayServer};
use agent_tests::runs::{events, output};
use agent_tests::tools::answers;
use futures_util::stream;
use proptest::prelude::*;
use serde_json::json;
use tokio::time::Instant;

use super::{retries, shown};

fn broke() -> ModelError {
    ModelError::new(ModelErrorKind::Transport, "the connection broke")
}

fn busy(wait: Duration) -> ModelError {
    ModelError::new(ModelErrorKind::RateLimited, "slow down").with_retry_after(wait)
}

fn agent(model: &ScriptedModel, retry: ModelRetry) -> ReactAgentBuilder {
    ReactAgent::builder("assistant", model.clone()).model_interceptor(retry)
}

fn kind(error: AgentError) -> ModelErrorKind {
    match error {
        AgentError::Model { source, .. } => source.kind(),
        other => panic!("{other:?}"),
    }
}

// ex-31
#[tokio::test]
async fn what_is_asked_again_is_told_by_the_status() {
    let whole =
        r#"{"choices":[{"message":{"role":"assistant","content":"Hi."},"finish_reason":"stop"}]}"#;
    for (status, requests) in [
        (400, 1),
        (401, 1),
        (403, 1),
        (404, 1),
        (422, 1),
        (408, 2),
        (409, 2),
        (429, 2),
        (500, 2),
        (502, 2),
        (503, 2),
        (529, 2),
    ] {
        let refusal = Answer::status(status).piece("{}");
        let server = ReplayServer::start([refusal, Answer::json(whole)]).await;
        let model = OpenAi::builder().base_url(server.url()).model("m").build();
        let agent = ReactAgent::builder("assistant", model.unwrap())
            .model_interceptor(ModelRetry::new().min_delay(Duration::from_millis(1)))
            .streaming(false)
            .build()
            .unwrap();

        let run = agent.run("Hi").await;
        assert_eq!(server.requests().len(), requests, "{status}");
        assert_eq!(run.is_ok(), requests == 2, "{status}");
    }
}

// ex-29, B8
#[tokio::test(start_paused = true)]
async fn text_of_a_broken_reply_is_taken_back_before_the_next_one_comes() {
    let model = ScriptedModel::new([fails(broke()).and_says("Hello wo"), says("Hello world")]);
    let agent = agent(&model, ModelRetry::new()).build().unwrap();

    let (events, error) = events(agent.run("Hi").stream()).await;
    assert!(error.is_none());
    assert_eq!(output(&events).text(), "Hello world");
    assert_eq!(shown(&events), "Hello world");
    assert_eq!(retries(&events), 1);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn no_attempt_begins_before_the_provider_wants_it() {
    let model = ScriptedModel::new([fails(busy(Duration::from_secs(7))), says("Hi.")]);
    let agent = agent(&model, ModelRetry::new()).build().unwrap();

    let started = Instant::now();
    agent.run("Hi").await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(7));
    assert!(started.elapsed() < Duration::from_secs(9));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_wants_a_year_has_failed() {
    for wait in [Duration::from_secs(365 * 86_400), Duration::MAX] {
        let model = ScriptedModel::new([fails(busy(wait)), says("Hi.")]);
        let agent = agent(&model, ModelRetry::new()).build().unwrap();

        let started = Instant::now();
        let error = agent.run("Hi").await.unwrap_err();
        assert_eq!(kind(error), ModelErrorKind::RateLimited);
        assert_eq!(started.elapsed(), Duration::ZERO);
    }
}

#[tokio::test(start_paused = true)]
async fn waits_without_end_do_not_overflow() {
    let model = ScriptedModel::new([fails(busy(Duration::MAX))]);
    let retry = ModelRetry::new()
        .max_wait(Duration::MAX)
        .min_delay(Duration::MAX);
    let agent = agent(&model, retry).build().unwrap();

    let run = agent.run("Hi").deadline(Duration::from_secs(60));
    assert_eq!(kind(run.await.unwrap_err()), ModelErrorKind::RateLimited);
}

#[tokio::test(start_paused = true)]
async fn a_model_is_asked_as_often_as_said_and_the_last_error_is_the_runs() {
    let model = ScriptedModel::new([fails(broke()), fails(broke()), fails(busy(Duration::ZERO))]);
    let agent = agent(&model, ModelRetry::new()).build().unwrap();

    let error = agent.run("Hi").await.unwrap_err();
    assert_eq!(kind(error), ModelErrorKind::RateLimited);
    assert_eq!(model.turns_left(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_no_retry_helps_is_not_asked_again() {
    let refused = ModelError::new(ModelErrorKind::InvalidRequest, "no such model");
    let model = ScriptedModel::new([fails(refused), says("Hi.")]);
    let agent = agent(&model, ModelRetry::new()).build().unwrap();

    let error = agent.run("Hi").await.unwrap_err();
    assert_eq!(kind(error), ModelErrorKind::InvalidRequest);
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_budget_is_that_of_the_whole_run() {
    let mut turns: Vec<Turn> = Vec::new();
    for _ in 0..3 {
        turns.extend([fails(broke()), calls("look", json!({}))]);
    }
    let model = ScriptedModel::new(turns);
    let agent = agent(&model, ModelRetry::new().budget(2))
        .tools(answers("look", "nothing"))
        .build()
        .unwrap();

    let error = agent.run("Look.").await.unwrap_err();
    assert_eq!(kind(error), ModelErrorKind::Transport);
    assert_eq!(model.requests().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_takes_too_long_is_given_up() {
    let model = ScriptedModel::new([hangs().and_says("Well"), says("Hi.")]);
    let retry = ModelRetry::new().attempt_timeout(Duration::from_secs(20));
    let agent = agent(&model, retry).build().unwrap();

    let started = Instant::now();
    let (events, _) = events(agent.run("Hi").stream()).await;
    assert_eq!(shown(&events), "Hi.");
    assert!(started.elapsed() >= Duration::from_secs(20));
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_at_once_when_the_run_is_cancelled() {
    let model = ScriptedModel::new([fails(busy(Duration::from_secs(50))), says("Hi.")]);
    let agent = agent(&model, ModelRetry::new()).build().unwrap();
    let token = CancellationToken::new();
    let cancels = token.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancels.cancel();
    });

    let started = Instant::now();
    let output = agent.run("Hi").cancel_token(token).await.unwrap();
    assert_eq!(output.outcome(), &Outcome::Cancelled);
    assert_eq!(started.elapsed(), Duration::from_secs(1));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_would_outlast_the_run_is_not_begun() {
    let model = ScriptedModel::new([fails(busy(Duration::from_secs(50))), says("Hi.")]);
    let agent = agent(&model, ModelRetry::new()).build().unwrap();

    let started = Instant::now();
    let run = agent.run("Hi").deadline(Duration::from_secs(30));
    assert_eq!(kind(run.await.unwrap_err()), ModelErrorKind::RateLimited);
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_while_it_waits_asks_no_more() {
    let model = ScriptedModel::new([fails(broke()), says("Hi.")]);
    let agent = agent(&model, ModelRetry::new()).build().unwrap();
    let mut run = agent.run("Hi").stream();
    while model.requests().is_empty() {
        run.next().await.unwrap().unwrap();
    }
    drop(run);

    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_an_error_is_not_read() {
    let asked = Arc::new(AtomicUsize::new(0));
    let model = FunctionModel::streaming(move |_| {
        let first = asked.fetch_add(1, Ordering::SeqCst) == 0;
        let text = |text: &str| Ok(ModelDelta::Text(text.into()));
        stream::iter(match first {
            true => vec![text("one"), Err(broke()), text("ghost")],
            false => vec![text("two"), Ok(ModelDelta::Finished(FinishReason::Stop))],
        })
    });
    let agent = ReactAgent::builder("assistant", model).model_interceptor(ModelRetry::new());

    let (events, error) = events(agent.build().unwrap().run("Hi").stream()).await;
    assert!(error.is_none());
    assert_eq!(shown(&events), "two");
    let ghost = |event: &agent_core::AgentEvent| matches!(&event.kind, EventKind::TextDelta(text) if text == "ghost");
    assert!(!events.iter().any(ghost));
}

// E4, B8
proptest! {
    #[test]
    fn what_a_reader_shows_is_the_answer_however_often_the_model_broke(
        broken in proptest::collection::vec("[a-z ]{0,20}", 0..4),
        answer in "[a-z]{1,8}( [a-z]{1,8}){0,4}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let turns = || broken.iter().map(|text| fails(broke()).and_says(text.as_str())).chain([says(answer.as_str())]);
            let retry = || ModelRetry::new().attempts(5);
            let streamed = agent(&ScriptedModel::new(turns()), retry()).build().unwrap();
            let (streamed, error) = events(streamed.run("Hi").stream()).await;
            let plain = agent(&ScriptedModel::new(turns()), retry()).streaming(false).build().unwrap();
            let plain = plain.run("Hi").await.unwrap();

            assert!(error.is_none());
            assert_eq!(shown(&streamed), answer);
            assert_eq!(output(&streamed).text(), plain.text());
        });
    }
}
