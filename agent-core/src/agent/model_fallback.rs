//! Asks another model after one failed.

use std::fmt;
use std::sync::Arc;

use super::interceptor::{ModelInterceptor, ModelNext};
use super::output::told_to;
use crate::boxed::BoxFuture;
use crate::model::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind};

/// Asks other models, in order, when the agent's own failed: a
/// [model interceptor](ModelInterceptor).
///
/// Another model gets the same history and tools. The settings of a provider's own, a name of a
/// model and [`extra`](crate::model::ChatOptions::extra), are not passed on;
/// [`with_options`](ChatModel::with_options) gives a model others. What only the provider that
/// wrote it can read, such as its reasoning, is left out.
/// A form of the answer is told in words to one that does not hold its text to a schema.
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
    models: Vec<Arc<dyn ChatModel>>,
    when: fn(&ModelError) -> bool,
}

impl ModelFallback {
    /// Asks this model next.
    pub fn to(model: impl ChatModel + 'static) -> Self {
        Self {
            models: vec![Arc::new(model)],
            when: helps,
        }
    }

    /// And then this one; calls add up.
    pub fn then(mut self, model: impl ChatModel + 'static) -> Self {
        self.models.push(Arc::new(model));
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
fn for_other(request: &ChatRequest, model: &dyn ChatModel) -> ChatRequest {
    let mut options = request.options().clone();
    options.model = None;
    options.extra.clear();
    let unsupported = model.unsupported(&options, request.tools());
    if !unsupported.is_empty() {
        let (model, provider) = (model.name(), model.provider());
        tracing::warn!(
            model,
            provider,
            ?unsupported,
            "settings that the provider has not"
        );
    }
    told_to(model, request.clone().with_options(options))
}

impl ModelInterceptor for ModelFallback {
    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        Box::pin(async move {
            let mut reply = next.run(request.clone()).await;
            for model in &self.models {
                let error = match reply {
                    Err(error) if (self.when)(&error) => error,
                    reply => return reply,
                };
                let (model_name, provider) = (model.name(), model.provider());
                tracing::warn!(model = model_name, provider, %error, "the model failed: another one is asked");
                reply = next
                    .on(model)
                    .run(for_other(&request, model.as_ref()))
                    .await;
            }
            reply
        })
    }
}

impl fmt::Debug for ModelFallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.models.iter().map(|model| model.name());
        f.debug_list().entries(names).finish()
    }
}
