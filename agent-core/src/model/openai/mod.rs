//! A client for OpenAI's chat-completions API and the many servers that speak it.
//!
//! [`OpenAi`] is the client, [`Profile`] names what differs between servers when they are
//! asked. What differs in their answers is read without being told: `stream` holds the rules.
//!
//! Nothing is retried here; [`ModelError::is_retryable`] tells whether it is worth it.

mod builder;
mod chunk;
mod stream;
mod wire;

use std::fmt;
use std::sync::Arc;

use futures_util::TryFutureExt as _;

use super::http::{Endpoint, Expect};
use super::{ChatModel, ChatRequest, ChatResponse, ModelDelta, ModelError, delta, guard, reading};
use crate::boxed::{BoxFuture, BoxStream};
use crate::schema::Dialect;

pub use builder::OpenAiBuilder;

/// What a server wants to be asked like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// OpenAI itself: the token limit is `max_completion_tokens`. The default for
    /// `api.openai.com`.
    OpenAi,
    /// Everyone else: the token limit is `max_tokens`.
    Compatible,
    /// As `Compatible`, and a message's reasoning is sent back as `reasoning_content`. The
    /// default for `api.deepseek.com`.
    DeepSeek,
}

impl Profile {
    fn of(host: &str) -> Self {
        match host {
            "api.openai.com" => Self::OpenAi,
            "api.deepseek.com" => Self::DeepSeek,
            _ => Self::Compatible,
        }
    }

    /// The name under which a message keeps its text for this profile.
    fn wire(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Compatible => "openai-chat",
            Self::DeepSeek => "openai-chat-reasoning",
        }
    }

    fn token_limit(self) -> &'static str {
        match self {
            Self::OpenAi => "max_completion_tokens",
            Self::Compatible | Self::DeepSeek => "max_tokens",
        }
    }

    fn echoes_reasoning(self) -> bool {
        self == Self::DeepSeek
    }

    /// The provider's name by the OpenTelemetry conventions.
    fn provider(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Compatible => "openai",
            Self::DeepSeek => "deepseek",
        }
    }
}

/// A client for any chat-completions endpoint.
///
/// Clones share connections. Neither the key nor a user, password or query of the URL is
/// ever printed.
///
/// ```no_run
/// use agent_core::{Message, message::Transcript};
/// use agent_core::model::{ChatModel as _, ChatRequest, OpenAi};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let model = OpenAi::builder()
///     .base_url("http://localhost:8080/v1")
///     .model("smollm2")
///     .build()?;
/// let transcript = Transcript::from_messages([Message::user("Is Beijing colder than Oslo?")])?;
/// let response = model.chat(ChatRequest::new(transcript)?).await?;
/// println!("{}", response.message.text);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct OpenAi(Arc<Inner>);

struct Inner {
    endpoint: Arc<Endpoint>,
    model: String,
    profile: Profile,
    /// The dialect that was asked for.
    dialect: Option<Dialect>,
}

impl OpenAi {
    /// A client set up by the environment.
    ///
    /// `OPENAI_MODEL` names the model. `OPENAI_BASE_URL` is the server, by default
    /// `https://api.openai.com/v1`. `OPENAI_API_KEY` may be absent if a base URL is given.
    ///
    /// ```no_run
    /// use agent_core::model::OpenAi;
    ///
    /// let model = OpenAi::from_env()?;
    /// # Ok::<(), agent_core::model::ModelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ModelErrorKind::Configuration`](super::ModelErrorKind::Configuration); the message
    /// names every variable that is missing, or the URL that is none.
    pub fn from_env() -> Result<Self, ModelError> {
        OpenAiBuilder::from_variables(|name| std::env::var(name).ok())?.build()
    }

    /// Starts a client of which nothing is known yet.
    pub fn builder() -> OpenAiBuilder {
        OpenAiBuilder::new()
    }

    /// The URL that requests go to, without user, password and query.
    #[must_use]
    pub fn url(&self) -> &str {
        self.0.endpoint.shown()
    }

    fn deltas(
        &self,
        request: &ChatRequest,
        expect: Expect,
    ) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        if let Err(error) = guard::check(&self.0.model) {
            return Box::pin(futures_util::stream::iter([Err(error)]));
        }
        let (profile, dialect) = (self.0.profile, self.0.dialect.unwrap_or(Dialect::OpenAi));
        let body = wire::body(request, &self.0.model, profile, dialect, expect);
        let reply = Arc::clone(&self.0.endpoint).post(body, expect);
        Box::pin(reading::deltas(reply, expect, stream::Assembler::default()).try_flatten_stream())
    }
}

impl ChatModel for OpenAi {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        self.deltas(&request, Expect::EventStream)
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        Box::pin(delta::fold(self.deltas(&request, Expect::Json)))
    }

    fn name(&self) -> &str {
        &self.0.model
    }

    fn dialect(&self) -> Option<Dialect> {
        // Other servers speak OpenAI's API and have limits of their own.
        let known = (self.0.profile == Profile::OpenAi).then_some(Dialect::OpenAi);
        self.0.dialect.or(known)
    }

    fn holds_json_schema(&self) -> bool {
        self.0.profile == Profile::OpenAi
    }

    fn provider(&self) -> &str {
        self.0.profile.provider()
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("url", &self.url())
            .field("model", &self.0.model)
            .field("profile", &self.0.profile)
            .field("dialect", &self.0.dialect)
            .finish()
    }
}
