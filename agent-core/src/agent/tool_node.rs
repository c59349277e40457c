//! The calls of one turn: limits first, then one after another or side by side, results
//! always in call order and exactly one each.
//!
//! Side by side, a call of a `sequential` tool is a barrier: those before it end first, those
//! after it start later.
//!
//! Not here: which calls run at all (`agent::plan`), how one runs (`agent::call`).

use std::collections::HashMap;
use std::iter::Peekable;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::call::{Admission, go_on, run_call};
use super::call_end::{CallEnd, Ended};
use super::earlier::{Before, Turn};
use super::limits::OnLimit;
use super::plan::{Found, Plan, admit, begun_early, count};
use super::scope::RunScope;
use crate::boxed::{BoxError, BoxFuture};
use crate::event::{Limit, Outcome};
use crate::graph::{AnswerError, NodeAction, NodeContext, NodeOutput, State, StateUpdate};
use crate::message::{Message, ToolCall, ToolResult};
use crate::model::FinishReason;
use crate::tool::TurnContext;

/// The node that runs tool calls.
#[derive(Debug)]
pub(super) struct ToolNode;

impl NodeAction for ToolNode {
    /// A cancelled run ends here by its own token, with what it has.
    fn finishes_on_cancel(&self) -> bool {
        true
    }

    fn run<'a>(
        &'a self,
        state: State,
        context: &'a NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
        Box::pin(async move {
            let scope = RunScope::of(context)?;
            let turn = Turn::of(context);
            let context = Arc::new(scope.turn(state));
            let state = &context.state;
            let edited = turn.edited(state);
            // Calls that have a result already are not run again [C7].
            let calls = state.transcript().open_calls();
            let calls = calls.map(|call| edited.iter().find(|it| it.id == call.id).unwrap_or(call));
            let calls: Vec<&ToolCall> = calls.collect();
            let (iteration, _) = scope.record(|record| {
                record.results.clear();
                record.counts.totals()
            });
            tracing::debug!(
                agent = &*scope.config.name,
                iteration,
                calls = calls.len(),
                "acting"
            );
            let tools: Vec<Found> = calls
                .iter()
                .map(|call| scope.find_tool(&call.name).ok())
                .collect();
            let (mut plans, reached) = admit(&scope, &calls, &tools);
            let slots = begun_early(&scope, &mut plans);
            let ends = run_all(&scope, plans, (&slots, &turn, &context)).await;
            let reached = reached.or(count(&scope, &calls, (&tools, &ends)).err());
            let mut update = StateUpdate::new();
            for call in &edited {
                update = update.edit_call(call.id.clone(), call.arguments.clone());
            }
            let mut output = take_in(&scope, (state, &calls), (update, ends), reached).await?;
            output.effects = scope.effects();
            Ok(output)
        })
    }
}

/// Runs the plans and gives their ends in call order. A call that fails the run stops those
/// that are still running.
async fn run_all<'a>(
    scope: &'a Arc<RunScope>,
    plans: Vec<Plan<'a>>,
    (slots, turn, context): (&'a Semaphore, &'a Turn, &'a Arc<TurnContext>),
) -> Vec<CallEnd> {
    let since = Instant::now();
    let admission = |plan: &Plan<'a>, since, began| Admission {
        tool: plan.tool,
        since,
        slots,
        began,
        turn,
        context,
        answers: &[],
    };
    let plans = match <[_; 1]>::try_from(plans) {
        Ok([alone]) => {
            let began = AtomicBool::new(false);
            let admission = admission(&alone, since, &began);
            return vec![run_plan(scope, alone, admission).await];
        }
        Err(plans) => plans,
    };
    let is_serial = !scope.config.parallel;
    let began: Vec<_> = plans.iter().map(|_| AtomicBool::new(false)).collect();
    let calls: Vec<&ToolCall> = plans.iter().map(|plan| plan.call).collect();
    let mut ends: Vec<Option<CallEnd>> = plans.iter().map(|_| None).collect();
    let mut plans = plans.into_iter().enumerate().peekable();
    let mut failed = false;
    while !failed {
        let batch = next_batch(&mut plans, is_serial);
        if batch.is_empty() {
            break;
        }
        // In a serial turn the clock of a call starts with its turn.
        let since = if is_serial { Instant::now() } else { since };
        let running = batch.into_iter().map(|(position, plan)| {
            let admission = admission(&plan, since, &began[position]);
            async move { (position, run_plan(scope, plan, admission).await) }
        });
        let mut running: FuturesUnordered<_> = running.collect();
        while !failed && let Some((position, end)) = running.next().await {
            failed = matches!(end.ended, Ended::Failed(..));
            ends[position] = Some(end);
        }
    }
    let mut in_order = Vec::with_capacity(ends.len());
    for ((end, call), began) in ends.into_iter().zip(calls).zip(&began) {
        in_order.push(match end {
            Some(end) => end,
            None => stopped(scope, call, began.load(Ordering::Relaxed)).await,
        });
    }
    in_order
}

/// The calls that run next, side by side: up to one that wants to be alone, or that one.
fn next_batch<'a>(
    plans: &mut Peekable<impl Iterator<Item = (usize, Plan<'a>)>>,
    is_serial: bool,
) -> Vec<(usize, Plan<'a>)> {
    let Some(first) = plans.next() else {
        return Vec::new();
    };
    let is_alone = is_serial || first.1.alone;
    let mut batch = vec![first];
    if !is_alone {
        batch.extend(std::iter::from_fn(|| {
            plans.next_if(|(_, plan)| !plan.alone)
        }));
    }
    batch
}

/// The end of a call that another one, which failed the run, did not let end.
async fn stopped(scope: &RunScope, call: &ToolCall, began: bool) -> CallEnd {
    let result = ToolResult::error(
        call,
        if began {
            "Error: stopped while it ran, as another call ended the run; it may have run in part"
        } else {
            "Error: not run: another call ended the run"
        },
    );
    scope.tell_not_run(&result).await;
    CallEnd::refused(result)
}

async fn run_plan(scope: &Arc<RunScope>, plan: Plan<'_>, admission: Admission<'_>) -> CallEnd {
    match plan.refused {
        Some(text) => {
            let result = ToolResult::error(plan.call, text);
            scope.tell_not_run(&result).await;
            CallEnd::refused(result)
        }
        None => match (
            admission.turn.before(
                scope,
                (plan.call, plan.tool.map(|tool| &**tool)),
                &admission.context.state,
            ),
            plan.early,
        ) {
            (Before::Ended(end), _) => *end,
            (Before::Result(result), _) => {
                scope.tell_not_run(&result).await;
                CallEnd::refused(result)
            }
            (Before::Asks(questions), _) => CallEnd::asks(questions),
            // Boxed, because it is rare: every call would have room for it.
            (Before::Run(_), Some(early)) => Box::pin(go_on(scope, early, admission)).await,
            (Before::Run(answers), None) => {
                let admission = Admission {
                    answers: &answers,
                    ..admission
                };
                run_call(scope, plan.call, admission).await
            }
        },
    }
}

/// Puts results and state updates together in call order, and decides how the run goes on.
async fn take_in(
    scope: &RunScope,
    (state, calls): (&State, &[&ToolCall]),
    (mut update, ends): (StateUpdate, Vec<CallEnd>),
    reached: Option<Limit>,
) -> Result<NodeOutput, AnswerError> {
    let mut results = Vec::new();
    let mut asking = Vec::new();
    let mut unfit = None;
    let mut failure = None;
    // A call over its limit has no say; one that ran has to be there.
    let mut direct = ends.iter().any(|end| end.direct)
        && ends.iter().all(|end| end.direct || end.refused)
        && (reached.is_none() || scope.config.limits.on_limit == OnLimit::ErrorResult);
    let mut changes_state = false;
    for (call, end) in calls.iter().zip(ends) {
        changes_state |= !end.update.is_empty();
        update.extend(end.update);
        match end.ended {
            Ended::Result(result) => results.push(result),
            Ended::Asks(questions) => asking.push((call, questions)),
            Ended::Unfit(error) => {
                asking.push((call, Vec::new()));
                unfit.get_or_insert(error);
            }
            Ended::Failed(result, cause) => {
                results.push(result);
                failure.get_or_insert(cause);
            }
        }
    }
    // A run that is over cannot wait for a person.
    if failure.is_some() || scope.token.is_cancelled() {
        for (call, _) in asking.drain(..) {
            let text = "Error: the run ended before the call was answered";
            let result = ToolResult::error(call, text);
            scope.tell_not_run(&result).await;
            results.push(result);
        }
    }
    if let Some(error) = unfit.filter(|_| !asking.is_empty()) {
        // The calls that ended are written down; the step is not over.
        return Err(error);
    }
    direct &= asking.is_empty() && earlier_results_are_direct(scope, state);
    if changes_state {
        scope.record(|record| record.results.clone_from(&results));
    }
    let answer = if direct { results.clone() } else { Vec::new() };
    for result in results {
        update = update.answer(result);
    }
    if let Some(failure) = failure {
        return Ok(scope.fail(failure, update));
    }
    if !asking.is_empty() {
        let questions = asking.into_iter().flat_map(|(_, questions)| questions);
        return Ok(NodeOutput::from(update).asking(questions.collect()));
    }
    if scope.token.is_cancelled() {
        return Ok(scope.leave(Outcome::Cancelled, update));
    }
    match reached {
        None => {}
        Some(limit) => match scope.config.limits.on_limit {
            OnLimit::LastAnswer => scope.record(|record| record.last_answer = Some(limit)),
            OnLimit::ErrorResult if limit != Limit::ConsecutiveErrors => {}
            _ => return Ok(scope.leave(Outcome::LimitReached(limit), update)),
        },
    }
    if direct {
        let mut all: Vec<ToolResult> = state.transcript().partial_results().cloned().collect();
        all.extend(answer);
        return Ok(return_direct(scope, state, update, all));
    }
    Ok(NodeOutput::from(update))
}

/// The results are the answer, word for word.
fn return_direct(
    scope: &RunScope,
    state: &State,
    update: StateUpdate,
    results: Vec<ToolResult>,
) -> NodeOutput {
    let results = in_call_order(state, results);
    let text = direct_text(&results);
    scope.record(|record| {
        record.finish_reason = Some(FinishReason::ReturnDirect);
        record.direct_results = results;
    });
    scope.leave(Outcome::Finished, update.message(Message::assistant(text)))
}

fn in_call_order(state: &State, mut results: Vec<ToolResult>) -> Vec<ToolResult> {
    let calls = state.messages().last().map_or(&[][..], Message::tool_calls);
    let ids = calls.iter().map(|call| call.id.as_str());
    let positions: HashMap<&str, usize> = ids.zip(0..).collect();
    results.sort_by_key(|result| positions.get(result.call_id.as_str()).copied());
    results
}

/// One result as it is; several as a JSON array, in which JSON stands as it is.
fn direct_text(results: &[ToolResult]) -> String {
    if let [result] = results {
        return result.text();
    }
    let values: Vec<serde_json::Value> = results
        .iter()
        .map(|result| {
            let text = result.text();
            match text.trim_start().as_bytes().first() {
                Some(b'{' | b'[') => {
                    serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text))
                }
                _ if text == "null" => serde_json::Value::Null,
                _ => serde_json::Value::String(text),
            }
        })
        .collect();
    serde_json::Value::Array(values).to_string()
}

/// Calls that were answered before this turn count for the AND as well.
fn earlier_results_are_direct(scope: &RunScope, state: &State) -> bool {
    state.transcript().partial_results().all(|result| {
        !result.is_error
            && scope
                .find_tool(&result.name)
                .is_ok_and(|tool| tool.metadata().is_return_direct())
    })
}
