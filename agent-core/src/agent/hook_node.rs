//! A hook as a node of the agent's graph: runs it, and turns its action into the way on.

use std::collections::HashSet;
use std::sync::Arc;

use super::error::Failure;
use super::hook::{Hook, HookAction, HookContext, HookPosition, Jump};
use super::scope::{Record, RunScope};
use super::wiring::TOOLS;
use crate::boxed::{BoxError, BoxFuture};
use crate::event::{Limit, Outcome};
use crate::graph::{AnswerError, END, NodeAction, NodeContext, NodeOutput, State, StateUpdate};
use crate::message::ToolResult;
use crate::secrets;

/// One hook at one position.
pub(super) struct HookNode {
    pub(super) hook: Arc<dyn Hook>,
    pub(super) position: HookPosition,
    /// True for the last hook after the model, behind which the graph looks where to go.
    pub(super) sends_on: bool,
}

impl NodeAction for HookNode {
    fn run<'a>(
        &'a self,
        state: State,
        context: &'a NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
        Box::pin(async move {
            let scope = RunScope::of(context)?;
            let action = tokio::select! {
                biased;
                () = scope.token.cancelled() => {
                    return Ok(scope.leave(Outcome::Cancelled, StateUpdate::new()));
                }
                () = scope.overdue() => {
                    scope.end(Outcome::LimitReached(Limit::Deadline));
                    return Ok(NodeOutput::default().goto(END));
                }
                action = self.act(&state, &scope, context) => action,
            };
            Ok(match action {
                Ok(action) => self.go_on(&scope, &state, action),
                Err(source) => match AnswerError::within(&*source).cloned() {
                    Some(unfit) => return Err(unfit.masked(&scope.context.secrets).into()),
                    None => self.fail(&scope, source),
                },
            })
        })
    }
}

impl HookNode {
    async fn act(
        &self,
        state: &State,
        scope: &RunScope,
        node: &NodeContext,
    ) -> Result<HookAction, BoxError> {
        let context = HookContext {
            agent: Arc::clone(&scope.config.name),
            run: Arc::clone(&scope.context),
            cancellation: scope.token.clone(),
            answer: node
                .answers()
                .last()
                .map(|(asked, answer)| (asked.id.clone(), answer.clone())),
        };
        match self.position {
            HookPosition::BeforeAgent => self.hook.before_agent(state, &context),
            HookPosition::BeforeModel => self.hook.before_model(state, &context),
            HookPosition::AfterModel => self.hook.after_model(state, &context),
            HookPosition::AfterAgent => self.hook.after_agent(state, &context),
        }
        .await
    }

    fn go_on(&self, scope: &RunScope, state: &State, action: HookAction) -> NodeOutput {
        let (jump, update) = match action {
            HookAction::Continue => (None, StateUpdate::new()),
            HookAction::Update(update) => (None, update),
            HookAction::Jump(to, update) => (Some(to), update),
            HookAction::Interrupt(payload) => return NodeOutput::default().interrupt(payload),
        };
        // A limit ended the run with this reply; the hooks see it, but it leads nowhere else.
        let is_over = self.position == HookPosition::AfterModel && scope.has_ended();
        if is_over && (jump.is_some() || self.sends_on) {
            return NodeOutput::from(answered(state, update)).goto(scope.config.exit.as_str());
        }
        let goes_on = self.sends_on && scope.record(|record| record.goes_on);
        let Some(jump) = jump else {
            let is_answer = self.sends_on && state.transcript().is_closed();
            return match is_answer && scope.has_mail() {
                _ if goes_on => NodeOutput::from(update).goto(TOOLS),
                true => NodeOutput::from(update).goto(scope.config.entry.as_str()),
                false => NodeOutput::from(update),
            };
        };
        if self.position == HookPosition::AfterAgent {
            return match jump {
                Jump::End => NodeOutput::from(update).goto(END),
                _ => self.fail(
                    scope,
                    "after the agent a jump can only lead to the end".into(),
                ),
            };
        }
        let counted = |record: &mut Record| match jump {
            Jump::End => {
                record.jumped = true;
                Ok(())
            }
            Jump::Model | Jump::Tools => record.counts.jump(&scope.config.limits),
        };
        if let Err(limit) = scope.record(counted) {
            return scope.leave(Outcome::LimitReached(limit), answered(state, update));
        }
        match jump {
            Jump::Tools => NodeOutput::from(update).goto(TOOLS),
            Jump::Model => {
                NodeOutput::from(answered(state, update)).goto(scope.config.entry.as_str())
            }
            Jump::End => NodeOutput::from(answered(state, update)).goto(scope.config.exit.as_str()),
        }
    }

    fn fail(&self, scope: &RunScope, source: BoxError) -> NodeOutput {
        let hook = self.hook.name().to_owned();
        let source = secrets::masked(source, &scope.context.secrets);
        scope.fail(Failure::Hook { hook, source }, StateUpdate::new())
    }
}

/// The update with a result for every open call that it does not answer itself.
fn answered(state: &State, update: StateUpdate) -> StateUpdate {
    let mut answers = StateUpdate::new();
    let by_itself: HashSet<&str> = update.answered().collect();
    for call in state.transcript().open_calls() {
        if !by_itself.contains(call.id.as_str()) {
            let text = "Error: not run: the run went on without it";
            answers = answers.answer(ToolResult::error(call, text));
        }
    }
    // In front: what the hook adds may only follow a closed group.
    answers.extend(update);
    answers
}
