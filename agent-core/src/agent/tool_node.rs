//! The calls of one turn: limits first, then one after another or side by side, results
//! always in call order and exactly one each.
//!
//! Side by side, a call of a `sequential` tool is a barrier: those before it end first, those
//! after it start later.
//!
//! Not here: which calls run at all (`agent::plan`), how one runs (`agent::call`), what their
//! ends make of the turn (`agent::turn_end`).

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::StreamExt as _;
use futures_util::future::{Either, OptionFuture, ready};
use futures_util::stream::FuturesUnordered;
use tokio::sync::Semaphore;
use tokio::task::coop::has_budget_remaining;
use tokio::time::Instant;

use super::call::{Admission, go_on, run_call};
use super::call_end::CallEnd;
use super::earlier::{Before, Turn};
use super::plan::{Plan, admit, begun_early, count};
use super::scope::RunScope;
use super::turn_end::{Ends, take_in};
use crate::boxed::{BoxError, BoxFuture};
use crate::graph::{NodeAction, NodeContext, NodeOutput, State, StateUpdate};
use crate::message::ToolResult;
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
            let calls = state.transcript().open_positions();
            // Both are in call order.
            let mut given = edited.iter().peekable();
            let calls = calls.map(|(position, call)| {
                let edited = given.next_if(|edited| edited.id == call.id);
                (position, edited.unwrap_or(call))
            });
            scope.record(|record| record.results.clear());
            let (mut plans, reached) = admit(&scope, (calls, state.messages().last()));
            tracing::debug!(
                agent = &*scope.config.name,
                iteration = scope.iteration(),
                calls = plans.len(),
                "acting"
            );
            let slots = begun_early(&scope, &mut plans);
            run_all(&scope, &mut plans, (slots.as_deref(), &turn, &context)).await;
            let reached = reached.or(count(&scope, &plans).err());
            let mut update = StateUpdate::new();
            for call in &edited {
                update = update.edit_call(call.id.to_string(), call.arguments.to_string());
            }
            let mut output = {
                let mut ends = Ends::of(&mut plans, update);
                // A run that is over cannot wait for a person.
                let is_over = ends.failure.is_some() || scope.token.is_cancelled();
                if is_over && !ends.asking.is_empty() {
                    // Boxed, because it is rare: every turn would have room for it.
                    Box::pin(ends.ask_nobody(&scope)).await;
                }
                take_in(&scope, state, ends, reached)?
            };
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
    let mut since = Instant::now();
    let mut left = &mut *plans;
    while !left.is_empty() {
        let (batch, later) = left.split_at_mut(next_batch(left, is_serial));
        left = later;
        if is_serial {
            // The clock of a call starts with its turn.
            since = Instant::now();
        }
        let admission = Admission {
            scope,
            since,
            slots,
            turn,
            context,
        };
        let calls = batch.iter_mut().map(|plan| begin(plan, &admission));
        if side_by_side(calls).await {
            break;
        }
    }
    for plan in plans {
        if plan.end.is_none() {
            // Boxed, because it is rare: every turn would have room for it.
            plan.end = Some(Box::pin(stopped(scope, plan)).await);
        }
    }
}

/// How many of the calls run next, side by side: up to one that wants to be alone, or that one.
fn next_batch(plans: &[Plan<'_>], is_serial: bool) -> usize {
    if is_serial {
        return 1;
    }
    let alone = plans.iter().position(|plan| plan.alone);
    alone.map_or(plans.len(), |before| before.max(1))
}

/// Runs calls until all have ended, or one gives true, as it has failed. Gives whether one has.
///
/// Most are done at once. These are polled one after another in the same place; only those that
/// wait get one of their own, where they are woken one by one.
async fn side_by_side<C: Future<Output = bool>>(mut calls: impl Iterator<Item = C>) -> bool {
    let empty = || Box::pin(OptionFuture::<C>::default());
    let mut waiting = Vec::new();
    let mut place = empty();
    // Without a wait between two calls, as the turn would have room for one there.
    let first = poll_fn(|task| {
        for call in calls.by_ref() {
            place.set(Some(call).into());
            match place.as_mut().poll(task) {
                Poll::Ready(Some(true)) => return Poll::Ready(true),
                Poll::Ready(_) => {}
                Poll::Pending => waiting.push(std::mem::replace(&mut place, empty())),
            }
        }
        Poll::Ready(false)
    });
    let failed = first.await;
    drop(place);
    if failed || waiting.is_empty() {
        return failed;
    }
    let mut waiting: FuturesUnordered<_> = waiting.into_iter().map(in_turn).collect();
    while let Some(failed) = waiting.next().await {
        if failed == Some(true) {
            return true;
        }
    }
    false
}

/// The call, which is not looked at while the task has to give way: of many that go on, each would
/// be looked at for nothing, again and again.
fn in_turn<C: Future + Unpin>(mut call: C) -> impl Future<Output = C::Output> {
    poll_fn(move |task| match has_budget_remaining() {
        true => Pin::new(&mut call).poll(task),
        false => {
            task.waker().wake_by_ref();
            Poll::Pending
        }
    })
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

/// Runs a call, unless it has its end without that. Gives true if it ends the run.
fn begin<'a>(
    plan: &'a mut Plan<'_>,
    admission: &'a Admission<'_>,
) -> Either<impl Future<Output = bool>, BoxFuture<'a, bool>> {
    let Admission { turn, context, .. } = admission;
    let before = match plan.refused.take() {
        Some(text) => Before::Result(ToolResult::error(plan.call, text)),
        None => turn.before(admission.scope, plan, &context.state),
    };
    match (before, plan.early.take()) {
        (Before::Run(answers), None) => {
            plan.answers = answers;
            Either::Left(async {
                let end = run_call(plan, admission).await;
                plan.ended(end)
            })
        }
        // Boxed, as are the other ways: each call would have room for them.
        (Before::Run(_), Some(early)) => Either::Right(Box::pin(async {
            let end = go_on(plan, *early, admission).await;
            plan.ended(end)
        })),
        (Before::Result(result), _) => Either::Right(Box::pin(async {
            admission.scope.tell_not_run(&result).await;
            plan.ended(CallEnd::refused(result))
        })),
        (Before::Ended(end), _) => Either::Right(Box::pin(ready(plan.ended(*end)))),
        (Before::Asks(questions), _) => {
            Either::Right(Box::pin(ready(plan.ended(CallEnd::asks(questions)))))
        }
    }
}
