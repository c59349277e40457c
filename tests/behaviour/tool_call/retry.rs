//! Failed calls that are tried again.

use std::time::Duration;

use agent_core::agent::ToolRetry;
use agent_core::event::EventKind;
use agent_core::tool::Effect;
use agent_core::{ReactAgent, ToolContext, ToolError};
use agent_tests::runs::{events, output, result_texts};
use agent_tests::tools::{ClosureTool, Counter, tool};
use serde_json::json;

use super::{agent, model, pairs};

/// Fails with `error` as often as told, then gives its attempt.
fn fails(
    times: usize,
    ran: &Counter,
    error: impl Fn() -> ToolError + Clone + Send + Sync + 'static,
) -> ClosureTool {
    let shared = (ran.clone(), error, times);
    tool(
        "fails",
        shared,
        async |(ran, error, times), _, context: ToolContext| {
            context.update("attempt", context.attempt())?;
            if ran.add() < times {
                return Err(error());
            }
            Ok(format!("attempt {}", context.attempt()))
        },
    )
}

fn refused() -> ToolError {
    ToolError::failed("connection refused")
}

fn retrying(tool: ClosureTool, retry: ToolRetry) -> ReactAgent {
    let agent = agent(&model(&["fails"]), tool).tool_retry(retry);
    agent.build().unwrap()
}

// All attempts are in the events, and only the last one's update counts.
#[tokio::test(start_paused = true)]
async fn a_safe_tool_that_fails_runs_again_until_it_goes_well() {
    let ran = Counter::default();
    let tool = fails(2, &ran, refused).effect(Effect::Idempotent);

    let (events, error) = events(retrying(tool, ToolRetry::new()).run("Go").stream()).await;

    assert!(error.is_none(), "{error:?}");
    let retries: Vec<(u32, &str)> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ToolRetried { attempt, error, .. } => Some((*attempt, &**error)),
            _ => None,
        })
        .collect();
    let text = "Error: connection refused";
    assert_eq!(retries, [(2, text), (3, text)]);
    let run = output(&events);
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", "attempt 3")]));
    assert_eq!(run.state().value("attempt"), Some(&json!(3)));
}

#[tokio::test(start_paused = true)]
async fn the_last_error_is_told_after_the_last_attempt() {
    let ran = Counter::default();
    let tool = fails(9, &ran, refused).effect(Effect::Pure);

    let run = retrying(tool, ToolRetry::new().attempts(4))
        .run("Go")
        .await
        .unwrap();

    assert_eq!(ran.get(), 4);
    let text = "Error: connection refused";
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", text)]));
    assert_eq!(run.state().value("attempt"), None);
}

// E2
#[tokio::test(start_paused = true)]
async fn a_tool_whose_runs_count_never_runs_twice() {
    let ran = Counter::default();

    let agent = retrying(fails(9, &ran, refused), ToolRetry::new());
    agent.run("Go").await.unwrap();

    assert_eq!(ran.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_another_attempt_cannot_mend_is_not_tried_again() {
    let bad: [fn() -> ToolError; 3] = [
        || ToolError::correctable("no such city"),
        || ToolError::invalid_arguments("no city"),
        || panic!("a bug"),
    ];
    for error in bad {
        let ran = Counter::default();
        let tool = fails(9, &ran, error).effect(Effect::Pure);

        retrying(tool, ToolRetry::new()).run("Go").await.unwrap();

        assert_eq!(ran.get(), 1);
    }
    let ran = Counter::default();
    let tool = fails(9, &ran, refused).effect(Effect::Pure);
    let never = ToolRetry::new().when(|error| error.to_string().contains("timed out"));
    retrying(tool, never).run("Go").await.unwrap();
    assert_eq!(ran.get(), 1);
}

// C2: one limit for all attempts
#[tokio::test(start_paused = true)]
async fn an_attempt_that_could_only_begin_too_late_is_not_waited_for() {
    let ran = Counter::default();
    let tool = fails(9, &ran, refused).effect(Effect::Pure);
    let retry = ToolRetry::new()
        .attempts(9)
        .min_delay(Duration::from_secs(2));
    let started = tokio::time::Instant::now();

    let run = retrying(tool.timeout(Duration::from_secs(1)), retry);
    let run = run.run("Go").await.unwrap();

    assert_eq!(started.elapsed(), Duration::ZERO);
    let text = "Error: connection refused";
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", text)]));
}
