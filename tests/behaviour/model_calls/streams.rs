//! How the pieces of a reply become events, and one reply.

use std::sync::Arc;
use std::time::Duration;

use agent_core::agent::{Limit, ModelInterceptor, ModelNext};
use agent_core::event::EventKind;
use agent_core::graph::CancellationToken;
use agent_core::message::ToolCall;
use agent_core::model::scripted::says;
use agent_core::model::{
    ChatModel, ChatRequest, ChatResponse, FinishReason, FunctionModel, ModelDelta, ModelError,
    ModelErrorKind, ScriptedModel, Usage,
};
use agent_core::{AgentError, BoxFuture, Outcome, ReactAgent};
use agent_tests::runs::{events, output};
use agent_tests::tools::answers;
use futures_util::{StreamExt as _, stream};

use super::shown;

fn text(piece: &str) -> ModelDelta {
    ModelDelta::Text(piece.to_owned())
}

/// A model that writes these pieces, and after tool results that it is done.
fn writes(pieces: Vec<ModelDelta>) -> FunctionModel {
    FunctionModel::streaming(move |request: ChatRequest| {
        let pieces = match request.last_tool_result().is_empty() {
            true => pieces.clone(),
            false => vec![text("done"), ModelDelta::Finished(FinishReason::Stop)],
        };
        stream::iter(pieces.into_iter().map(Ok))
    })
}

fn agent(model: FunctionModel) -> ReactAgent {
    ReactAgent::builder("assistant", model)
        .tools(answers("look", "nothing"))
        .build()
        .unwrap()
}

fn look() -> ModelDelta {
    ModelDelta::ToolCall(ToolCall::new("c1", "look", "{}"))
}

// sm.4
#[tokio::test]
async fn text_before_a_call_and_an_empty_piece_after_it_keep_both() {
    let end = ModelDelta::Finished(FinishReason::ToolCalls);
    let agent = agent(writes(vec![text("Let me see."), look(), text(""), end]));

    let run = agent.run("Look.").await.unwrap();
    assert_eq!(run.messages()[1].text(), "Let me see.");
    assert_eq!(run.messages()[2].tool_results()[0].text(), "nothing");
}

// sm.5
#[tokio::test]
async fn reasoning_and_text_are_told_apart() {
    let thinks = ModelDelta::Reasoning("They ask.".to_owned());
    let end = ModelDelta::Finished(FinishReason::Stop);
    let (events, _) = events(
        agent(writes(vec![thinks, text("Hi."), end]))
            .run("Hi")
            .stream(),
    )
    .await;

    let pieces: Vec<(bool, &str)> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ReasoningDelta(piece) => Some((true, &**piece)),
            EventKind::TextDelta(piece) => Some((false, &**piece)),
            _ => None,
        })
        .collect();
    assert_eq!(pieces, [(true, "They ask."), (false, "Hi.")]);
}

// sm.6, TA-9
#[tokio::test]
async fn a_reader_gets_each_piece_once_and_each_result_whole() {
    let end = ModelDelta::Finished(FinishReason::ToolCalls);
    let agent = agent(writes(vec![text("Let "), text("me see."), look(), end]));
    let (events, _) = events(agent.run("Look.").stream()).await;

    let told: Vec<String> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::TextDelta(piece) => Some(piece.clone()),
            EventKind::ToolFinished { result, .. } => Some(format!("[{}]", result.text())),
            _ => None,
        })
        .collect();
    assert_eq!(told, ["Let ", "me see.", "[nothing]", "done"]);
}

// sm.7
#[tokio::test]
async fn usage_in_a_piece_of_its_own_counts() {
    let end = ModelDelta::Finished(FinishReason::Stop);
    let usage = ModelDelta::Usage(Usage::new(7, 5));

    let run = agent(writes(vec![text("Hi."), end, usage]))
        .run("Hi")
        .await
        .unwrap();
    assert_eq!(run.usage(), Usage::new(7, 5));
}

// sm.7, B13
#[tokio::test]
async fn an_empty_stream_and_an_error_in_it_are_errors() {
    let broke = || ModelError::new(ModelErrorKind::Transport, "the connection broke");
    let empty = FunctionModel::streaming(|_| stream::iter([]));
    let breaks = FunctionModel::streaming(move |_| stream::iter([Ok(text("Hi")), Err(broke())]));

    for (model, kind) in [
        (empty, ModelErrorKind::StreamTruncated),
        (breaks, ModelErrorKind::Transport),
    ] {
        let Err(AgentError::Model { source, .. }) = agent(model).run("Hi").await else {
            panic!("the run gave no error of the model");
        };
        assert_eq!(source.kind(), kind);
    }
}

/// A model around a model that leaves out a piece.
fn without(piece: &'static str, model: ScriptedModel) -> FunctionModel {
    FunctionModel::streaming(move |request| {
        let is_kept = move |delta: &Result<ModelDelta, ModelError>| {
            let drops = matches!(delta, Ok(ModelDelta::Text(text)) if text == piece);
            std::future::ready(!drops)
        };
        model.stream(request).filter(is_kept)
    })
}

// IC-2, ic.3
#[tokio::test]
async fn a_model_around_a_model_can_leave_out_a_piece_of_its_reply() {
    let agent = agent(without("b ", ScriptedModel::new([says("a b c")])));

    let (events, _) = events(agent.run("Hi").stream()).await;
    assert_eq!(shown(&events), "a c");
    assert_eq!(output(&events).text(), "a c");
}

// IC-2, ic.4, TA-10, ad.10
#[tokio::test]
async fn two_runs_have_replies_and_counts_of_their_own() {
    let turn = || says("a b c").with_usage(Usage::new(10, 20));
    let agent = agent(without("b ", ScriptedModel::new([turn(), turn()])));

    let (one, two) = tokio::join!(
        events(agent.run("1").stream()),
        events(agent.run("2").stream())
    );
    for (events, _) in [one, two] {
        assert_eq!(shown(&events), "a c");
        assert_eq!(output(&events).usage(), Usage::new(10, 20));
    }
}

/// Notes errors on their way out.
struct Notes(Arc<std::sync::Mutex<Vec<ModelErrorKind>>>, &'static str);

impl ModelInterceptor for Notes {
    fn name(&self) -> &str {
        self.1
    }

    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        Box::pin(async move {
            let reply = next.run(request).await;
            let kind = reply.as_ref().err().map(ModelError::kind);
            self.0.lock().unwrap().extend(kind);
            reply
        })
    }
}

/// Refuses every request.
struct Refuses;

impl ModelInterceptor for Refuses {
    fn intercept<'a>(
        &'a self,
        _: ChatRequest,
        _: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        let error = ModelError::new(ModelErrorKind::InvalidRequest, "not today");
        Box::pin(std::future::ready(Err(error)))
    }
}

// IC-2, ic.5
#[tokio::test]
async fn an_error_before_the_call_reaches_every_interceptor_around_it_and_the_run() {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([says("Hi.")]))
        .model_interceptor(Notes(Arc::clone(&seen), "outer"))
        .model_interceptor(Notes(Arc::clone(&seen), "inner"))
        .model_interceptor(Refuses)
        .build()
        .unwrap();

    let (_, error) = events(agent.run("Hi").stream()).await;
    let Some(AgentError::Model { source, .. }) = error else {
        panic!("the run gave no error of the model");
    };
    assert_eq!(source.to_string(), "not today");
    assert_eq!(*seen.lock().unwrap(), [ModelErrorKind::InvalidRequest; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_end_that_is_always_ready_is_ended_by_the_deadline() {
    for piece in [ModelDelta::Usage(Usage::new(1, 1)), text("on ")] {
        for streaming in [true, false] {
            let piece = piece.clone();
            let endless = FunctionModel::streaming(move |_| {
                let piece = piece.clone();
                stream::repeat_with(move || Ok(piece.clone()))
            });
            let limit = Duration::from_millis(20);
            let run = agent(endless).run("Hi").streaming(streaming);
            // It has its turn as soon as the run lets somebody else have one.
            tokio::spawn(tokio::time::advance(limit));

            let output = run.deadline(limit).await.unwrap();
            assert_eq!(output.outcome(), &Outcome::LimitReached(Limit::Deadline));
        }
    }
}

#[tokio::test]
async fn a_stream_without_end_that_is_always_ready_is_ended_by_its_token() {
    let token = CancellationToken::new();
    let cancels = token.clone();
    let endless = FunctionModel::streaming(move |_| {
        let (cancels, mut pieces) = (cancels.clone(), 0);
        stream::repeat_with(move || {
            pieces += 1;
            if pieces == 10_000 {
                cancels.cancel();
            }
            Ok(text(""))
        })
    });

    let output = agent(endless).run("Hi").cancel_token(token).await.unwrap();
    assert_eq!(output.outcome(), &Outcome::Cancelled);
}
