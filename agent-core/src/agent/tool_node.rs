//! The calls of one turn: limits first, then one after another or side by side, results
//! always in call order and exactly one each.
//!
//! Side by side, a call of a `sequential` tool is a barrier: those before it end first, those
//! after it start later.
//!
//! Not here: which calls run at all (`agent::plan`), how one runs (`agent::call`).

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use futures_util::StreamExt as _;
use futures_util::future::OptionFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::call::{Admission, go_on, run_call};
use super::call_end::{CallEnd, Ended};
use super::earlier::{Before, Turn};
use super::limits::OnLimit;
use super::plan::{Plan, admit, begun_early, count};
use super::scope::RunScope;
use crate::boxed::{BoxError, BoxFuture};
use crate::event::{Limit, Outcome};
use crate::graph::{AnswerError, NodeAction, NodeContext, NodeOutput, State, StateUpdate};
use crate::message::{Message, ToolResult};
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
            let (iteration, _) = scope.record(|record| {
                record.results.clear();
                record.counts.totals()
            });
            let (mut plans, reached) = admit(&scope, (calls, state.messages().last()));
            tracing::debug!(
                agent = &*scope.config.name,
                iteration,
                calls = plans.len(),
                "acting"
            );
            let slots = begun_early(&scope, &mut plans);
            run_all(&scope, &mut plans, (slots.as_deref(), &turn, &context)).await;
            let reached = reached.or(count(&scope, &plans).err());
            let mut update = StateUpdate::new();
            for call in &edited {
                update = update.edit_call(call.id.clone(), call.arguments.clone());
            }
            let mut output = take_in(&scope, state, (update, &mut plans), reached).await?;
            output.effects = scope.effects();
            Ok(output)
        })
    }
}

/// Runs the plans to their ends. A call that fails the run stops those that are still running.
async fn run_all(
    scope: &Arc<RunScope>,
    plans: &mut [Plan<'_>],
    (slots, turn, context): (Option<&Semaphore>, &Turn, &Arc<TurnContext>),
) {
    let is_serial = !scope.config.parallel;
    let mut admission = Admission {
        since: Instant::now(),
        slots,
        turn,
        context,
    };
    let mut left = &mut *plans;
    while !left.is_empty() {
        let (batch, later) = left.split_at_mut(next_batch(left, is_serial));
        left = later;
        if is_serial {
            // The clock of a call starts with its turn.
            admission.since = Instant::now();
        }
        let calls = batch
            .iter_mut()
            .map(|plan| run_plan(scope, plan, admission));
        if side_by_side(calls).await {
            break;
        }
    }
    for plan in plans {
        if plan.end.is_none() {
            plan.end = Some(stopped(scope, plan).await);
        }
    }
}

/// How many of the calls run next, side by side: up to one that wants to be alone, or that one.
fn next_batch(plans: &[Plan<'_>], is_serial: bool) -> usize {
    let alone = plans.iter().position(|plan| plan.alone);
    match (is_serial, alone) {
        (true, _) | (_, Some(0)) => 1,
        (false, alone) => alone.unwrap_or(plans.len()),
    }
}

/// Runs calls until all have ended, or one gives true, as it has failed. Gives whether one has.
///
/// Most are done at once. These are polled one after another in the same place; only those that
/// wait get one of their own, where they are woken one by one.
async fn side_by_side<C: Future<Output = bool>>(calls: impl Iterator<Item = C>) -> bool {
    let empty = || Box::pin(OptionFuture::<C>::default());
    let mut place = empty();
    let mut waiting = Vec::new();
    for call in calls {
        place.set(Some(call).into());
        match poll_fn(|task| Poll::Ready(place.as_mut().poll(task))).await {
            Poll::Ready(Some(true)) => return true,
            Poll::Ready(_) => {}
            Poll::Pending => waiting.push(std::mem::replace(&mut place, empty())),
        }
    }
    drop(place);
    if waiting.is_empty() {
        return false;
    }
    let mut waiting: FuturesUnordered<_> = waiting.into_iter().collect();
    while let Some(failed) = waiting.next().await {
        if failed == Some(true) {
            return true;
        }
    }
    false
}

/// The end of a call that another one, which failed the run, did not let end.
async fn stopped(scope: &RunScope, plan: &Plan<'_>) -> CallEnd {
    let result = ToolResult::error(
        plan.call,
        if plan.began {
            "Error: stopped while it ran, as another call ended the run; it may have run in part"
        } else {
            "Error: not run: another call ended the run"
        },
    );
    scope.tell_not_run(&result).await;
    CallEnd::refused(result)
}

/// Runs a call, unless it has its end without that. True if it ends the run.
async fn run_plan(scope: &Arc<RunScope>, plan: &mut Plan<'_>, admission: Admission<'_>) -> bool {
    let Admission { turn, context, .. } = admission;
    let before = match plan.refused.take() {
        Some(text) => Before::Result(ToolResult::error(plan.call, text)),
        None => turn.before(scope, plan, &context.state),
    };
    let end = match (before, plan.early.take()) {
        (Before::Ended(end), _) => *end,
        (Before::Result(result), _) => {
            scope.tell_not_run(&result).await;
            CallEnd::refused(result)
        }
        (Before::Asks(questions), _) => CallEnd::asks(questions),
        // Boxed, because it is rare: every call would have room for it.
        (Before::Run(_), Some(early)) => Box::pin(go_on(scope, plan, *early, turn)).await,
        (Before::Run(answers), None) => run_call(scope, plan, answers, admission).await,
    };
    let failed = matches!(end.ended, Ended::Failed(..));
    plan.end = Some(end);
    failed
}

/// Puts results and state updates together in call order, and decides how the run goes on.
async fn take_in(
    scope: &RunScope,
    state: &State,
    (mut update, plans): (StateUpdate, &mut [Plan<'_>]),
    reached: Option<Limit>,
) -> Result<NodeOutput, AnswerError> {
    let mut results = Vec::with_capacity(plans.len());
    let mut asking = Vec::new();
    let mut unfit = None;
    let mut failure = None;
    // A call over its limit has no say; one that ran has to be there.
    let ends = || plans.iter().filter_map(|plan| plan.end.as_ref());
    let mut direct = ends().any(|end| end.direct)
        && ends().all(|end| end.direct || end.refused)
        && (reached.is_none() || scope.config.limits.on_limit == OnLimit::ErrorResult);
    let mut changes_state = false;
    for Plan { call, end, .. } in plans {
        let Some(end) = end.take() else {
            continue;
        };
        if !end.update.is_empty() {
            changes_state = true;
            update.extend(end.update);
        }
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
    let update = update.answers(results);
    if let Some(failure) = failure {
        return Ok(scope.fail(*failure, update));
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
