//! Asks another model after one failed.

use std::fmt;
use std::sync::Arc;

use super::interceptor::{ModelInterceptor, ModelNext};
use crate::boxed::BoxFuture;
use crate::model::{ChatModel, ChatOptions, ChatRequest, ChatResponse, ModelError, ModelErrorKind};

/// Asks other models, in order, when the agent's own failed: a
/// [model interceptor](ModelInterceptor).
///
/// Another model gets the same history and tools. The settings of a provider's own, a name of a
/// model and [`extra`](ChatOptions::extra), are not passed on; [`to_with`](Self::to_with) gives it
/// others. What only the provider that wrote it can read, such as its reasoning, is left out.
/// What was streamed of a failed reply does not count, which
/// [`EventKind::Retried`](crate::event::EventKind::Retried) tells. The next turn begins with the
/// agent's own model again.
///
/// ```
/// use agent_core::ReactAgent;
/// use agent_core::agent::ModelFallback;
/// use agent_core::model::{ModelError, ModelErrorKind, ScriptedModel, scripted::{fails, says}};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let down = ModelError::new(ModelErrorKind::Transport, "the connection broke");
/// let first = ScriptedModel::new([fails(down)]);
/// let second = ScriptedModel::new([says("Hello.")]);
/// let agent = ReactAgent::builder("assistant", first)
///     .model_interceptor(ModelFallback::to(second))
///     .build()?;
///
/// assert_eq!(agent.run("Hi").await?.text(), "Hello.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct ModelFallback {
    models: Vec<(Arc<dyn ChatModel>, ChatOptions)>,
    when: fn(&ModelError) -> bool,
}

impl ModelFallback {
    /// Asks this model next.
    pub fn to(model: impl ChatModel + 'static) -> Self {
        Self::to_with(model, ChatOptions::new())
    }

    /// Asks this model next, with these settings over those of the request.
    pub fn to_with(model: impl ChatModel + 'static, options: ChatOptions) -> Self {
        Self {
            models: vec![(Arc::new(model), options)],
            when: helps,
        }
    }

    /// And then this one; calls add up.
    pub fn then(self, model: impl ChatModel + 'static) -> Self {
        self.then_with(model, ChatOptions::new())
    }

    /// And then this one, with these settings over those of the request.
    pub fn then_with(mut self, model: impl ChatModel + 'static, options: ChatOptions) -> Self {
        self.models.push((Arc::new(model), options));
        self
    }

    /// After which errors the next model is asked. Default: all but those that say that no real
    /// model may be asked, or none was recorded.
    pub fn when(mut self, when: fn(&ModelError) -> bool) -> Self {
        self.when = when;
        self
    }
}

fn helps(error: &ModelError) -> bool {
    !matches!(
        error.kind(),
        ModelErrorKind::RequestsForbidden | ModelErrorKind::NoRecording
    )
}

/// The request as another model gets it.
fn for_other(request: &ChatRequest, own: &ChatOptions) -> ChatRequest {
    let mut options = request.options().clone();
    options.model = None;
    options.extra.clear();
    request.clone().with_options(options.merged(own))
}

impl ModelInterceptor for ModelFallback {
    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        Box::pin(async move {
            let mut reply = next.run(request.clone()).await;
            for (model, options) in &self.models {
                let error = match reply {
                    Err(error) if (self.when)(&error) => error,
                    reply => return reply,
                };
                let (model_name, provider) = (model.name(), model.provider());
                tracing::warn!(model = model_name, provider, %error, "the model failed: another one is asked");
                reply = next.on(model).run(for_other(&request, options)).await;
            }
            reply
        })
    }
}

impl fmt::Debug for ModelFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.models.iter().map(|(model, _)| model.name());
        f.debug_list().entries(names).finish()
    }
}
