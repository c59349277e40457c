//! One model turn: the request from the state, the reply into the state, its pieces to the
//! events.

use std::convert::Infallible;
use std::sync::Arc;

use futures_util::future::{Either, Ready, ready};
use tracing::{Instrument as _, Span};

use super::ask::ModelTurn;
use super::error::{AgentError, Failure};
use super::interceptor::ModelNext;
use super::limits::OnLimit;
use super::output::{FINAL_ANSWER, OutputError};
use super::scope::RunScope;
use super::wiring::TOOLS;
use crate::boxed::{BoxError, BoxFuture};
use crate::event::{EventKind, Limit, Outcome};
use crate::graph::{END, NodeAction, NodeContext, NodeOutput, State, StateUpdate};
use crate::message::{Message, ToolCall, ToolResult};
use crate::model::{ChatRequest, ChatResponse, ToolList};
use crate::telemetry;

/// The node that asks the model.
#[derive(Debug)]
pub(super) struct ModelNode;

impl NodeAction for ModelNode {
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
            if !state.transcript().is_closed() {
                // The history came in with open calls: they run first, the model reads the results [C7].
                return Ok(NodeOutput::from(StateUpdate::new()));
            }
            if scope.token.is_cancelled() {
                return Ok(scope.leave(Outcome::Cancelled, StateUpdate::new()));
            }
            let last = match admit(&scope) {
                Ok(last) => last,
                Err(limit) => {
                    return Ok(scope.leave(Outcome::LimitReached(limit), StateUpdate::new()));
                }
            };
            let (iteration, _) = scope.record(|record| record.counts.totals());
            tracing::debug!(
                agent = &*scope.config.name,
                iteration,
                messages = state.messages().len(),
                "reasoning"
            );
            let mail = scope.control.as_ref().map_or_else(Vec::new, |it| it.take());
            let mut state = state;
            for message in &mail {
                state.transcript_mut().push(message.clone())?;
            }
            let request = request(&scope, &state, last.is_some())?;
            let span = chat_span(&scope);
            let turn = ModelTurn::new(Arc::clone(&scope), span.clone(), state);
            let next = ModelNext::new(&turn);
            let reply = tokio::select! {
                biased;
                () = scope.token.cancelled() => {
                    let mail = StateUpdate::new().messages(mail);
                    return Ok(scope.leave(Outcome::Cancelled, mail));
                }
                () = scope.overdue() => {
                    let mail = StateUpdate::new().messages(mail);
                    return Ok(scope.leave(Outcome::LimitReached(Limit::Deadline), mail));
                }
                reply = next.run(request).instrument(span.clone()) => reply,
            };
            let mut response = match reply {
                Ok(response) => response,
                Err(error) => {
                    span.record(telemetry::ERROR_TYPE, error.kind().word());
                    let error = error.masked(&scope.context.secrets);
                    return Ok(scope.fail(Failure::Model(error), StateUpdate::new()));
                }
            };
            record_reply(&span, &response);
            // A call without an id, or with one that another call has, could not be answered.
            crate::id::make_unique(&mut response.message.tool_calls, "call", |call| {
                &mut call.id
            });
            Ok(take_in(&scope, response, mail, last).await)
        })
    }
}

/// Counts the call. `Ok(Some(limit))` if it is the one last answer that `limit` leaves.
fn admit(scope: &RunScope) -> Result<Option<Limit>, Limit> {
    if scope.is_overdue() {
        return Err(Limit::Deadline);
    }
    let limits = &scope.config.limits;
    scope.outwards(|record, limits| record.counts.model_call(limits))?;
    scope.record(|record| {
        let ends_here =
            limits.on_limit == OnLimit::LastAnswer && record.counts.is_last_model_call(limits);
        // With one call in all there is no loop to end: it keeps its tools.
        let ends_here = ends_here && limits.model_calls != Some(1);
        Ok(record
            .last_answer
            .clone()
            .or(ends_here.then_some(Limit::ModelCalls)))
    })
}

fn request(
    scope: &RunScope,
    state: &State,
    without_tools: bool,
) -> Result<ChatRequest, AgentError> {
    let tools = if without_tools {
        ToolList::default()
    } else {
        scope.tool_list.clone()
    };
    let request = ChatRequest::new(state.transcript().clone())?
        .with_system(scope.config.system_prompt.clone())
        .with_tools(tools)
        .with_shared_options(Arc::clone(&scope.options));
    Ok(match &scope.config.output {
        None => request,
        Some(output) => output.ask(request, scope.record(|record| record.asked_for_form)),
    })
}

fn chat_span(scope: &RunScope) -> Span {
    let provider = scope.config.model.provider();
    telemetry::chat_span(&scope.span, scope.model_name(), provider, scope.streaming)
}

fn record_reply(span: &Span, response: &ChatResponse) {
    span.record(
        telemetry::FINISH_REASONS,
        tracing::field::display(&response.finish_reason),
    );
    if let Some(usage) = response.usage {
        span.record(telemetry::INPUT_TOKENS, usage.input_tokens);
        span.record(telemetry::OUTPUT_TOKENS, usage.output_tokens);
        span.record(telemetry::CACHE_READ_TOKENS, usage.cached_input_tokens);
        span.record(telemetry::REASONING_TOKENS, usage.reasoning_tokens);
    }
}

/// Puts the reply into the state and decides whether the run ends with it.
async fn take_in(
    scope: &Arc<RunScope>,
    response: ChatResponse,
    mail: Vec<Message>,
    last: Option<Limit>,
) -> NodeOutput {
    let has_calls = !response.message.tool_calls.is_empty();
    let rule = scope.config.runs_tools.as_ref();
    let runs_tools = rule.map_or(has_calls, |rule| rule(&response));
    let ChatResponse {
        message: answer,
        finish_reason,
        usage,
    } = response;
    let message = Message::from(answer);
    let reply = message.clone();
    let calls = reply.tool_calls();
    let (iteration, _) = scope.record(|record| record.counts.totals());
    tracing::debug!(agent = &*scope.config.name, iteration, calls = calls.len(), %finish_reason, "the model replied");
    let _ = scope.outwards(|record, _| {
        record.usage += usage.unwrap_or_default();
        Ok::<_, Infallible>(())
    });
    scope.record(|record| {
        record.finish_reason = Some(finish_reason.clone());
    });
    scope.record(|record| record.origins.settle(message.id()));
    scope
        .sink
        .send(|| EventKind::ModelFinished {
            message: message.clone(),
            finish_reason,
            usage,
        })
        .await;
    let text = message.text();
    let update = StateUpdate::new().messages(mail).message(message);
    if let Some(error) = unreadable_answer(scope, calls) {
        let why = "the answer cannot be read";
        let update = not_run(scope, update, calls, why).await;
        return scope.fail(Failure::Output(error), update);
    }
    let (outcome, why) = match last {
        // The model was offered no tools; should it call some all the same, they do not run.
        Some(limit) => (Outcome::LimitReached(limit), "a limit was reached"),
        None if has_calls && !runs_tools => {
            scope.record(|record| {
                record.answer = Some(text);
                record.jumped = true;
            });
            (Outcome::Finished, "the reply is taken as the answer")
        }
        None if !has_calls && !scope.config.has_after_model && scope.has_mail() => {
            return NodeOutput::from(update).goto(scope.config.entry.as_str());
        }
        None if runs_tools && !has_calls => {
            scope.record(|record| record.goes_on = true);
            let update = NodeOutput::from(update);
            return match scope.config.has_after_model {
                true => update,
                false => update.goto(TOOLS),
            };
        }
        None => return NodeOutput::from(update),
    };
    let update = not_run(scope, update, calls, why).await;
    if scope.config.has_after_model {
        scope.end(outcome);
        return NodeOutput::from(update);
    }
    scope.leave(outcome, update)
}

/// The answer of a form, if its arguments cannot be read, so that its tool never sees them, and
/// this is not to be asked for again.
fn unreadable_answer(scope: &RunScope, calls: &[ToolCall]) -> Option<OutputError> {
    let output = scope.config.output.as_ref()?;
    let mut answers = calls.iter().filter(|call| call.name == FINAL_ANSWER);
    let (call, invalid) = answers.find_map(|call| call.invalid.map(|invalid| (call, invalid)))?;
    scope.counts_misfit(output.retries).then(|| OutputError {
        fault: invalid.to_string(),
        answer: call.arguments.clone(),
    })
}

/// Answers calls that do not run.
fn not_run<'a>(
    scope: &'a RunScope,
    update: StateUpdate,
    calls: &'a [ToolCall],
    why: &'a str,
) -> Either<Ready<StateUpdate>, BoxFuture<'a, StateUpdate>> {
    match calls {
        [] => Either::Left(ready(update)),
        // Boxed, because it is rare: every turn would have room for it.
        calls => Either::Right(Box::pin(answer(scope, update, calls, why))),
    }
}

async fn answer(
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

impl RunScope {
    /// The run that this node works for.
    pub(super) fn of(context: &NodeContext) -> Result<Arc<Self>, BoxError> {
        context
            .extensions()
            .get::<Arc<Self>>()
            .cloned()
            .ok_or_else(|| "a node of an agent runs outside of its agent".into())
    }

    /// Ends the run with this outcome and a last update. With an answer, or at a limit, the
    /// hooks after the agent still run.
    pub(super) fn leave(&self, outcome: Outcome, update: StateUpdate) -> NodeOutput {
        let target = match outcome {
            Outcome::Finished | Outcome::LimitReached(_) => self.config.exit.as_str(),
            _ => END,
        };
        self.end(outcome);
        NodeOutput::from(update).goto(target)
    }

    /// Ends the run with this failure and a last update.
    pub(super) fn fail(&self, failure: Failure, update: StateUpdate) -> NodeOutput {
        self.stop(failure);
        // A thread stands where it failed, and can be resumed there.
        NodeOutput::from(update).halting()
    }
}
