//! One tool call of an agent: its lookup, its slot, its time, and the run of the tool.
//!
//! Not here: what becomes of its outcome (`agent::call_end`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};
use tracing::Instrument as _;

use super::call_end::{CallEnd, end_call};
use super::earlier::Turn;
use super::early::EarlyCall;
use super::error::Failure;
use super::interceptor::{ToolNext, ToolRequest, tries};
use super::nested::Outer;
use super::scope::RunScope;
use super::slots;
use crate::boxed::BoxFuture;
use crate::clock;
use crate::event::{EventKind, Gate};
use crate::graph::{State, StateUpdate};
use crate::message::ToolCall;
use crate::telemetry;
use crate::tool::{
    CallAnswer, CallContext, Effect, Progress, ToolCallback, ToolContext, ToolError, ToolOutcome,
    executor::{self, TimeLimit, Whose},
};

/// How a call gets its turn.
#[derive(Clone, Copy)]
pub(super) struct Admission<'a> {
    /// What the call's name leads to, if to anything.
    pub(super) tool: Option<&'a Arc<dyn ToolCallback>>,
    /// Since when its clock has been going: a call whose time is over before it has a slot
    /// never starts.
    pub(super) since: Instant,
    /// The slots it waits for one of.
    pub(super) slots: &'a Semaphore,
    /// Set once the tool runs.
    pub(super) began: &'a AtomicBool,
    /// What is known of the turn's calls, and where it is written down.
    pub(super) turn: &'a Turn,
    /// The answers to what the call asked.
    pub(super) answers: &'a [CallAnswer],
}

/// Runs one call.
pub(super) async fn run_call(
    scope: &Arc<RunScope>,
    state: &State,
    call: &ToolCall,
    admission: Admission<'_>,
) -> CallEnd {
    let span = telemetry::tool_span(&scope.span, call);
    let started = admission.since;
    let outcome = attempt(scope, state, call, admission)
        .instrument(span.clone())
        .await;
    end_call(scope, call, outcome, (span, started, admission)).await
}

/// Takes a call over that has begun while the model was still writing.
pub(super) async fn go_on(
    scope: &Arc<RunScope>,
    early: Box<EarlyCall>,
    admission: Admission<'_>,
) -> CallEnd {
    let EarlyCall {
        call,
        task,
        gate,
        span,
        started,
        ..
    } = *early;
    scope
        .sink
        .send(|| EventKind::ToolStarted { call: call.clone() })
        .await;
    admission.began.store(true, Ordering::Relaxed);
    gate.open().await;
    let outcome = task.end().await.unwrap_or_else(Attempt::not_run);
    end_call(scope, &call, outcome, (span, started, admission)).await
}

/// What running a call gave, before anybody decided about its error.
pub(super) struct Attempt {
    pub(super) result: Result<ToolOutcome, ToolError>,
    pub(super) update: StateUpdate,
    pub(super) direct: bool,
    /// True if the tool had begun.
    pub(super) ran: bool,
    /// Why the run cannot go on, whatever the call gave.
    pub(super) failure: Option<Failure>,
}

impl Attempt {
    fn not_run(error: ToolError) -> Self {
        Self {
            result: Err(error),
            update: StateUpdate::new(),
            direct: false,
            ran: false,
            failure: None,
        }
    }
}

async fn attempt(
    scope: &Arc<RunScope>,
    state: &State,
    call: &ToolCall,
    admission: Admission<'_>,
) -> Attempt {
    if let Some(invalid) = call.invalid {
        return Attempt::not_run(ToolError::invalid_arguments(format!("not run: {invalid}")));
    }
    let tool = match look_up(scope, call, admission.tool) {
        Ok(tool) => tool,
        Err(error) => return Attempt::not_run(error),
    };
    let time = time_limit(scope, &tool, admission.since);
    let _slots = match take(scope, &tool, admission.slots, time).await {
        Ok(slots) => slots,
        Err(error) => return Attempt::not_run(error),
    };
    if tool.metadata().declared_effect() == Effect::Once {
        // Boxed, as no other call needs the room.
        if admission.turn.is_noted()
            && let Err(failure) = Box::pin(admission.turn.begin(call)).await
        {
            return Attempt {
                failure: Some(failure),
                ..Attempt::not_run(ToolError::cancelled())
            };
        }
        let name = tool.definition().name().to_owned();
        scope.record(|record| record.effects.push(name));
    }
    scope
        .sink
        .send(|| EventKind::ToolStarted { call: call.clone() })
        .await;
    admission.began.store(true, Ordering::Relaxed);
    let gate = Gate::new(scope.sink.clone());
    run(scope, (state, admission.answers), call, &tool, (gate, time)).await
}

/// Runs a call while the model still writes, once there is a slot for it. `began` is asked then:
/// if it says no, the call is run later, as any other.
pub(super) async fn run_early(
    scope: Arc<RunScope>,
    state: State,
    call: ToolCall,
    (tool, slots, gate): (Arc<dyn ToolCallback>, Arc<Semaphore>, Gate),
    may_begin: impl FnOnce() -> bool + Send,
) -> Attempt {
    let time = time_limit(&scope, &tool, Instant::now());
    match take(&scope, &tool, &slots, time).await {
        Ok(_slots) if may_begin() => run(&scope, (&state, &[]), &call, &tool, (gate, time)).await,
        Ok(_) => Attempt::not_run(ToolError::cancelled()),
        Err(error) => Attempt::not_run(error),
    }
}

/// The tool that a call is for.
fn look_up(
    scope: &RunScope,
    call: &ToolCall,
    found: Option<&Arc<dyn ToolCallback>>,
) -> Result<Arc<dyn ToolCallback>, ToolError> {
    let found = match found {
        Some(tool) => Ok(Arc::clone(tool)),
        // Once more, for its error.
        None => scope.find_tool(&call.name),
    };
    match &found {
        Ok(tool) if tool.definition().name() != call.name => tracing::info!(
            called = call.name,
            runs = tool.definition().name(),
            "the tool has another name than the model called"
        ),
        Ok(_) => {}
        Err(_) => tracing::warn!(
            called = call.name,
            "no such tool; the model may have changed or shortened the name"
        ),
    }
    found
}

/// Runs the tool in its time. It has its slots.
async fn run(
    scope: &Arc<RunScope>,
    (state, answers): (&State, &[CallAnswer]),
    call: &ToolCall,
    tool: &Arc<dyn ToolCallback>,
    (gate, time): (Gate, TimeLimit),
) -> Attempt {
    let context = context(
        scope,
        (state, answers),
        call,
        tool.definition().name(),
        time.deadline,
        &gate,
    );
    let runtime = scope.runtime_of(tool.definition().name());
    let result = if runtime.is_none() && scope.config.tool_interceptors.is_empty() {
        let running = tries(&scope.config, tool, call, &context);
        executor::execute(running, &context, time).await
    } else {
        let request = ToolRequest::new(call.clone(), context.clone(), Arc::clone(tool));
        let config = Arc::clone(&scope.config);
        // The chain is begun inside, so that a panic before its first await is caught too.
        let running = async move { ToolNext::new(&config).run(request).await };
        match runtime {
            None => executor::execute(running, &context, time).await,
            Some(runtime) => {
                let running = slots::on(runtime.clone(), running);
                executor::execute(running, &context, time).await
            }
        }
    };
    // What the tool left running has nothing more to say.
    gate.close();
    Attempt {
        result,
        update: context.take_updates(),
        direct: tool.metadata().is_return_direct(),
        ran: !context.never_ran(),
        failure: None,
    }
}

/// A slot of each kind to run in, as long as the call's time is not over and the run goes on.
async fn take<'a>(
    scope: &RunScope,
    tool: &Arc<dyn ToolCallback>,
    of_turn: &'a Semaphore,
    time: TimeLimit,
) -> Result<(Option<OwnedSemaphorePermit>, SemaphorePermit<'a>), ToolError> {
    let own = scope.slots_of(tool.definition().name());
    let has_begun = || !scope.token.is_cancelled() && Instant::now() < time.deadline;
    if own.is_none()
        && let Ok(slot) = of_turn.try_acquire()
        && has_begun()
    {
        return Ok((None, slot));
    }
    let all = async {
        let closed = |_| ToolError::cancelled();
        // The tool's own first: who waits for a busy tool keeps no slot from the others.
        let own = match own {
            Some(slots) => Some(slots.acquire_owned().await.map_err(closed)?),
            None => None,
        };
        Ok((own, of_turn.acquire().await.map_err(closed)?))
    };
    let taken = tokio::select! {
        biased;
        () = scope.token.cancelled() => return Err(ToolError::cancelled()),
        taken = all => taken,
        () = sleep_until(time.deadline) => return Err(time.error(false)),
    };
    if Instant::now() >= time.deadline {
        return Err(time.error(false));
    }
    taken
}

/// The smallest of the tool's, the agent's and the run's limit.
fn time_limit(scope: &RunScope, tool: &Arc<dyn ToolCallback>, started: Instant) -> TimeLimit {
    let agent = scope.config.tool_timeout;
    let own = tool.metadata().time_limit().filter(|own| *own <= agent);
    let (limit, whose) = match own {
        Some(own) => (own, Whose::Tool(own)),
        None => (agent, Whose::Agent(agent)),
    };
    let deadline = clock::after(started, limit);
    match scope.deadline {
        Some(run) if run < deadline => TimeLimit {
            deadline: run,
            whose: Whose::Run,
        },
        _ => TimeLimit { deadline, whose },
    }
}

fn context(
    scope: &Arc<RunScope>,
    (state, answers): (&State, &[CallAnswer]),
    call: &ToolCall,
    tool: &str,
    deadline: Instant,
    gate: &Gate,
) -> ToolContext {
    let (call_id, tool_name): (Arc<str>, Arc<str>) = (call.id.as_str().into(), tool.into());
    let progress = scope.sink.is_read().then(|| {
        let (call_id, tool, gate) = (Arc::clone(&call_id), Arc::clone(&tool_name), gate.clone());
        let say = move |value| {
            let kind = EventKind::ToolProgress {
                call_id: call_id.to_string(),
                tool: tool.to_string(),
                value,
            };
            let kind = gate.try_send(kind)?;
            let gate = gate.clone();
            Some(Box::pin(async move { gate.send(kind).await }) as BoxFuture<'static, ()>)
        };
        Arc::new(say) as Progress
    });
    ToolContext::for_call(
        Arc::clone(&scope.context),
        CallContext {
            call_id,
            message_id: state.messages().last().map(|message| message.id().clone()),
            tool_name,
            deadline: Some(deadline),
            state: state.clone(),
            outer: Some(Arc::new(Outer {
                scope: Arc::clone(scope),
                gate: gate.clone(),
                deadline,
                span: tracing::Span::current(),
            })),
            cancellation: scope.token.child_token(),
            answers: answers.to_vec(),
            progress,
        },
    )
}
