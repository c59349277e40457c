//! Interceptors: each wraps a call of the model or of a tool, and may replace it.
//!
//! The first of a list is the outermost: of `[a, b]`, `a` begins first and ends last. An
//! interceptor passes the request on with `next`, changed or not, once, several times or not
//! at all.

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "retry")]
use tokio::time::Instant;

use super::ask::ModelTurn;
use super::react::Config;
use crate::boxed::BoxFuture;
use crate::message::ToolCall;
use crate::model::{ChatModel, ChatRequest, ChatResponse, ModelError};
use crate::tool::{
    ToolCallback, ToolContext, ToolDefinition, ToolError, ToolMetadata, ToolOutcome, executor,
};

/// Wraps each call of the model.
///
/// ```
/// use agent_core::agent::{ModelInterceptor, ModelNext};
/// use agent_core::model::{ChatOptions, ChatRequest, ChatResponse, ModelError};
/// use agent_core::BoxFuture;
///
/// /// Asks once more if the provider says that this may help.
/// struct OnceMore;
///
/// impl ModelInterceptor for OnceMore {
///     fn intercept<'a>(
///         &'a self,
///         request: ChatRequest,
///         next: ModelNext<'a>,
///     ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
///         Box::pin(async move {
///             match next.run(request.clone()).await {
///                 Err(error) if error.is_retryable() => next.run(request).await,
///                 reply => reply,
///             }
///         })
///     }
/// }
/// ```
pub trait ModelInterceptor: Send + Sync + 'static {
    /// The name by which an interceptor is there only once. Default: the name of its type.
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// Makes a reply of the request, by `next` or in its place.
    ///
    /// Dropping the future cancels the call. An error of the interceptor is one of the model.
    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>>;
}

/// What comes after a model interceptor: the next one, at last the model.
#[derive(Clone, Copy)]
pub struct ModelNext<'a> {
    rest: &'a [Arc<dyn ModelInterceptor>],
    turn: &'a ModelTurn,
    model: &'a Arc<dyn ChatModel>,
}

impl<'a> ModelNext<'a> {
    pub(super) fn new(turn: &'a ModelTurn) -> Self {
        let config = &turn.scope.config;
        Self {
            rest: &config.model_interceptors,
            turn,
            model: &config.model,
        }
    }

    /// The same way to another model in place of the agent's. What only another provider can
    /// read, of messages this run knows to be its, is left out of the request.
    #[must_use]
    pub fn on(self, model: &'a Arc<dyn ChatModel>) -> Self {
        Self { model, ..self }
    }

    /// True if the run's time is over then.
    #[cfg(feature = "retry")]
    pub(super) fn is_overdue_at(&self, moment: Instant) -> bool {
        let deadline = self.turn.scope.deadline;
        deadline.is_some_and(|deadline| moment >= deadline)
    }

    /// Counts one more attempt beyond the first ones of the run. False if there are too many.
    #[cfg(feature = "retry")]
    pub(super) fn takes_retry(&self, budget: u32) -> bool {
        self.turn.scope.record(|record| {
            let is_left = record.model_retries < budget;
            record.model_retries += u32::from(is_left);
            is_left
        })
    }

    /// Passes the request on.
    ///
    /// From the second time on that the model is asked, the run tells
    /// [`EventKind::Retried`](crate::event::EventKind::Retried) first: what was streamed of the
    /// reply before does not count.
    ///
    /// # Errors
    ///
    /// What the model, or an interceptor on the way to it, fails with.
    #[must_use]
    pub fn run(self, request: ChatRequest) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        match self.rest.split_first() {
            Some((next, rest)) => next.intercept(request, Self { rest, ..self }),
            None => Box::pin(self.turn.ask(self.model, request)),
        }
    }
}

impl fmt::Debug for ModelNext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ModelNext({} more)", self.rest.len())
    }
}

/// A tool call on its way to the tool.
#[derive(Clone)]
#[non_exhaustive]
pub struct ToolRequest {
    /// The call. Other arguments in it are those the tool gets; the tool, and what the history
    /// says of the call, stay the same.
    pub call: ToolCall,
    /// What the tool may know of its run.
    pub context: ToolContext,
    tool: Arc<dyn ToolCallback>,
}

impl ToolRequest {
    pub(super) fn new(call: ToolCall, context: ToolContext, tool: Arc<dyn ToolCallback>) -> Self {
        Self {
            call,
            context,
            tool,
        }
    }

    /// What the model is told about the tool.
    #[must_use]
    pub fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    /// How the tool wants to be run.
    #[must_use]
    pub fn metadata(&self) -> &ToolMetadata {
        self.tool.metadata()
    }
}

impl fmt::Debug for ToolRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolRequest")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

/// Wraps each tool call that is about to run.
///
/// A call of an unknown tool, one over a limit, and one with broken arguments never run, so no
/// interceptor sees them. The call's time limit holds for the interceptors too, and a panic in
/// one is an error of the call, as one in the tool is.
///
/// ```
/// use agent_core::agent::{ToolInterceptor, ToolNext, ToolRequest};
/// use agent_core::tool::{Effect, ToolOutcome};
/// use agent_core::{BoxFuture, ToolError};
///
/// /// Lets only tools run that read.
/// struct ReadOnly;
///
/// impl ToolInterceptor for ReadOnly {
///     fn intercept<'a>(
///         &'a self,
///         request: ToolRequest,
///         next: ToolNext<'a>,
///     ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
///         Box::pin(async move {
///             if request.metadata().declared_effect() != Effect::Pure {
///                 return Err(ToolError::correctable("this session only reads"));
///             }
///             next.run(request).await
///         })
///     }
/// }
/// ```
pub trait ToolInterceptor: Send + Sync + 'static {
    /// The name by which an interceptor is there only once. Default: the name of its type.
    fn name(&self) -> &str {
        std::any::type_name::<Self>()
    }

    /// Makes an outcome of the call, by `next` or in its place.
    ///
    /// Dropping the future cancels the call. An error is handled as one of the tool.
    fn intercept<'a>(
        &'a self,
        request: ToolRequest,
        next: ToolNext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>>;
}

/// What comes after a tool interceptor: the next one, at last the tool.
#[derive(Clone, Copy)]
pub struct ToolNext<'a> {
    rest: &'a [Arc<dyn ToolInterceptor>],
    config: &'a Config,
}

impl<'a> ToolNext<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        let rest = &config.tool_interceptors;
        Self { rest, config }
    }

    /// Passes the call on.
    ///
    /// # Errors
    ///
    /// What the tool, or an interceptor on the way to it, fails with.
    #[must_use]
    pub fn run(self, request: ToolRequest) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        match self.rest.split_first() {
            Some((next, rest)) => next.intercept(request, Self { rest, ..self }),
            None => Box::pin(async move {
                let ToolRequest {
                    call,
                    context,
                    tool,
                } = &request;
                tries(self.config, tool, call, context).await
            }),
        }
    }
}

/// Calls the tool, again if the agent says so.
#[cfg_attr(not(feature = "retry"), expect(unused_variables))]
pub(super) fn tries<'a>(
    config: &'a Config,
    tool: &'a Arc<dyn ToolCallback>,
    call: &'a ToolCall,
    context: &'a ToolContext,
) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
    #[cfg(feature = "retry")]
    if let Some(retry) = &config.tool_retry {
        return Box::pin(super::retry::call(retry, tool, call, context));
    }
    executor::call(tool, &call.arguments, context)
}

impl fmt::Debug for ToolNext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolNext({} more)", self.rest.len())
    }
}
