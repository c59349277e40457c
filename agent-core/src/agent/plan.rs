//! Which calls of a turn run: their tools, their limits, and what of them has begun.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::call_end::{CallEnd, Ended};
use super::early::EarlyCall;
use super::limits::OnLimit;
use super::scope::RunScope;
use crate::event::Limit;
use crate::message::ToolCall;
use crate::tool::{ToolCallback, ToolMetadata};

/// The tool that a call names, if there is one.
pub(super) type Found = Option<Arc<dyn ToolCallback>>;

/// A call, and why it must not run if it must not.
pub(super) struct Plan<'a> {
    pub(super) call: &'a ToolCall,
    pub(super) tool: Option<&'a Arc<dyn ToolCallback>>,
    pub(super) refused: Option<String>,
    /// Boxed, because it is rare and large.
    pub(super) early: Option<Box<EarlyCall>>,
    /// True if no other call may run at the same time.
    pub(super) alone: bool,
}

/// Finds what was begun while the model wrote, and gives the slots of the turn.
pub(super) fn begun_early(scope: &RunScope, plans: &mut [Plan<'_>]) -> Arc<Semaphore> {
    let Some(mut early) = scope.keep_early(None) else {
        return Arc::new(Semaphore::new(scope.config.max_parallel));
    };
    for plan in plans.iter_mut().filter(|plan| plan.refused.is_none()) {
        plan.early = early.take(plan.call).map(Box::new);
    }
    early.slots
}

/// Counts the calls in order and refuses those over a limit.
pub(super) fn admit<'a>(
    scope: &RunScope,
    calls: &[&'a ToolCall],
    tools: &'a [Found],
) -> (Vec<Plan<'a>>, Option<Limit>) {
    let limits = &scope.config.limits;
    let mut reached = None;
    let plans = calls
        .iter()
        .zip(tools)
        .map(|(&call, tool)| {
            let tool = tool.as_ref();
            let metadata = tool.map(|tool| tool.metadata());
            // The runs around this one have tools of their own.
            let mut own = metadata.and_then(ToolMetadata::call_limit);
            let over = match &reached {
                // Nothing more runs once the run is about to stop.
                Some(limit) if limits.on_limit != OnLimit::ErrorResult => Err(Limit::clone(limit)),
                _ => {
                    let name = own_name(call, tool);
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
                tool,
                refused,
                early: None,
            }
        })
        .collect();
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
pub(super) fn count(
    scope: &RunScope,
    calls: &[&ToolCall],
    (tools, ends): (&[Found], &[CallEnd]),
) -> Result<(), Limit> {
    let limits = &scope.config.limits;
    for ((call, tool), end) in calls.iter().zip(tools).zip(ends) {
        if let (false, Ended::Result(result)) = (end.refused, &end.ended) {
            let name = own_name(call, tool.as_ref());
            scope.record(|record| record.counts.ended(name, &call.arguments, result, limits))?;
        }
    }
    Ok(())
}
