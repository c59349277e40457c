//! Calls that start while the model still writes its reply.
//!
//! Only tools whose effect is `pure` start early: a call that comes to nothing did no harm. It
//! starts where it would start after the reply too, within the same limits and slots, and what
//! it tells is kept back until the tool node takes it over.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smol_str::SmolStr;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use super::call::{Attempt, run_early};
use super::counts::Counts;
use super::scope::RunScope;
use super::slots::Spawned;
use crate::event::Gate;
use crate::graph::State;
use crate::json::Nesting;
use crate::message::ToolCall;
use crate::model::ModelDelta;
use crate::telemetry;
use crate::tool::{Effect, ToolCallback, TurnContext};

/// The calls of one reply that began early.
pub(super) struct EarlyCalls {
    /// The slots of the turn.
    pub(super) slots: Arc<Semaphore>,
    /// By id; of two that share one, the later gets another and does not begin early.
    calls: HashMap<SmolStr, EarlyCall>,
}

/// A call that began early, or waits for a slot.
pub(super) struct EarlyCall {
    pub(super) call: ToolCall,
    pub(super) task: Spawned<Attempt>,
    pub(super) gate: Gate,
    pub(super) span: Span,
    pub(super) started: Instant,
    /// Set by the first of two: the call that begins, and the tool node that runs it anew.
    taken: Arc<AtomicBool>,
}

impl EarlyCalls {
    /// Gives up the early run of this very call. `None` if there is none, or if it only waits.
    pub(super) fn take(&mut self, call: &ToolCall) -> Option<EarlyCall> {
        let early = self.calls.remove(&call.id)?;
        let same = early.call.name == call.name && early.call.arguments == call.arguments;
        if !same {
            return None;
        }
        let began = early.taken.swap(true, Ordering::AcqRel);
        began.then_some(early)
    }
}

/// True if calls of this run may start early.
pub(super) fn is_wanted(scope: &RunScope) -> bool {
    scope.config.eager && scope.streaming && scope.outer.is_none()
}

/// Watches a reply as it is written.
pub(super) struct Watch<'a> {
    scope: &'a Arc<RunScope>,
    context: Arc<TurnContext>,
    /// What would be counted if the calls so far were all.
    counts: Counts,
    writing: Vec<Writing>,
    /// How many of them were looked at, in order.
    seen: usize,
    /// False once a call must wait for the reply, and all after it too.
    open: bool,
    early: EarlyCalls,
}

impl<'a> Watch<'a> {
    pub(super) fn new(scope: &'a Arc<RunScope>, state: &State) -> Self {
        let config = &scope.config;
        let slots = if config.parallel {
            config.max_parallel
        } else {
            1
        };
        Self {
            scope,
            context: Arc::new(scope.turn(state.clone())),
            counts: scope.record(|record| record.counts.clone()),
            writing: Vec::new(),
            seen: 0,
            open: true,
            early: EarlyCalls {
                slots: Arc::new(Semaphore::new(slots)),
                calls: HashMap::new(),
            },
        }
    }

    /// More of the reply came, maybe of a call.
    pub(super) fn see(&mut self, delta: &ModelDelta) {
        let ModelDelta::ToolCallFragment {
            index,
            id,
            name,
            arguments,
        } = delta
        else {
            return;
        };
        let index = *index;
        if !self.open || index > self.writing.len() {
            return;
        }
        if index == self.writing.len() {
            self.writing.push(Writing::default());
        }
        let writing = &mut self.writing[index];
        id.clone_into(&mut writing.id);
        name.clone_into(&mut writing.name);
        writing.push(arguments);
        while self.open && self.is_next_whole() {
            let writing = &self.writing[self.seen];
            let call = ToolCall::new(&writing.id, &writing.name, &writing.arguments);
            self.open = self.look_at(call);
            self.seen += 1;
        }
    }

    /// The calls that began, once the reply is whole.
    pub(super) fn end(self) -> EarlyCalls {
        self.early
    }

    fn is_next_whole(&self) -> bool {
        let begun_after = self.writing.len() > self.seen + 1;
        let next = self.writing.get(self.seen);
        next.is_some_and(|next| next.is_whole() || (begun_after && next.arguments.is_empty()))
    }

    /// Starts a call whose arguments are whole, if it may. False if later calls have to wait.
    fn look_at(&mut self, call: ToolCall) -> bool {
        let is_parallel = self.scope.config.parallel;
        let Ok(tool) = self.scope.find_tool(&call.name) else {
            return is_parallel;
        };
        if tool.metadata().is_sequential() {
            return false;
        }
        let (name, limits) = (tool.definition().name(), &self.scope.config.limits);
        let own = tool.metadata().call_limit();
        if self
            .counts
            .tool_call(name, &call.arguments, own, limits)
            .is_err()
        {
            return false;
        }
        if self
            .scope
            .needs_approval(&call, &*tool, &self.context.state)
            .is_some()
        {
            return is_parallel;
        }
        let is_pure = tool.metadata().declared_effect() == Effect::Pure;
        let is_told = !call.id.is_empty() && !self.early.calls.contains_key(&call.id);
        if !is_pure || !is_told || call.invalid.is_some() {
            return is_parallel;
        }
        self.start(call, tool);
        true
    }

    fn start(&mut self, call: ToolCall, tool: Arc<dyn ToolCallback>) {
        let scope = Arc::clone(self.scope);
        let span = telemetry::tool_span(&scope.span, &call);
        let gate = Gate::held(scope.sink.clone());
        let taken = Arc::new(AtomicBool::new(false));
        let begins = Arc::clone(&taken);
        let of_tool = scope.runtime_of(tool.definition().name()).cloned();
        let run = run_early(
            scope,
            Arc::clone(&self.context),
            (call.clone(), span.clone()),
            (tool, Arc::clone(&self.early.slots), gate.clone()),
            move || !begins.swap(true, Ordering::AcqRel),
        );
        tracing::debug!(tool = call.name(), "the call starts while the model writes");
        let id = call.id.clone();
        let early = EarlyCall {
            call,
            task: Spawned::new(
                &of_tool.unwrap_or_else(Handle::current),
                run.instrument(span.clone()),
            ),
            gate,
            span,
            started: Instant::now(),
            taken,
        };
        self.early.calls.insert(id, early);
    }
}

/// A call as far as it is written.
#[derive(Default)]
struct Writing {
    id: String,
    name: String,
    arguments: String,
    nesting: Nesting,
}

impl Writing {
    fn push(&mut self, piece: &str) {
        self.arguments.push_str(piece);
        self.nesting.push(piece);
    }

    fn is_whole(&self) -> bool {
        self.nesting.is_closed()
    }
}
