//! Takes a run from its input to its output: the start, the graph, the end.
//!
//! Not here: what a run starts with and what it refuses (`agent::start`).

use std::pin::pin;
use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::error::{AgentError, Failure};
use super::run::RunRequest;
use super::scope::RunScope;
use super::start::prepare;
use crate::event::{EventKind, Limit, Outcome, OutputParts, RunOutput, Sink};
use crate::graph::{CompiledGraph, GraphEvent, KeyStrategies, State, StateUpdate};
use crate::message::ToolResult;
use crate::telemetry;

/// Runs a request to its end, telling `sink` what happens.
pub(super) async fn drive(request: RunRequest, sink: Sink) -> Result<RunOutput, AgentError> {
    let run_id: Arc<str> = crate::id::next("run").into();
    let thread_id: Option<Arc<str>> = request.thread.as_deref().map(Into::into);
    let span = telemetry::run_span(&request.agent.config.name, &run_id, thread_id.as_deref());
    let (agent, started) = (Arc::clone(&request.agent.config.name), Instant::now());
    let token = request.token.child_token();
    let outer_token = request.outer_token.clone();
    let run = async {
        sink.send(EventKind::RunStarted {
            run_id: Arc::clone(&run_id),
            thread_id: thread_id.clone(),
        })
        .await;
        if let Some(thread) = request.thread {
            return Err(AgentError::NoSaver { thread });
        }
        let graph = request.agent.graph.clone();
        let run_token = token.clone();
        let (scope, mut state, new_from) = prepare(request, sink, run_id, run_token, span.clone())?;
        let _early = EndsEarlyCalls(Arc::clone(&scope));
        if scope.is_too_deep() {
            scope.end(Outcome::LimitReached(Limit::Depth));
        } else {
            state = follow(&graph, &scope, state).await;
        }
        finish(&scope, graph.strategies(), state, new_from)
    };
    let run = run.instrument(span.clone());
    let result = match outer_token {
        None => run.await,
        Some(outer) => until_cancelled(run, &outer, &token).await,
    };
    record(&span, (&agent, started), &result);
    result
}

/// Ends what was begun early, however the run ends: such a call holds the scope it is kept in.
struct EndsEarlyCalls(Arc<RunScope>);

impl Drop for EndsEarlyCalls {
    fn drop(&mut self) {
        drop(self.0.keep_early(None));
    }
}

/// Cancels the run, which then ends in its own way, once the call it goes on in is cancelled.
async fn until_cancelled<T>(
    run: impl Future<Output = T>,
    outer: &CancellationToken,
    token: &CancellationToken,
) -> T {
    let mut run = pin!(run);
    tokio::select! {
        biased;
        () = outer.cancelled() => token.cancel(),
        result = &mut run => return result,
    }
    run.await
}

/// Runs the graph and tells its events.
async fn follow(graph: &CompiledGraph, scope: &Arc<RunScope>, state: State) -> State {
    // Every run of a graph ends with its state; a second one kept here would be copied from.
    let mut last = State::new();
    let mut events = graph
        .run(StateUpdate::new())
        .state(state)
        .step_limit(u64::MAX)
        .extension(Arc::clone(scope))
        .stream();
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                last = error.state().clone();
                scope.stop(Failure::of(error));
                break;
            }
        };
        let kind = match event {
            GraphEvent::NodeStarted { node, step } => EventKind::NodeStarted { node, step },
            GraphEvent::NodeFinished {
                node,
                step,
                duration,
            } => EventKind::NodeFinished {
                node,
                step,
                duration,
            },
            GraphEvent::StateUpdated { keys } => EventKind::StateUpdated {
                keys: keys.into_iter().map(Into::into).collect(),
            },
            GraphEvent::Interrupted { state, .. } | GraphEvent::Finished(state) => {
                last = state;
                continue;
            }
        };
        scope.sink.send(kind).await;
    }
    last
}

/// Makes the output, or the error that holds it, of what the nodes left behind.
fn finish(
    scope: &RunScope,
    strategies: &KeyStrategies,
    mut state: State,
    new_from: usize,
) -> Result<RunOutput, AgentError> {
    let record = scope.record(std::mem::take);
    let mut outcome = record.outcome.unwrap_or(Outcome::Finished);
    let mut failure = record.failure;
    if !matches!(outcome, Outcome::Interrupted(_)) {
        let text = match failure {
            Some(_) => "Error: the run failed before this call had its result",
            None => "Error: not run: the run ended before it",
        };
        let transcript = state.transcript_mut();
        transcript.close(|call| ToolResult::error(call, text));
    }
    let text = answer(&state).unwrap_or_default();
    let is_empty = outcome == Outcome::Finished
        && text.is_empty()
        && record.direct_results.is_empty()
        && !record.jumped;
    if let Some(key) = &scope.config.output_key
        && matches!(outcome, Outcome::Finished | Outcome::LimitReached(_))
    {
        let update = StateUpdate::new().put(key.as_str(), text.as_str().into());
        if let Err(error) = strategies.apply(&mut state, update) {
            outcome = Outcome::Failed;
            failure = Some(Failure::Graph(error.into()));
        }
    }
    let output = RunOutput::new(OutputParts {
        outcome,
        text,
        finish_reason: record.finish_reason,
        usage: record.usage,
        calls: record.counts.totals(),
        state,
        new_from,
        direct_results: record.direct_results,
    });
    match failure {
        Some(failure) => Err(failure.with(output)),
        None if is_empty => Err(AgentError::EmptyAnswer { output }),
        None => Ok(output),
    }
}

/// The text of the last reply, if that ends the history and calls no tool.
fn answer(state: &State) -> Option<String> {
    let last = state.messages().last()?;
    let answer = last.as_assistant()?;
    answer.tool_calls.is_empty().then(|| answer.text.clone())
}

fn record(
    span: &tracing::Span,
    (agent, started): (&str, Instant),
    result: &Result<RunOutput, AgentError>,
) {
    let error = result.as_ref().err().map(AgentError::word);
    let output = result.as_ref().map_or_else(AgentError::output, Some);
    let calls = output.map_or((0, 0), RunOutput::calls);
    telemetry::metrics::agent_ended(agent, error, started.elapsed(), calls);
    match result {
        Ok(output) => {
            span.record("outcome", output.outcome().word());
            span.record(telemetry::INPUT_TOKENS, output.usage().input_tokens);
            span.record(telemetry::OUTPUT_TOKENS, output.usage().output_tokens);
        }
        Err(error) => {
            span.record(telemetry::ERROR_TYPE, error.word());
        }
    }
}
