//! How a call ends: its result, what a policy makes of its error, and who is told.

use std::sync::Arc;

use futures_util::future::{Either, Ready, ready};
use tokio::time::Instant;
use tracing::Span;

use super::approval;
use super::call::Attempt;
use super::cap::cap;
use super::earlier::Turn;
use super::error::Failure;
use super::plan::Plan;
use super::policy::Decision;
use super::scope::RunScope;
use crate::boxed::BoxFuture;
use crate::event::EventKind;
use crate::graph::{AnswerError, Question, StateUpdate};
use crate::message::{ContentPart, ToolCall, ToolResult};
use crate::telemetry;
use crate::tool::{ToolError, ToolErrorKind, ToolOutcome};

/// How a call ended, and what it leaves behind.
pub(super) struct CallEnd {
    pub(super) ended: Ended,
    /// What the tool wrote to the state; empty unless the call went well. A call that pauses
    /// runs again and writes then.
    pub(super) update: StateUpdate,
    /// True if the call went well and its tool is `return_direct`.
    pub(super) direct: bool,
    /// True if the call was answered without a try.
    pub(super) refused: bool,
}

pub(super) enum Ended {
    Result(ToolResult),
    /// The call waits for answers.
    Asks(Vec<Question>),
    /// The call did not happen: it was answered with what it cannot read.
    Unfit(AnswerError),
    /// The call ends the run; the result is what the history says of it. Boxed, because it is
    /// rare and large.
    Failed(ToolResult, Box<Failure>),
}

impl CallEnd {
    /// A call that was answered without running.
    pub(super) fn refused(result: ToolResult) -> Self {
        Self {
            ended: Ended::Result(result),
            update: StateUpdate::new(),
            direct: false,
            refused: true,
        }
    }

    /// A call that waits for answers.
    pub(super) fn asks(questions: Vec<Question>) -> Self {
        Self::of(Ended::Asks(questions))
    }

    /// A call that has no result, or none of its own.
    fn of(ended: Ended) -> Self {
        Self {
            ended,
            update: StateUpdate::new(),
            direct: false,
            refused: false,
        }
    }
}

/// Makes what a call gave its result, and tells it.
///
/// What waits is boxed: most calls have nobody to tell, and would have room for it.
pub(super) fn end_call<'a>(
    scope: &'a Arc<RunScope>,
    plan: &'a Plan<'_>,
    outcome: Attempt,
    (span, started, turn): (&Span, Instant, &'a Turn),
) -> Either<Ready<CallEnd>, BoxFuture<'a, CallEnd>> {
    let call = plan.call;
    let tool = plan.tool.as_ref().map(|tool| tool.definition().name());
    let (tool, end) = (tool.unwrap_or("unknown"), outcome_name(&outcome.result));
    telemetry::tool_ended(span, tool, end, started);
    let unfit = outcome.result.as_ref().err().and_then(ToolError::answer);
    if let Some(unfit) = unfit.filter(|_| outcome.failure.is_none()) {
        let unfit = unfit.clone().masked(&scope.context.secrets);
        return Either::Right(Box::pin(unread(turn, call, unfit)));
    }
    let (result, failure, mut update, direct) = match outcome.result {
        Ok(ToolOutcome::Done(output)) => (
            ToolResult::of(call, output.into_parts()),
            None,
            outcome.update,
            outcome.direct,
        ),
        Ok(ToolOutcome::Interrupt(request)) => {
            return Either::Left(ready(CallEnd::asks(approval::questions(call, request))));
        }
        Err(error) => {
            let (result, failure) = decide(scope, error, call, outcome.ran);
            (
                result,
                outcome.failure.or(failure),
                StateUpdate::new(),
                false,
            )
        }
    };
    let mut result = masked(scope, result);
    // What is the run's answer word for word is not for the model.
    if !direct {
        cap(&mut result, scope.config.result_limit, &mut update);
    }
    if scope.config.record_content {
        let secrets = &scope.context.secrets;
        let arguments = secrets.mask(&call.arguments);
        span.record(telemetry::TOOL_CALL_ARGUMENTS, &*arguments);
        span.record(telemetry::TOOL_CALL_RESULT, &*result.text());
    }
    tracing::debug!(parent: span, is_error = result.is_error, duration = ?started.elapsed(), "the tool call ended");
    let end = CallEnd {
        ended: match failure {
            None => Ended::Result(result),
            Some(failure) => Ended::Failed(result, failure),
        },
        update,
        direct,
        refused: false,
    };
    match turn.is_noted() || scope.sink.is_read() {
        false => Either::Left(ready(end)),
        true => Either::Right(Box::pin(told(scope, turn, end, started))),
    }
}

/// Takes back that the call has begun, as it cannot read its answer.
async fn unread(turn: &Turn, call: &ToolCall, unfit: AnswerError) -> CallEnd {
    CallEnd::of(match turn.unread(call, unfit).await {
        Ok(unfit) => Ended::Unfit(unfit),
        Err(failure) => Ended::Failed(ToolResult::error(call, ENDED), Box::new(failure)),
    })
}

/// Writes down how a call ended, before anybody hears of it, and tells it.
async fn told(scope: &RunScope, turn: &Turn, mut end: CallEnd, started: Instant) -> CallEnd {
    let duration = started.elapsed();
    if let Ended::Result(result) = &end.ended
        && turn.is_noted()
        && let Err(failure) = turn.end(result, &end.update, end.direct).await
    {
        end.ended = Ended::Failed(result.clone(), Box::new(failure));
    }
    if let Ended::Result(result) | Ended::Failed(result, _) = &end.ended {
        let result = result.clone();
        let kind = || EventKind::ToolFinished { result, duration };
        scope.sink.send(kind).await;
    }
    end
}

/// The result without the secrets the agent knows of.
fn masked(scope: &RunScope, mut result: ToolResult) -> ToolResult {
    let secrets = &scope.context.secrets;
    if !secrets.is_empty() {
        for part in &mut result.content {
            if let ContentPart::Text(text) = part {
                *text = secrets.mask(text);
            }
        }
    }
    result
}

const ENDED: &str = "Error: the run ended with this call";

/// What the agent's policy makes of an error: a result for the model, and maybe the end of
/// the run.
fn decide(
    scope: &RunScope,
    error: ToolError,
    call: &ToolCall,
    ran: bool,
) -> (ToolResult, Option<Box<Failure>>) {
    if error.kind() == ToolErrorKind::Cancelled && scope.token.is_cancelled() {
        let text = if ran {
            "Error: cancelled while it ran; it may have run in part"
        } else {
            "Error: cancelled before it started"
        };
        return (ToolResult::error(call, text), None);
    }
    let error = error.masked(&scope.context.secrets);
    // The run's own time is over, which is no matter of one call.
    if error.kind() == ToolErrorKind::TimedOut && scope.is_overdue() {
        return (ToolResult::error(call, error.model_text()), None);
    }
    let failure = match scope.config.error_policy.apply(error, call) {
        Decision::Tell(text) => return (ToolResult::error(call, text), None),
        Decision::Raise(source) => Failure::Tool {
            call: call.clone(),
            source,
        },
        Decision::PassThrough(source) => Failure::PassedThrough {
            tool: call.name.to_string(),
            source,
        },
    };
    // The error is the caller's, not the model's.
    let result = ToolResult::error(call, ENDED);
    (result, Some(Box::new(failure)))
}

fn outcome_name(result: &Result<ToolOutcome, ToolError>) -> &'static str {
    match result {
        Ok(ToolOutcome::Done(_)) => "ok",
        Ok(ToolOutcome::Interrupt(_)) => "interrupted",
        Err(error) => match error.kind() {
            ToolErrorKind::Unknown => "unknown_tool",
            ToolErrorKind::InvalidArguments => "invalid_arguments",
            ToolErrorKind::Correctable => "correctable",
            ToolErrorKind::Failed => "failed",
            ToolErrorKind::Panicked => "panicked",
            ToolErrorKind::TimedOut => "timed_out",
            ToolErrorKind::Cancelled => "cancelled",
            ToolErrorKind::Fatal => "fatal",
        },
    }
}
