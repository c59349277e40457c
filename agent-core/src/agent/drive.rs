//! Takes a run from its input to its output: the start, the graph, the end.
//!
//! Not here: what a run starts with and what it refuses (`agent::start`).

use std::collections::HashMap;
use std::pin::{Pin, pin};
use std::sync::Arc;

use smol_str::SmolStr;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::approval::About;
use super::error::{AgentError, Failure};
use super::run::RunRequest;
use super::scope::{Record, RunScope};
use super::start::{Start, deadline, prepare};
use super::thread::OpenThread;
use crate::clock;
use crate::event::{
    EventKind, Interrupt, InterruptKind, Limit, Outcome, OutputParts, RunOutput, Sink,
};
use crate::graph::checkpoint::Recorder;
use crate::graph::{
    GraphEvent, GraphRun, KeyStrategies, NodeInterrupt, State, StateUpdate, StreamMode,
};
use crate::message::ToolResult;
use crate::state::delta::StateDelta;
use crate::telemetry;
use crate::tool::InterruptRequest;

/// Runs a request to its end, telling `sink` what happens.
///
/// The request is boxed, as its place in the future would stay as long as the run.
pub(super) async fn drive(request: Box<RunRequest>, sink: Sink) -> Result<RunOutput, AgentError> {
    let run_id: Arc<str> = crate::id::next("run").into();
    let thread_id: Option<Arc<str>> = request.thread.as_deref().map(Into::into);
    let around = request.outer.as_ref().map(|outer| &outer.span);
    let agent = &*request.agent.config.name;
    let span = telemetry::run_span(around, agent, &run_id, thread_id.as_deref());
    let (agent, started) = (Arc::clone(&request.agent.config.name), Instant::now());
    let token = request.token.child_token();
    let outer_token = request.outer_token.clone();
    let run = async {
        sink.send(|| EventKind::RunStarted {
            run_id: Arc::clone(&run_id),
            thread_id: thread_id.clone(),
        })
        .await;
        let mut request = request;
        let deadline = deadline(&request, started);
        let mut thread = match opened(&mut request, &token, deadline).await? {
            Ok(thread) => thread,
            Err(outcome) => return Ok(RunOutput::unbegun(outcome)),
        };
        let graph = request.agent.graph.clone();
        let (run_token, answers) = (token.clone(), request.answers.take());
        request.answers = answers.as_ref().map(|_| Vec::new());
        let (open, of_run) = (thread.as_mut(), (run_id, run_token, span.clone()));
        let Start {
            scope,
            mut state,
            new_from,
            began,
        } = prepare(*request, open, sink, of_run, deadline)?;
        let _early = EndsEarlyCalls(Arc::clone(&scope));
        let recorder = thread.as_ref().map(|thread| thread.opened.recorder());
        // Known by its thread until its end is written down.
        let mut running = None;
        if scope.is_too_deep() {
            scope.end(Outcome::LimitReached(Limit::Depth));
        } else {
            let mut run = graph.run(StateUpdate::new()).state(state);
            if let Some(thread) = thread {
                let stop = thread.running.control.stop.clone();
                run = run.opened(thread.opened).began(began).drain_token(stop);
                running = Some(thread.running);
                if let Some(answers) = answers {
                    run = run.resuming(answers);
                }
            }
            state = follow(run, &scope).await;
        }
        // Boxed, as the run would have room for it from its beginning.
        let ended = Box::pin(end(
            &scope,
            graph.strategies(),
            &mut state,
            recorder.as_ref(),
        ))
        .await;
        drop(running);
        finish(ended, state, new_from)
    };
    // In one place, whichever way it goes on: this is the largest thing a session keeps.
    let run = pin!(run.instrument(span.clone()));
    let result = match outer_token {
        None => run.await,
        Some(outer) => until_cancelled(run, &outer, &token).await,
    };
    record(&span, (&agent, started), &result);
    result
}

/// Opens the thread of a request, if it has one; else how the run ends before it is open.
async fn opened(
    request: &mut RunRequest,
    token: &CancellationToken,
    deadline: Option<Instant>,
) -> Result<Result<Option<OpenThread>, Outcome>, AgentError> {
    if request.thread.is_none() {
        return Ok(Ok(None));
    }
    tokio::select! {
        biased;
        opened = OpenThread::of(request) => opened.map(Ok),
        () = token.cancelled() => Ok(Err(Outcome::Cancelled)),
        () = clock::reached(deadline) => Ok(Err(Outcome::LimitReached(Limit::Deadline))),
    }
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
    mut run: Pin<&mut impl Future<Output = T>>,
    outer: &CancellationToken,
    token: &CancellationToken,
) -> T {
    tokio::select! {
        biased;
        () = outer.cancelled() => token.cancel(),
        result = &mut run => return result,
    }
    run.await
}

/// Runs the graph and tells its events.
async fn follow(run: GraphRun, scope: &Arc<RunScope>) -> State {
    // Every run of a graph ends with its state; a second one kept here would be copied from.
    let mut last = State::new();
    let modes = scope.sink.is_read().then_some(StreamMode::Nodes);
    let mut events = run
        .step_limit(u64::MAX)
        .stream_modes(modes)
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
            GraphEvent::StateUpdated { keys } => EventKind::StateUpdated { keys },
            GraphEvent::Interrupted { interrupts, state } => {
                last = state;
                let interrupts: Vec<Interrupt> = interrupts.into_iter().map(asked).collect();
                scope.end(Outcome::Interrupted(interrupts.clone()));
                EventKind::Interrupted(interrupts)
            }
            GraphEvent::Finished(state) => {
                last = state;
                continue;
            }
            // No node of an agent is tried again by its graph, and the others are not asked for.
            GraphEvent::NodeRetried { .. }
            | GraphEvent::Update { .. }
            | GraphEvent::Values(_)
            | GraphEvent::Custom { .. } => continue,
        };
        scope.sink.send(|| kind).await;
    }
    last
}

/// What a node asks, as the agent tells it.
fn asked(interrupt: NodeInterrupt) -> Interrupt {
    let about = About::of(&interrupt);
    let kind = match &about {
        _ if interrupt.is_breakpoint => InterruptKind::Stop,
        Some(about) => about.kind,
        None => InterruptKind::Question,
    };
    let call = about.and_then(|about| about.call);
    let (call_id, tool) = call.map_or_else(Default::default, |call| (call.id, call.name));
    Interrupt {
        id: interrupt.id,
        kind,
        node: interrupt.node,
        call_id,
        tool,
        request: InterruptRequest::new(interrupt.payload),
    }
}

/// How a run ended, as its nodes left it.
struct Ended {
    record: Record,
    outcome: Outcome,
    text: String,
    failure: Option<Failure>,
    unsupported: Vec<&'static str>,
}

/// Closes what is open, and writes down what that changes.
async fn end(
    scope: &RunScope,
    strategies: &KeyStrategies,
    state: &mut State,
    recorder: Option<&Arc<Recorder>>,
) -> Ended {
    let mut record = scope.record(std::mem::take);
    let mut failure = record.failure.take();
    let mut outcome = record.outcome.take().unwrap_or(Outcome::Finished);
    let is_paused = matches!(outcome, Outcome::Interrupted(_));
    let mail = scope
        .control
        .as_ref()
        .map_or_else(Vec::new, |it| it.close());
    let mut update = StateUpdate::new();
    if !is_paused {
        let text = match failure {
            Some(_) => "Error: the run failed before this call had its result",
            None => "Error: not run: the run ended before it",
        };
        let ended = std::mem::take(&mut record.results).into_iter();
        let mut ended: HashMap<SmolStr, ToolResult> = ended
            .map(|result| (result.call_id.clone(), result))
            .collect();
        for call in state.transcript().open_calls() {
            let result = ended.remove(&call.id);
            update = update.answer(result.unwrap_or_else(|| ToolResult::error(call, text)));
        }
    }
    let own = record.answer.clone();
    let text = own.or_else(|| answer(state)).unwrap_or_default();
    if let Some(key) = &scope.config.output_key
        && matches!(outcome, Outcome::Finished | Outcome::LimitReached(_))
    {
        update = update.put(key.as_str(), text.as_str().into());
    }
    let stays_open = is_paused || failure.is_some();
    if !stays_open {
        update = update.messages(mail.iter().cloned());
        if let Some(recorder) = recorder {
            recorder.mail_read(&mail);
        }
    }
    let changed = match strategies.apply_recorded(state, update) {
        Ok(delta) => delta,
        Err(error) => {
            outcome = Outcome::Failed;
            failure.get_or_insert(Failure::Graph(error.into()));
            let transcript = state.transcript_mut();
            transcript
                .close(|call| ToolResult::error(call, "Error: not run: the run ended before it"));
            StateDelta::default()
        }
    };
    if let Some(recorder) = recorder {
        let written = match stays_open {
            // The thread stands where the run stopped.
            true if mail.is_empty() => Ok(()),
            true => recorder.keep_mail(mail).await,
            false => recorder.add(changed).await,
        };
        if let Err(error) = written {
            failure.get_or_insert(Failure::Checkpoint(Box::new(error)));
        }
    }
    Ended {
        record,
        outcome,
        text,
        failure,
        unsupported: scope.unsupported.clone(),
    }
}

/// Makes the output, or the error that holds it, of what the nodes left behind.
fn finish(ended: Ended, state: State, new_from: usize) -> Result<RunOutput, AgentError> {
    let Ended {
        record,
        outcome,
        text,
        failure,
        unsupported,
    } = ended;
    let is_empty = outcome == Outcome::Finished
        && text.is_empty()
        && record.direct_results.is_empty()
        && !record.jumped;
    let output = RunOutput::new(OutputParts {
        outcome,
        text,
        finish_reason: record.finish_reason,
        usage: record.usage,
        calls: record.counts.totals(),
        state,
        new_from,
        direct_results: record.direct_results,
        unsupported,
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
