//! What a reply of the model makes of the run: it joins the state, and the run goes on or ends.

use std::convert::Infallible;
use std::sync::Arc;

use futures_util::future::{Either, Ready, ready};

use super::error::Failure;
use super::output::{FINAL_ANSWER, OutputError};
use super::scope::RunScope;
use super::wiring::TOOLS;
use crate::boxed::BoxFuture;
use crate::event::{EventKind, Limit, Outcome};
use crate::graph::{NodeOutput, StateUpdate};
use crate::message::{Message, ToolCall, ToolResult};
use crate::model::{ChatResponse, FinishReason, Usage};

/// A reply that was noted in the records of the run.
pub(super) struct Reply {
    message: Message,
    finish_reason: FinishReason,
    usage: Option<Usage>,
    /// True if the run goes on with the tools, whatever calls there are.
    runs_tools: bool,
}

impl Reply {
    pub(super) fn noted(scope: &RunScope, response: ChatResponse) -> Self {
        let has_calls = !response.message.tool_calls.is_empty();
        let rule = scope.config.runs_tools.as_ref();
        let runs_tools = rule.map_or(has_calls, |rule| rule(&response));
        let ChatResponse {
            message,
            finish_reason,
            usage,
        } = response;
        let message = Message::from(message);
        let _ = scope.outwards(|record, _| {
            record.usage += usage.unwrap_or_default();
            Ok::<_, Infallible>(())
        });
        scope.record(|record| {
            record.finish_reason = Some(finish_reason.clone());
            record.goes_on = runs_tools && !has_calls;
            record.origins.settle(message.id());
        });
        tracing::debug!(
            agent = &*scope.config.name,
            iteration = scope.iteration(),
            calls = message.tool_calls().len(),
            %finish_reason,
            "the model replied"
        );
        Self {
            message,
            finish_reason,
            usage,
            runs_tools,
        }
    }
}

/// How the run goes on, at once if nobody is told.
pub(super) type GoesOn<'a> = Either<Ready<NodeOutput>, BoxFuture<'a, NodeOutput>>;

/// Puts the reply into the state and decides whether the run ends with it.
pub(super) fn take_in(
    scope: &Arc<RunScope>,
    reply: Reply,
    mail: Vec<Message>,
    last: Option<Limit>,
) -> GoesOn<'_> {
    match scope.sink.is_read() {
        // Boxed, as whoever is not heard would have room for it too.
        true => Either::Right(Box::pin(told(scope, reply, mail, last))),
        false => go_on(scope, reply, mail, last),
    }
}

async fn told(
    scope: &Arc<RunScope>,
    reply: Reply,
    mail: Vec<Message>,
    last: Option<Limit>,
) -> NodeOutput {
    let kind = || EventKind::ModelFinished {
        message: reply.message.clone(),
        finish_reason: reply.finish_reason.clone(),
        usage: reply.usage,
    };
    scope.sink.send(kind).await;
    go_on(scope, reply, mail, last).await
}

fn go_on(
    scope: &Arc<RunScope>,
    reply: Reply,
    mail: Vec<Message>,
    last: Option<Limit>,
) -> GoesOn<'_> {
    let Reply {
        message,
        runs_tools,
        ..
    } = reply;
    let update = StateUpdate::new().messages(mail).message(message.clone());
    let calls = message.tool_calls();
    let has_calls = !calls.is_empty();
    if let Some(error) = unreadable_answer(scope, calls) {
        let end = End::Failed(Failure::Output(error));
        let why = "the answer cannot be read";
        return end_with(scope, (message, update), (end, why));
    }
    let (outcome, why) = match last {
        // The model was offered no tools; should it call some all the same, they do not run.
        Some(limit) => (Outcome::LimitReached(limit), "a limit was reached"),
        None if has_calls && !runs_tools => {
            scope.record(|record| {
                record.answer = Some(message.text());
                record.jumped = true;
            });
            (Outcome::Finished, "the reply is taken as the answer")
        }
        None if !has_calls && !scope.config.has_after_model && scope.has_mail() => {
            let output = NodeOutput::from(update).goto(scope.config.entry.as_str());
            return Either::Left(ready(output));
        }
        None if runs_tools && !has_calls => {
            let output = NodeOutput::from(update);
            return Either::Left(ready(match scope.config.has_after_model {
                true => output,
                false => output.goto(TOOLS),
            }));
        }
        None => return Either::Left(ready(NodeOutput::from(update))),
    };
    end_with(scope, (message, update), (End::Outcome(outcome), why))
}

/// How a run ends with a reply.
enum End {
    Outcome(Outcome),
    Failed(Failure),
}

/// Ends the run with a reply, whose calls do not run.
fn end_with<'a>(
    scope: &'a RunScope,
    (reply, update): (Message, StateUpdate),
    (end, why): (End, &'static str),
) -> GoesOn<'a> {
    Either::Right(Box::pin(async move {
        let update = not_run(scope, update, reply.tool_calls(), why).await;
        match end {
            End::Failed(failure) => scope.fail(failure, update),
            End::Outcome(outcome) if scope.config.has_after_model => {
                scope.end(outcome);
                NodeOutput::from(update)
            }
            End::Outcome(outcome) => scope.leave(outcome, update),
        }
    }))
}

/// The answer of a form, if its arguments cannot be read, so that its tool never sees them, and
/// this is not to be asked for again.
fn unreadable_answer(scope: &RunScope, calls: &[ToolCall]) -> Option<OutputError> {
    let output = scope.config.output.as_ref()?;
    let mut answers = calls.iter().filter(|call| call.name == FINAL_ANSWER);
    let (call, invalid) = answers.find_map(|call| call.invalid.map(|invalid| (call, invalid)))?;
    scope.counts_misfit(output.retries).then(|| OutputError {
        fault: invalid.to_string(),
        answer: call.arguments.to_string(),
    })
}

/// Answers calls that do not run.
async fn not_run(
    scope: &RunScope,
    mut update: StateUpdate,
    calls: &[ToolCall],
    why: &str,
) -> StateUpdate {
    for call in calls {
        let result = ToolResult::error(call, format!("Error: no tool runs any more: {why}"));
        scope.tell_not_run(&result).await;
        update = update.answer(result);
    }
    update
}
