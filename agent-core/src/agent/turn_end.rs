//! How a turn of calls ends: their results and what they wrote to the state, put together in call
//! order, and how the run goes on.

use std::collections::HashMap;

use super::call_end::{CallEnd, Ended};
use super::error::Failure;
use super::limits::OnLimit;
use super::plan::Plan;
use super::scope::RunScope;
use crate::event::{Limit, Outcome};
use crate::graph::{AnswerError, NodeOutput, Question, State, StateUpdate};
use crate::message::{Message, ToolCall, ToolResult};
use crate::model::FinishReason;

/// How the calls of a turn ended, in call order.
pub(super) struct Ends<'a> {
    update: StateUpdate,
    results: Vec<ToolResult>,
    pub(super) asking: Vec<(&'a ToolCall, Vec<Question>)>,
    unfit: Option<AnswerError>,
    pub(super) failure: Option<Box<Failure>>,
    /// True if the results may be the answer, as far as these calls have a say.
    direct: bool,
    /// True if a tool wrote to the state.
    changes_state: bool,
}

impl<'a> Ends<'a> {
    /// Takes the ends out of the plans, and what the tools wrote behind `update`.
    pub(super) fn of(plans: &mut [Plan<'a>], update: StateUpdate) -> Self {
        let ends = || plans.iter().filter_map(|plan| plan.end.as_ref());
        // A call over its limit has no say; one that ran has to be there.
        let direct = ends().any(|end| end.direct) && ends().all(|end| end.direct || end.refused);
        let mut all = Self {
            update,
            results: Vec::with_capacity(plans.len()),
            asking: Vec::new(),
            unfit: None,
            failure: None,
            direct,
            changes_state: false,
        };
        for Plan { call, end, .. } in plans {
            if let Some(end) = end.take() {
                all.push(call, end);
            }
        }
        all
    }

    fn push(&mut self, call: &'a ToolCall, end: CallEnd) {
        if !end.update.is_empty() {
            self.changes_state = true;
            self.update.extend(end.update);
        }
        match end.ended {
            Ended::Result(result) => self.results.push(result),
            Ended::Asks(questions) => self.asking.push((call, questions)),
            Ended::Unfit(error) => {
                self.asking.push((call, Vec::new()));
                self.unfit.get_or_insert(error);
            }
            Ended::Failed(result, cause) => {
                self.results.push(result);
                self.failure.get_or_insert(cause);
            }
        }
    }

    /// Answers the calls that wait for a person, as the run ends.
    pub(super) async fn ask_nobody(&mut self, scope: &RunScope) {
        for (call, _) in self.asking.drain(..) {
            let text = "Error: the run ended before the call was answered";
            let result = ToolResult::error(call, text);
            scope.tell_not_run(&result).await;
            self.results.push(result);
        }
    }
}

/// Puts results and state updates together, and decides how the run goes on.
pub(super) fn take_in(
    scope: &RunScope,
    state: &State,
    ends: Ends<'_>,
    reached: Option<Limit>,
) -> Result<NodeOutput, AnswerError> {
    let Ends {
        update,
        results,
        asking,
        unfit,
        failure,
        direct,
        changes_state,
    } = ends;
    if let Some(error) = unfit.filter(|_| !asking.is_empty()) {
        // The calls that ended are written down; the step is not over.
        return Err(error);
    }
    let stops = reached.is_some() && scope.config.limits.on_limit != OnLimit::ErrorResult;
    let direct = direct && !stops && asking.is_empty() && earlier_results_are_direct(scope, state);
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
