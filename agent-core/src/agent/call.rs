//! One tool call of an agent: its lookup, its slot, its time, and the run of the tool.
//!
//! Not here: what becomes of its outcome (`agent::call_end`).

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};
use tracing::{Instrument as _, Span};

use super::call_end::{CallEnd, end_call};
use super::earlier::Turn;
use super::early::EarlyCall;
use super::error::Failure;
use super::interceptor::{ToolNext, ToolRequest, tries};
use super::plan::Plan;
use super::scope::RunScope;
use super::slots;
use crate::boxed::BoxFuture;
use crate::clock;
use crate::event::{EventKind, Gate};
use crate::graph::{State, StateUpdate};
use crate::message::ToolCall;
use crate::telemetry;
use crate::tool::{
    CallAnswer, CallContext, CallId, Effect, Progress, ToolCallback, ToolContext, ToolError,
    ToolOutcome, TurnContext,
    executor::{self, TimeLimit, Whose},
};

/// How a call gets its turn. What it is made of is passed on by reference: a call that waits keeps
/// whatever it is given.
pub(super) struct Admission<'a> {
    pub(super) scope: &'a Arc<RunScope>,
    /// Since when its clock has been going: a call whose time is over before it has a slot
    /// never starts.
    pub(super) since: Instant,
    /// The slots it waits for one of, if there are not enough for all.
    pub(super) slots: Option<&'a Semaphore>,
    /// What is known of the turn's calls, and where it is written down.
    pub(super) turn: &'a Turn,
    /// What its tool may know of the turn.
    pub(super) context: &'a Arc<TurnContext>,
}

/// Runs one call.
pub(super) async fn run_call(plan: &mut Plan<'_>, admission: &Admission<'_>) -> CallEnd {
    let Admission { scope, turn, .. } = admission;
    let span = telemetry::tool_span(&scope.span, plan.call);
    let attempt = attempt(plan, &span, admission);
    let outcome = match span.is_disabled() {
        true => attempt.await,
        false => attempt.instrument(span.clone()).await,
    };
    end_call(scope, plan, outcome, (&span, admission.since, turn)).await
}

/// Takes a call over that has begun while the model was still writing.
pub(super) async fn go_on(
    plan: &mut Plan<'_>,
    early: EarlyCall,
    admission: &Admission<'_>,
) -> CallEnd {
    let Admission { scope, turn, .. } = admission;
    let EarlyCall {
        call,
        task,
        gate,
        span,
        started,
        ..
    } = early;
    scope.sink.send(|| EventKind::ToolStarted { call }).await;
    plan.began = true;
    gate.open().await;
    let outcome = task.end().await.unwrap_or_else(Attempt::not_run);
    end_call(scope, plan, outcome, (&span, started, turn)).await
}

/// What running a call gave, before anybody decided about its error.
pub(super) struct Attempt {
    pub(super) result: Result<ToolOutcome, ToolError>,
    pub(super) update: StateUpdate,
    pub(super) direct: bool,
    /// True if the tool had begun.
    pub(super) ran: bool,
    /// Why the run cannot go on, whatever the call gave.
    pub(super) failure: Option<Box<Failure>>,
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

async fn attempt(plan: &mut Plan<'_>, span: &Span, admission: &Admission<'_>) -> Attempt {
    let (scope, call) = (admission.scope, plan.call);
    if let Some(invalid) = call.invalid {
        return Attempt::not_run(ToolError::invalid_arguments(format!("not run: {invalid}")));
    }
    let found;
    let tool = match &plan.tool {
        Some(tool) => tool,
        // Once more, for its error.
        None => match scope.find_tool(&call.name) {
            Ok(tool) => {
                found = tool;
                &found
            }
            Err(error) => {
                tracing::warn!(
                    called = call.name(),
                    "no such tool; the model may have changed or shortened the name"
                );
                return Attempt::not_run(error);
            }
        },
    };
    let name = tool.definition().name();
    if name != call.name {
        tracing::info!(
            called = call.name(),
            runs = name,
            "the tool has another name than the model called"
        );
    }
    let time = time_limit(scope, tool, admission.since);
    let _slots = match take(scope, tool, admission.slots, &time).await {
        Ok(slots) => slots,
        Err(error) => return Attempt::not_run(error),
    };
    if admission.turn.is_noted() && tool.metadata().declared_effect() == Effect::Once {
        // Boxed, as no other call needs the room.
        if let Err(failure) = Box::pin(admission.turn.begin(call)).await {
            return Attempt {
                failure: Some(Box::new(failure)),
                ..Attempt::not_run(ToolError::cancelled())
            };
        }
        scope.record(|record| record.effects.push(name.to_owned()));
    }
    let is_heard = scope.sink.is_read();
    if is_heard {
        let kind = || EventKind::ToolStarted { call: call.clone() };
        scope.sink.send(kind).await;
    }
    plan.began = true;
    // To write it down and to tell it may have taken time.
    if (is_heard || admission.turn.is_noted()) && Instant::now() >= time.deadline {
        return Attempt::not_run(time.error(false));
    }
    let gate = is_heard.then(|| Arc::new(Gate::new(scope.sink.clone())));
    let context = context(
        admission.context,
        (call, CallId::At(plan.position)),
        (tool, gate.as_ref()),
        (&time, span.clone(), std::mem::take(&mut plan.answers)),
    );
    run(scope, (call, tool), &context, (&time, gate.as_deref())).await
}

/// Runs a call while the model still writes, once there is a slot for it. `began` is asked then:
/// if it says no, the call is run later, as any other.
pub(super) async fn run_early(
    scope: Arc<RunScope>,
    turn: Arc<TurnContext>,
    (call, span): (ToolCall, Span),
    (tool, slots, gate): (Arc<dyn ToolCallback>, Arc<Semaphore>, Gate),
    may_begin: impl FnOnce() -> bool + Send,
) -> Attempt {
    let time = time_limit(&scope, &tool, Instant::now());
    match take(&scope, &tool, Some(&*slots), &time).await {
        Ok(_slots) if may_begin() => {
            let (id, gate) = (CallId::Own(call.id.clone()), Arc::new(gate));
            let tool_and_gate = (&tool, Some(&gate));
            let about = (&time, span, Vec::new());
            let context = context(&turn, (&call, id), tool_and_gate, about);
            run(&scope, (&call, &tool), &context, (&time, Some(&gate))).await
        }
        Ok(_) => Attempt::not_run(ToolError::cancelled()),
        Err(error) => Attempt::not_run(error),
    }
}

/// Runs the tool in its time. It has its slots.
async fn run(
    scope: &RunScope,
    (call, tool): (&ToolCall, &Arc<dyn ToolCallback>),
    context: &ToolContext,
    (time, gate): (&TimeLimit, Option<&Gate>),
) -> Attempt {
    let running = || begun(scope, call, tool, context);
    let result = executor::execute(running, context, time).await;
    // What the tool left running has nothing more to say.
    if let Some(gate) = gate {
        gate.close();
    }
    Attempt {
        result,
        update: context.take_updates(),
        direct: tool.metadata().is_return_direct(),
        ran: !context.never_ran(),
        failure: None,
    }
}

/// What the tool of a call may know.
fn context(
    turn: &Arc<TurnContext>,
    (call, call_id): (&ToolCall, CallId),
    (tool, gate): (&Arc<dyn ToolCallback>, Option<&Arc<Gate>>),
    (time, span, answers): (&TimeLimit, Span, Vec<CallAnswer>),
) -> ToolContext {
    let special = CallContext {
        call_id,
        tool: Arc::clone(tool),
        deadline: time.deadline,
        span,
        progress: gate.map(|gate| progress(call, tool, gate)),
        gate: gate.map(|gate| Arc::clone(gate) as _),
        answers,
    };
    ToolContext::for_call(Arc::clone(turn), special)
}

/// The tool at work, behind the agent's interceptors and on its runtime, if it has any.
fn begun<'a>(
    scope: &'a RunScope,
    call: &'a ToolCall,
    tool: &'a Arc<dyn ToolCallback>,
    context: &'a ToolContext,
) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
    let runtime = scope.runtime_of(tool.definition().name());
    if runtime.is_none() && scope.config.tool_interceptors.is_empty() {
        return tries(&scope.config, tool, call, context);
    }
    let request = ToolRequest::new(call.clone(), context.clone(), Arc::clone(tool));
    let config = Arc::clone(&scope.config);
    // The chain is begun inside, so that it runs on that runtime from its beginning.
    let running = async move { ToolNext::new(&config).run(request).await };
    match runtime {
        None => Box::pin(running),
        Some(runtime) => Box::pin(slots::on(runtime.clone(), running)),
    }
}

/// Takes what the tool says of its progress to the events.
fn progress(call: &ToolCall, tool: &Arc<dyn ToolCallback>, gate: &Arc<Gate>) -> Progress {
    let tool = tool.definition().name().to_owned();
    let (call_id, gate) = (call.id.clone(), Arc::clone(gate));
    Arc::new(move |value| {
        let kind = EventKind::ToolProgress {
            call_id: call_id.to_string(),
            tool: tool.clone(),
            value,
        };
        let kind = gate.try_send(kind)?;
        let gate = Arc::clone(&gate);
        Some(Box::pin(async move { gate.send(kind).await }) as BoxFuture<'static, ()>)
    })
}

/// The slots that a call runs in: that of its tool, if it limits its calls, and that of the turn.
type Slots<'a> = (Option<OwnedSemaphorePermit>, Option<SemaphorePermit<'a>>);

/// A slot of each kind to run in, as long as the call's time is not over and the run goes on.
async fn take<'a>(
    scope: &RunScope,
    tool: &Arc<dyn ToolCallback>,
    of_turn: Option<&'a Semaphore>,
    time: &TimeLimit,
) -> Result<Slots<'a>, ToolError> {
    let own = scope.slots_of(&**tool);
    let has_begun = || !scope.token.is_cancelled() && Instant::now() < time.deadline;
    if own.is_none()
        && let Ok(slot) = of_turn.map(Semaphore::try_acquire).transpose()
        && has_begun()
    {
        return Ok((None, slot));
    }
    // Boxed, because most find one at once: every call would have room for it.
    Box::pin(wait(scope, own, of_turn, time)).await
}

async fn wait<'a>(
    scope: &RunScope,
    own: Option<Arc<Semaphore>>,
    of_turn: Option<&'a Semaphore>,
    time: &TimeLimit,
) -> Result<Slots<'a>, ToolError> {
    let all = async {
        let closed = |_| ToolError::cancelled();
        // The tool's own first: who waits for a busy tool keeps no slot from the others.
        let own = match own {
            Some(slots) => Some(slots.acquire_owned().await.map_err(closed)?),
            None => None,
        };
        let of_turn = match of_turn {
            Some(slots) => Some(slots.acquire().await.map_err(closed)?),
            None => None,
        };
        Ok((own, of_turn))
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

impl RunScope {
    /// What the tools of a turn may know of it.
    pub(super) fn turn(self: &Arc<Self>, state: State) -> TurnContext {
        TurnContext {
            run: Arc::clone(&self.context),
            message: state.messages().last().cloned(),
            state,
            cancellation: self.token.clone(),
            scope: Some(Arc::clone(self) as _),
        }
    }
}
