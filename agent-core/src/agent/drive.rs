//! Takes a run from its input to its output: checks, first state, the graph, the end.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::{Arc, Mutex};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::error::{AgentError, Failure};
use super::nested::Outer;
use super::react::Config;
use super::run::RunRequest;
use super::scope::{Record, RunScope};
use super::slots::ToolSlots;
use super::template;
use crate::clock;
use crate::event::{EventKind, Limit, Outcome, OutputParts, RunOutput, Sink};
use crate::graph::{CompiledGraph, GraphEvent, KeyStrategies, State, StateUpdate};
use crate::message::{ContentPart, Message, MessageBody, MessageId, Role, ToolResult, Transcript};
use crate::model::ToolList;
use crate::telemetry;
use crate::tool::{RunContext, ToolSet};

/// Runs a request to its end, telling `sink` what happens.
pub(super) async fn drive(request: RunRequest, sink: Sink) -> Result<RunOutput, AgentError> {
    let run_id: Arc<str> = crate::id::next("run").into();
    let thread_id: Option<Arc<str>> = request.thread.as_deref().map(Into::into);
    let span = telemetry::run_span(&request.agent.config.name, &run_id, thread_id.as_deref());
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
    record(&span, &result);
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

/// How many runs may go on inside this one. `None` for any number.
fn depth_left(outer: Option<&Outer>, limit: Option<u32>) -> Option<u32> {
    let own = limit.map(|limit| limit.saturating_sub(1));
    let left = outer.and_then(|outer| outer.scope.depth_left);
    let left = left.map(|left| left.saturating_sub(1));
    [own, left].into_iter().flatten().min()
}

/// The run's scope and the state it starts with; everything that can be refused is refused
/// here, before the first model call.
fn prepare(
    request: RunRequest,
    sink: Sink,
    run_id: Arc<str>,
    token: CancellationToken,
    span: tracing::Span,
) -> Result<(Arc<RunScope>, State, usize), AgentError> {
    let config = Arc::clone(&request.agent.config);
    let outer = request.outer;
    let own_deadline = request
        .deadline
        .map(|limit| clock::after(Instant::now(), limit));
    let mut hosts = config.hosts.overridden_by(&request.hosts);
    let mut metadata = Arc::clone(&config.metadata);
    if !request.metadata.is_empty() {
        Arc::make_mut(&mut metadata).extend(request.metadata);
    }
    if let Some(outer) = &outer {
        let around = &outer.scope.context;
        hosts = around.hosts.overridden_by(&hosts);
        for (key, value) in around.metadata.iter() {
            if !metadata.contains_key(key) {
                Arc::make_mut(&mut metadata).insert(key.clone(), value.clone());
            }
        }
    }
    let (tools, tool_list, tool_slots) = if request.tools.is_empty() {
        let own = &*config;
        (
            own.tools.clone(),
            own.tool_list.clone(),
            own.tool_slots.clone(),
        )
    } else {
        let tools = ToolSet::layered([ToolSet::new(request.tools)?, config.tools.clone()]);
        let tool_list = ToolList::new(tools.iter().map(|tool| tool.definition().clone()));
        let tool_slots = ToolSlots::of(&tools, &config.tool_slots);
        (tools, tool_list, tool_slots)
    };
    for tool in tools.iter() {
        if let Some(missing) = tool
            .definition()
            .required_hosts()
            .into_iter()
            .find(|host| !hosts.contains(host.id))
        {
            return Err(AgentError::MissingHost {
                tool: tool.definition().name().to_owned(),
                type_name: missing.name,
            });
        }
    }
    let (state, new_from) = first_state(
        &config,
        request.agent.graph.strategies(),
        request.state,
        request.input.0,
    )?;
    warn_of_second_system(&config, &state);
    let scope = RunScope {
        sink,
        context: RunContext {
            run_id,
            thread_id: None,
            hosts,
            metadata,
            blocking_in_place: config.blocking_in_place,
            leftovers: config.leftovers.clone(),
        },
        tools,
        tool_list,
        tool_slots,
        runtime: request.runtime,
        options: config.options.merged(&request.options),
        token,
        deadline: [own_deadline, outer.as_ref().map(|outer| outer.deadline)]
            .into_iter()
            .flatten()
            .min(),
        depth_left: depth_left(outer.as_deref(), config.limits.depth),
        outer,
        streaming: request.streaming.unwrap_or(config.streaming),
        span,
        record: Mutex::new(Record::default()),
        early: Mutex::new(None),
        config,
    };
    Ok((Arc::new(scope), state, new_from))
}

/// Many models take one system message, at the front; the others go out as they are.
fn warn_of_second_system(config: &Config, state: &State) {
    let systems = state.messages().iter();
    let count = systems
        .filter(|message| message.role() == Role::System)
        .count();
    if count + usize::from(config.system_prompt.is_some()) > 1 {
        tracing::warn!(
            agent = &*config.name,
            count,
            "the history holds system messages beside the system prompt"
        );
    }
}

/// State values, then the history with the instruction before its last message.
fn first_state(
    config: &Config,
    strategies: &KeyStrategies,
    values: StateUpdate,
    mut input: Vec<Message>,
) -> Result<(State, usize), AgentError> {
    let mut state = State::new();
    strategies.apply(&mut state, values)?;
    if input.is_empty() {
        // Without messages, the key `input` is what is asked.
        match state.value("input").and_then(serde_json::Value::as_str) {
            Some(text) => input.push(Message::user(text)),
            None => return Err(AgentError::NoInput),
        }
    }
    if let Some(template) = &config.instruction {
        let text = template::render(template, &state)?;
        place_instruction(&config.name, text, &mut input);
    }
    let mut new_from = input
        .iter()
        .rposition(|message| !message.tool_calls().is_empty() || message.as_assistant().is_some())
        .map_or(0, |last| last + 1);
    if input
        .get(new_from)
        .is_some_and(|message| !message.tool_results().is_empty())
    {
        new_from += 1;
    }
    // Told as what it is, before the state refuses it.
    Transcript::from_messages(input.iter().cloned())?;
    strategies.apply(&mut state, StateUpdate::new().messages(input))?;
    Ok((state, new_from))
}

/// One copy per agent: one that is there already is brought up to date where it stands.
fn place_instruction(agent: &str, text: String, messages: &mut Vec<Message>) {
    let id = MessageId::new(format!("instruction:{agent}"));
    let rendered = Message::with_id(id.clone(), MessageBody::User(vec![ContentPart::Text(text)]));
    match messages.iter_mut().find(|message| *message.id() == id) {
        Some(message) if message.body() == rendered.body() => {}
        Some(message) => *message = rendered,
        None => {
            let before_last_user = messages
                .iter()
                .rposition(|message| message.role() == Role::User);
            // Without one, in front: the history may end with calls that are still open.
            let systems = messages.iter().take_while(|m| m.role() == Role::System);
            let front = systems.count();
            messages.insert(before_last_user.unwrap_or(front), rendered);
        }
    }
}

/// Runs the graph and tells its events.
async fn follow(graph: &CompiledGraph, scope: &Arc<RunScope>, state: State) -> State {
    let mut last = state.clone();
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
            GraphEvent::StateUpdated { keys } => {
                let keys: BTreeSet<String> = keys.into_iter().collect();
                EventKind::StateUpdated {
                    keys: keys.into_iter().map(Into::into).collect(),
                }
            }
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
    let outcome = record.outcome.unwrap_or(Outcome::Finished);
    if record.failure.is_some() {
        let text = "Error: the run failed before this call had its result";
        state
            .transcript_mut()
            .close(|call| ToolResult::error(call, text));
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
        strategies.apply(&mut state, update)?;
    }
    let output = RunOutput::new(OutputParts {
        outcome,
        text,
        finish_reason: record.finish_reason,
        usage: record.usage,
        state,
        new_from,
        direct_results: record.direct_results,
    });
    match record.failure {
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

fn record(span: &tracing::Span, result: &Result<RunOutput, AgentError>) {
    match result {
        Ok(output) => {
            span.record("outcome", tracing::field::debug(output.outcome()));
            span.record(telemetry::INPUT_TOKENS, output.usage().input_tokens);
            span.record(telemetry::OUTPUT_TOKENS, output.usage().output_tokens);
        }
        Err(error) => {
            span.record(telemetry::ERROR_TYPE, tracing::field::display(error));
        }
    }
}
