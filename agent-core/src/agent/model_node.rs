//! One model turn: the request from the state, the reply into the state, its pieces to the
//! events.

use std::sync::Arc;

use tracing::{Instrument as _, Span};

use super::ask::ModelTurn;
use super::error::{AgentError, Failure};
use super::interceptor::ModelNext;
use super::limits::OnLimit;
use super::reply::{Reply, take_in};
use super::scope::RunScope;
use crate::boxed::{BoxError, BoxFuture};
use crate::event::{Limit, Outcome};
use crate::graph::{END, NodeAction, NodeContext, NodeOutput, State, StateUpdate};
use crate::model::{ChatOptions, ChatRequest, ChatResponse, ToolList};
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
            tracing::debug!(
                agent = &*scope.config.name,
                iteration = scope.iteration(),
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
            let reply = Reply::noted(&scope, response);
            Ok(take_in(&scope, reply, mail, last).await)
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
    let (tools, options) = if without_tools {
        // There is nothing to choose among.
        let mut options = ChatOptions::clone(&scope.options);
        options.tool_choice = None;
        (ToolList::default(), Arc::new(options))
    } else {
        (scope.tool_list.clone(), Arc::clone(&scope.options))
    };
    let request = ChatRequest::new(state.transcript().clone())?
        .with_system(scope.config.system_prompt.clone())
        .with_tools(tools)
        .with_shared_options(options);
    Ok(match (&scope.config.output, scope.way) {
        (Some(output), Some(way)) => {
            output.ask(way, request, scope.record(|record| record.asked_for_form))
        }
        _ => request,
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

impl RunScope {
    /// The run that this node works for.
    pub(super) fn of(context: &NodeContext) -> Result<Arc<Self>, BoxError> {
        context
            .extensions()
            .get::<Arc<Self>>()
            .cloned()
            .ok_or_else(|| "a node of an agent runs outside of its agent".into())
    }

    /// How many times the model was asked so far, for the log.
    pub(super) fn iteration(&self) -> u32 {
        let (model_calls, _) = self.record(|record| record.counts.totals());
        model_calls
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
