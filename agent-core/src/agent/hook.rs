//! Hooks: what runs before and after the agent, and before and after each model call.
//!
//! Hooks are nodes of the agent's graph, one for each hook and position. Before the agent and
//! before the model they run in their order, after the model and after the agent in reverse,
//! so that the first hook is the outermost.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::interceptor::{ModelInterceptor, ToolInterceptor};
use crate::answer::{AnswerError, read};
use crate::boxed::{BoxError, BoxFuture};
use crate::message::ToolCall;
use crate::state::{KeyStrategy, State, StateUpdate};
use crate::tool::{RunContext, ToolCallback};

/// Where a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the four positions are all there are around a loop of two nodes"
)]
pub enum HookPosition {
    /// Once, before the first model call.
    BeforeAgent,
    /// Before each model call.
    BeforeModel,
    /// After each reply of the model, before its tool calls run.
    AfterModel,
    /// Once, when the run has its answer or a limit was reached; not after a cancellation, an
    /// error or a pause.
    AfterAgent,
}

impl HookPosition {
    /// All positions, in the order of a run.
    pub const ALL: &'static [Self] = &[
        Self::BeforeAgent,
        Self::BeforeModel,
        Self::AfterModel,
        Self::AfterAgent,
    ];

    /// The name of a hook's node at this position, for example `before_model:trim`.
    pub(super) fn node(self, hook: &str) -> String {
        let position = match self {
            Self::BeforeAgent => "before_agent",
            Self::BeforeModel => "before_model",
            Self::AfterModel => "after_model",
            Self::AfterAgent => "after_agent",
        };
        format!("{position}:{hook}")
    }
}

/// Where a jump leads. How often a run may go round by jumps alone is bounded by
/// [`Limits::jumps`](super::Limits::jumps).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "an agent's graph has these three places"
)]
pub enum Jump {
    /// To the model, through the hooks before it. Tool calls without a result are answered: they
    /// were not run.
    Model,
    /// To the tools.
    Tools,
    /// To the end of the run, through the hooks after the agent. Tool calls without a result
    /// are answered: they were not run.
    End,
}

/// What a hook wants.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum HookAction {
    /// The run goes on.
    #[default]
    Continue,
    /// The state changes, then the run goes on.
    Update(StateUpdate),
    /// The state changes, then the run goes on elsewhere: this once, whatever it did before.
    /// The hooks of this position that have not run yet are left out.
    Jump(Jump, StateUpdate),
    /// The run pauses and asks a person. When it is resumed, this method runs again and finds the
    /// answer: [`HookContext::answer`].
    Interrupt(Value),
}

impl HookAction {
    /// A jump that changes nothing else.
    #[must_use]
    pub fn jump(to: Jump) -> Self {
        Self::Jump(to, StateUpdate::new())
    }
}

impl From<StateUpdate> for HookAction {
    fn from(update: StateUpdate) -> Self {
        Self::Update(update)
    }
}

/// What a method of a hook returns.
pub type HookFuture<'a> = BoxFuture<'a, Result<HookAction, BoxError>>;

/// Runs before and after the agent, and before and after each of its model calls.
///
/// Dropping a method's future, which a cancelled run does, stops the hook. An error ends the
/// run with [`AgentError::Hook`](crate::AgentError::Hook).
///
/// ```
/// use agent_core::agent::{Hook, HookAction, HookContext, HookFuture, HookPosition, Jump};
/// use agent_core::graph::{State, StateUpdate};
/// use agent_core::Message;
///
/// /// Answers without the model where a word is not wanted.
/// struct Refuse(&'static str);
///
/// impl Hook for Refuse {
///     fn name(&self) -> &str {
///         "refuse"
///     }
///
///     fn positions(&self) -> &[HookPosition] {
///         &[HookPosition::BeforeModel]
///     }
///
///     fn before_model<'a>(&'a self, state: &'a State, _: &'a HookContext) -> HookFuture<'a> {
///         Box::pin(async move {
///             let refused = state.messages().iter().any(|message| message.text().contains(self.0));
///             Ok(if refused {
///                 let answer = Message::assistant("I would rather not.");
///                 HookAction::Jump(Jump::End, StateUpdate::new().message(answer))
///             } else {
///                 HookAction::Continue
///             })
///         })
///     }
/// }
/// ```
pub trait Hook: Send + Sync + 'static {
    /// The hook's name, by which an agent has it once.
    fn name(&self) -> &str;

    /// Lower runs first; of equals the one given first. Default: 0.
    fn order(&self) -> i32 {
        0
    }

    /// Where the hook runs. A position left out costs no step. Default: all.
    fn positions(&self) -> &[HookPosition] {
        HookPosition::ALL
    }

    /// Runs at [`HookPosition::BeforeAgent`].
    fn before_agent<'a>(&'a self, state: &'a State, context: &'a HookContext) -> HookFuture<'a> {
        go_on(state, context)
    }

    /// Runs at [`HookPosition::BeforeModel`].
    fn before_model<'a>(&'a self, state: &'a State, context: &'a HookContext) -> HookFuture<'a> {
        go_on(state, context)
    }

    /// Runs at [`HookPosition::AfterModel`].
    fn after_model<'a>(&'a self, state: &'a State, context: &'a HookContext) -> HookFuture<'a> {
        go_on(state, context)
    }

    /// Runs at [`HookPosition::AfterAgent`]. A jump can only lead to the end.
    fn after_agent<'a>(&'a self, state: &'a State, context: &'a HookContext) -> HookFuture<'a> {
        go_on(state, context)
    }

    /// Whether a person must approve this call before it runs, and what to ask. It must only look
    /// at its arguments: it is asked again when a run is resumed. Default: no.
    fn approval(&self, call: &ToolCall, state: &State) -> Option<String> {
        let _ = (call, state);
        None
    }

    /// Tools the hook brings. They come before the agent's own. Default: none.
    fn tools(&self) -> Vec<Arc<dyn ToolCallback>> {
        Vec::new()
    }

    /// Interceptors the hook brings. They come behind the agent's own. Default: none.
    fn model_interceptors(&self) -> Vec<Arc<dyn ModelInterceptor>> {
        Vec::new()
    }

    /// As [`model_interceptors`](Self::model_interceptors), around tool calls.
    fn tool_interceptors(&self) -> Vec<Arc<dyn ToolInterceptor>> {
        Vec::new()
    }

    /// How updates of the hook's keys are joined. Default: none.
    fn keys(&self) -> Vec<(Arc<str>, KeyStrategy)> {
        Vec::new()
    }
}

fn go_on<'a>(_: &State, _: &HookContext) -> HookFuture<'a> {
    Box::pin(std::future::ready(Ok(HookAction::Continue)))
}

/// What a hook may know of its run beside the state.
#[derive(Clone)]
pub struct HookContext {
    pub(super) agent: Arc<str>,
    pub(super) run: Arc<RunContext>,
    pub(super) cancellation: CancellationToken,
    pub(super) answer: Option<(String, Value)>,
}

impl HookContext {
    /// The agent's name.
    #[must_use]
    pub fn agent(&self) -> &str {
        &self.agent
    }

    /// The run's id.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.run.run_id
    }

    /// The thread's id, if the run belongs to one.
    #[must_use]
    pub fn thread_id(&self) -> Option<&str> {
        self.run.thread_id.as_deref()
    }

    /// The answer to what this hook asked, if it runs again because somebody answered.
    ///
    /// # Errors
    ///
    /// The answer is not the JSON of a `T`. A hook that fails with this error has not happened: the
    /// run ends with [`CheckpointError::InvalidAnswer`](crate::graph::checkpoint::CheckpointError),
    /// and takes another answer.
    pub fn answer<T: DeserializeOwned>(&self) -> Result<Option<T>, AnswerError> {
        let answer = self.answer.as_ref();
        answer.map(|(id, value)| read(id, value)).transpose()
    }

    /// The run's token.
    #[must_use]
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// A value the host program lends; the run's over the agent's.
    #[must_use]
    pub fn host<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.run.hosts.get()
    }

    /// Metadata of the run, or of the agent.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&Value> {
        self.run.metadata.get(key)
    }
}

impl fmt::Debug for HookContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HookContext")
            .field("agent", &self.agent)
            .field("run_id", &self.run_id())
            .finish_non_exhaustive()
    }
}
