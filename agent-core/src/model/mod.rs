//! Language models: what is asked, what comes back, and the clients that do it.
//!
//! [`ChatModel`] is the one trait; [`ChatRequest`] and [`ChatResponse`] belong to no
//! provider. A reply arrives as [`ModelDelta`]s; a plain reply is their fold.
//!
//! Not here: the loop that runs tools (`agent`).

#[cfg(feature = "anthropic")]
pub mod anthropic;
pub mod cassette;
mod delta;
mod error;
#[cfg(any(feature = "openai", feature = "anthropic"))]
mod families;
mod format;
mod function;
mod guard;
#[cfg(any(feature = "openai", feature = "anthropic"))]
mod http;
#[cfg(any(feature = "openai", feature = "anthropic"))]
mod mend;
#[cfg(feature = "openai")]
pub mod openai;
mod options;
mod prefix;
#[cfg(any(feature = "openai", feature = "anthropic"))]
mod reading;
mod request;
mod response;
pub mod scripted;
#[cfg(any(feature = "openai", feature = "anthropic"))]
mod sse;
mod test_model;
#[cfg(any(feature = "openai", feature = "anthropic"))]
mod timeouts;
mod with_options;
#[cfg(any(feature = "openai", feature = "anthropic"))]
mod writing;

use std::sync::Arc;

use crate::boxed::{BoxFuture, BoxStream};
use crate::schema::Dialect;

#[cfg(feature = "anthropic")]
pub use anthropic::Anthropic;
pub use delta::{Accumulator, ModelDelta};
pub use error::{ModelError, ModelErrorKind};
pub use format::{OutputSchema, ResponseFormat};
pub use function::FunctionModel;
pub use guard::forbid_requests;
#[cfg(feature = "openai")]
pub use openai::OpenAi;
pub use options::{ChatOptions, ToolChoice};
pub use prefix::PrefixBreak;
pub use request::{ChatRequest, ToolList};
pub use response::{ChatResponse, FinishReason, Usage};
pub use scripted::ScriptedModel;
pub use test_model::TestModel;
#[cfg(any(feature = "openai", feature = "anthropic"))]
pub use timeouts::Timeouts;
pub use with_options::WithOptions;

/// A language model that answers chat requests.
///
/// Dropping the stream or the future cancels the request. An implementation retries only
/// while nothing has been handed out.
pub trait ChatModel: Send + Sync {
    /// Asks the model and hands out its reply as it is written.
    ///
    /// The stream ends after [`ModelDelta::Finished`] or an error; a stream that ends
    /// without either was cut off.
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>>;

    /// Asks the model and waits for the whole reply: by default the fold of [`ChatModel::stream`].
    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        let deltas = self.stream(request);
        Box::pin(delta::fold(deltas))
    }

    /// The model's name for logs and spans, for example `gpt-4.1-mini`.
    fn name(&self) -> &str {
        "unknown"
    }

    /// The dialect whose limits the provider is known to hold tools to. An agent with a tool
    /// that is refused in it is not built. Default: not known.
    fn dialect(&self) -> Option<Dialect> {
        None
    }

    /// True if the text of the model that these settings ask is held to the schema of a request's
    /// [`ResponseFormat`], also beside tools. Default: false; another way to get such text is then
    /// needed.
    fn holds_json_schema(&self, _options: &ChatOptions) -> bool {
        false
    }

    /// The settings among these that the provider has not, by the names of their fields; they
    /// are left out of its requests that offer these tools. Default: none.
    fn unsupported(&self, _options: &ChatOptions, _tools: &ToolList) -> Vec<&'static str> {
        Vec::new()
    }

    /// The provider's name by the OpenTelemetry conventions, for example `openai`.
    fn provider(&self) -> &str {
        "unknown"
    }

    /// The model with settings of its own; those of an agent come over them, and those of a run
    /// over both.
    ///
    /// ```
    /// use agent_core::ReactAgent;
    /// use agent_core::model::{ChatModel as _, ChatOptions, ScriptedModel, scripted::says};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let scripted = ScriptedModel::new([says("Hi.")]);
    /// let model = scripted.clone().with_options(ChatOptions::new().seed(7).temperature(0.2));
    /// let agent = ReactAgent::builder("assistant", model)
    ///     .options(ChatOptions::new().temperature(0.9))
    ///     .build()?;
    ///
    /// agent.run("Hello").await?;
    /// let expected = ChatOptions::new().seed(7).temperature(0.9);
    /// assert_eq!(scripted.requests()[0].options(), &expected);
    /// # Ok(())
    /// # }
    /// ```
    fn with_options(self, options: ChatOptions) -> WithOptions<Self>
    where
        Self: Sized,
    {
        WithOptions::new(self, options)
    }
}

impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        (**self).stream(request)
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        (**self).chat(request)
    }

    fn name(&self) -> &str {
        (**self).name()
    }

    fn dialect(&self) -> Option<Dialect> {
        (**self).dialect()
    }

    fn holds_json_schema(&self, options: &ChatOptions) -> bool {
        (**self).holds_json_schema(options)
    }

    fn unsupported(&self, options: &ChatOptions, tools: &ToolList) -> Vec<&'static str> {
        (**self).unsupported(options, tools)
    }

    fn provider(&self) -> &str {
        (**self).provider()
    }
}
