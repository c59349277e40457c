//! Which calls of a turn run: their tools, their limits, and what of them has begun.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::call_end::{CallEnd, Ended};
use super::early::EarlyCall;
use super::limits::OnLimit;
use super::scope::RunScope;
use crate::event::Limit;
use crate::message::{Message, ToolCall};
use crate::tool::{CallAnswer, ToolCallback, ToolMetadata};

/// A call, and how far it is.
pub(super) struct Plan<'a> {
    pub(super) call: &'a ToolCall,
    /// Its place in its message.
    pub(super) position: usize,
    /// The tool that it names, if there is one.
    pub(super) tool: Option<Arc<dyn ToolCallback>>,
    /// Why it must not run, if it must not.
    pub(super) refused: Option<String>,
    /// The answers to what it asked.
    pub(super) answers: Vec<CallAnswer>,
    /// Boxed, because it is rare and large.
    pub(super) early: Option<Box<EarlyCall>>,
    /// True if no other call may run at the same time.
    pub(super) alone: bool,
    /// True once its tool runs.
    pub(super) began: bool,
    pub(super) end: Option<CallEnd>,
}

impl Plan<'_> {
    /// Keeps the end of the call. True if it ends the run.
    pub(super) fn ended(&mut self, end: CallEnd) -> bool {
        let failed = matches!(end.ended, Ended::Failed(..));
        self.end = Some(end);
        failed
    }
}

/// Finds what was begun while the model wrote, and gives the slots of the turn; `None` if there
/// are enough for all.
pub(super) fn begun_early(scope: &RunScope, plans: &mut [Plan<'_>]) -> Option<Arc<Semaphore>> {
    let Some(mut early) = scope.keep_early(None) else {
        let (is_parallel, slots) = (scope.config.parallel, scope.config.max_parallel);
        let is_scarce = is_parallel && plans.len() > slots;
        return is_scarce.then(|| Arc::new(Semaphore::new(slots)));
    };
    for plan in plans.iter_mut().filter(|plan| plan.refused.is_none()) {
        plan.early = early.take(plan.call).map(Box::new);
    }
    Some(early.slots)
}

/// Counts the calls, all of this message, in order and refuses those over a limit.
pub(super) fn admit<'a>(
    scope: &RunScope,
    (calls, message): (
        impl Iterator<Item = (usize, &'a ToolCall)>,
        Option<&Message>,
    ),
) -> (Vec<Plan<'a>>, Option<Limit>) {
    let limits = &scope.config.limits;
    let mut reached = None;
    let most = message.map_or(0, |message| message.tool_calls().len());
    let mut plans = Vec::with_capacity(most);
    plans.extend(calls.map(|(position, call)| {
        let tool = scope.find_tool(&call.name).ok();
        let metadata = tool.as_ref().map(|tool| tool.metadata());
        // The runs around this one have tools of their own.
        let mut own = metadata.and_then(ToolMetadata::call_limit);
        let over = match &reached {
            // Nothing more runs once the run is about to stop.
            Some(limit) if limits.on_limit != OnLimit::ErrorResult => Err(Limit::clone(limit)),
            _ => {
                let name = own_name(call, tool.as_ref());
                scope.outwards(|record, limits| {
                    record
                        .counts
                        .tool_call(name, &call.arguments, own.take(), limits)
                })
            }
        };
        let refused = over.err().map(|limit| {
            let text = limit_text(&limit);
            reached.get_or_insert(limit);
            text
        });
        Plan {
            alone: refused.is_none() && metadata.is_some_and(ToolMetadata::is_sequential),
            call,
            position,
            tool,
            refused,
            answers: Vec::new(),
            early: None,
            began: false,
            end: None,
        }
    }));
    (plans, reached)
}

/// The own name of the tool that a call names, whatever the model put before it; that of an
/// unknown tool as it is.
fn own_name<'a>(call: &'a ToolCall, tool: Option<&'a Arc<dyn ToolCallback>>) -> &'a str {
    tool.map_or(&call.name, |tool| tool.definition().name())
}

fn limit_text(limit: &Limit) -> String {
    match limit {
        Limit::ToolCallsOf(tool) => {
            format!("Error: not run: the limit of calls of `{tool}` is reached")
        }
        Limit::RepeatedCall => {
            "Error: not run: this very call gave the same result several times in a row".to_owned()
        }
        _ => "Error: not run: the limit of tool calls is reached".to_owned(),
    }
}

/// Notes how the calls ended that were not refused. `Err` if the run has to end.
pub(super) fn count(scope: &RunScope, plans: &[Plan<'_>]) -> Result<(), Limit> {
    let limits = &scope.config.limits;
    scope.record(|record| {
        for plan in plans {
            if let Some(end) = &plan.end
                && let (false, Ended::Result(result)) = (end.refused, &end.ended)
            {
                let name = own_name(plan.call, plan.tool.as_ref());
                let arguments = &plan.call.arguments;
                record.counts.ended(name, arguments, result, limits)?;
            }
        }
        Ok(())
    })
}
