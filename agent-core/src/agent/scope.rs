//! What one run carries through its nodes. The graph does not know it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::counts::Counts;
use super::early::EarlyCalls;
use super::error::Failure;
use super::limits::Limits;
use super::lookup::Resolved;
use super::nested::Outer;
use super::origin::Origins;
use super::output::{FINAL_ANSWER, Way};
use super::react::Config;
use super::slots::ToolSlots;
use super::thread::Control;
use crate::clock;
use crate::event::{EventKind, Limit, Outcome, Sink};
use crate::graph::State;
use crate::graph::checkpoint::{CheckpointSaver, Durability};
use crate::message::{ToolCall, ToolResult};
use crate::model::{ChatOptions, FinishReason, ToolList, Usage};
use crate::panics;
use crate::tool::{RunContext, ToolCallback, ToolSet};

/// One run: its settings, and what it has found so far.
pub(super) struct RunScope {
    pub(super) config: Arc<Config>,
    pub(super) sink: Sink,
    pub(super) context: Arc<RunContext>,
    pub(super) tools: ToolSet,
    pub(super) tool_list: ToolList,
    pub(super) resolved: Resolved,
    pub(super) options: Arc<ChatOptions>,
    /// How the model is asked for the form of the answer, if there is one.
    pub(super) way: Option<Way>,
    /// Those of the options that the provider has not.
    pub(super) unsupported: Vec<&'static str>,
    pub(super) token: CancellationToken,
    pub(super) deadline: Option<Instant>,
    pub(super) streaming: bool,
    pub(super) tool_slots: ToolSlots,
    pub(super) runtime: Option<Handle>,
    /// The call of another run in which this one goes on.
    pub(super) outer: Option<Arc<Outer>>,
    /// How many more runs may go on inside this one; `None` for any number.
    pub(super) depth_left: Option<u32>,
    pub(super) span: tracing::Span,
    pub(super) record: Mutex<Record>,
    /// How the run is reached from outside, if it belongs to a thread.
    pub(super) control: Option<Arc<Control>>,
    /// Where its thread is kept.
    pub(super) saver: Option<Arc<dyn CheckpointSaver>>,
    pub(super) durability: Durability,
    /// What the last reply's calls have begun while it was written.
    pub(super) early: Mutex<Option<EarlyCalls>>,
}

/// What the nodes of a run write down for its end.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) counts: Counts,
    pub(super) usage: Usage,
    pub(super) outcome: Option<Outcome>,
    pub(super) finish_reason: Option<FinishReason>,
    pub(super) direct_results: Vec<ToolResult>,
    /// The results of the turn, kept where its update may not fit the state.
    pub(super) results: Vec<ToolResult>,
    /// The limit after which the model answers once more, without tools.
    pub(super) last_answer: Option<Limit>,
    /// True if a hook ended the run, maybe without an answer.
    pub(super) jumped: bool,
    /// The tools that began to run and count each run, since somebody asked.
    pub(super) effects: Vec<String>,
    /// How often models were asked again after an error.
    #[cfg(feature = "retry")]
    pub(super) model_retries: u32,
    pub(super) origins: Origins,
    /// The answer where it is not the last reply's text: the JSON in it, or the text of one whose
    /// calls did not run.
    pub(super) answer: Option<String>,
    /// True if the model is asked again though its last reply has no calls.
    pub(super) goes_on: bool,
    /// True once the model was told to give its answer in its form.
    pub(super) asked_for_form: bool,
    /// How many replies did not fit their form, and the number of the last one.
    pub(super) misfits: u32,
    pub(super) last_misfit: Option<u32>,
    /// Why the run gives an error instead of its output.
    pub(super) failure: Option<Failure>,
}

impl RunScope {
    /// What to ask before this call runs; `None` if nobody needs to be.
    pub(super) fn needs_approval(
        &self,
        call: &ToolCall,
        tool: &dyn ToolCallback,
        state: &State,
    ) -> Option<Option<String>> {
        let (hooks, predicates) = (&self.config.approving_hooks, &self.config.approvals);
        if hooks.is_empty() && predicates.is_empty() {
            return tool.metadata().needs_approval().then_some(None);
        }
        let asked = || {
            let mut hooks = hooks.iter();
            if let Some(question) = hooks.find_map(|hook| hook.approval(call, state)) {
                return Some(Some(question));
            }
            let mut predicates = predicates.iter();
            let is_asked =
                tool.metadata().needs_approval() || predicates.any(|needs| needs(call, state));
            is_asked.then_some(None)
        };
        panics::caught(asked).unwrap_or_else(|| {
            tracing::error!(tool = call.name(), "what says who needs approval panicked");
            Some(None)
        })
    }

    /// The names of the tools that ran since this was asked, and that count each run.
    pub(super) fn effects(&self) -> Vec<String> {
        self.record(|record| std::mem::take(&mut record.effects))
    }

    /// True if messages came meanwhile; if not, none come any more.
    pub(super) fn has_mail(&self) -> bool {
        let control = self.control.as_ref();
        control.is_some_and(|control| !control.close_if_empty())
    }

    /// Works on the record; never held over an await.
    pub(super) fn record<T>(&self, f: impl FnOnce(&mut Record) -> T) -> T {
        f(&mut self.record.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps the calls that began while the model wrote, and gives up those kept before.
    pub(super) fn keep_early(&self, early: Option<EarlyCalls>) -> Option<EarlyCalls> {
        let mut kept = self.early.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *kept, early)
    }

    /// Notes how the run ends; the first to say so is right.
    pub(super) fn end(&self, outcome: Outcome) {
        self.record(|record| {
            record.outcome.get_or_insert(outcome);
        });
    }

    /// True if the runs around this one allow none inside them.
    pub(super) fn is_too_deep(&self) -> bool {
        let outer = self.outer.as_ref();
        outer.is_some_and(|outer| outer.scope.depth_left == Some(0))
    }

    /// Does this with the record and the limits of this run, then of each run around it, until
    /// one gives an error.
    pub(super) fn outwards<E>(
        &self,
        mut f: impl FnMut(&mut Record, &Limits) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut scope = self;
        loop {
            scope.record(|record| f(record, &scope.config.limits))?;
            match &scope.outer {
                Some(outer) => scope = &outer.scope,
                None => return Ok(()),
            }
        }
    }

    /// The runtime that calls of this tool run on, if it is not the run's own.
    pub(super) fn runtime_of(&self, tool: &str) -> Option<&Handle> {
        let of_tool = self.config.runtimes.get(tool);
        of_tool
            .or(self.runtime.as_ref())
            .or(self.config.runtime.as_ref())
    }

    /// The model that is asked.
    pub(super) fn model_name(&self) -> &str {
        let own = || self.config.model.name();
        self.options.model.as_deref().unwrap_or_else(own)
    }

    /// True if the model is offered other tools than the one that gives the answer.
    pub(super) fn has_other_tools(&self) -> bool {
        self.tools.names().any(|name| name != FINAL_ANSWER)
    }

    /// Counts a reply whose answer does not fit its form, however many it holds. True if it is
    /// one too many.
    pub(super) fn counts_misfit(&self, retries: u32) -> bool {
        self.record(|record| {
            let (reply, _) = record.counts.totals();
            if record.last_misfit != Some(reply) {
                record.last_misfit = Some(reply);
                record.misfits = record.misfits.saturating_add(1);
            }
            record.misfits > retries
        })
    }

    /// True if it is known how the run ends.
    pub(super) fn has_ended(&self) -> bool {
        self.record(|record| record.outcome.is_some())
    }

    /// Ends the run with this failure.
    pub(super) fn stop(&self, failure: Failure) {
        self.record(|record| {
            record.outcome = Some(Outcome::Failed);
            record.failure = Some(failure);
        });
    }

    /// Tells the result of a call that was answered without running.
    pub(super) async fn tell_not_run(&self, result: &ToolResult) {
        let kind = || EventKind::ToolFinished {
            result: result.clone(),
            duration: Duration::ZERO,
        };
        self.sink.send(kind).await;
    }

    /// True if the run's own time is over.
    pub(super) fn is_overdue(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Waits for the run's deadline; for ever if there is none.
    pub(super) async fn overdue(&self) {
        clock::reached(self.deadline).await;
    }
}
