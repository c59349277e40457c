//! A client for OpenAI's chat-completions API and the many servers that speak it.
//!
//! [`OpenAi`] is the client, [`Profile`] names what differs between servers when they are
//! asked. What differs in their answers is read without being told: `stream` holds the rules.
//!
//! Nothing is retried here; [`ModelError::is_retryable`] tells whether it is worth it.

mod builder;
mod calls;
mod chunk;
mod details;
mod fragment;
mod latest;
mod message;
mod partial;
mod piece;
mod profile;
mod quirks;
mod servers;
mod settings;
mod stream;
mod thoughts;
mod turns;
mod usage;
mod wire;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use futures_util::TryFutureExt as _;

use super::delta::fold;
use super::families;
use super::http::{self, Endpoint, Expect, Piece};
use super::prefix::PrefixWatch;
use super::reading::Asked;
use super::{
    ChatModel, ChatOptions, ChatRequest, ChatResponse, ModelDelta, ModelError, ToolList, guard,
    reading,
};
use crate::boxed::{BoxFuture, BoxStream};
use crate::schema::Dialect;

use quirks::Formats;

pub use builder::OpenAiBuilder;
pub use profile::{Profile, UnknownProfile};

/// Reads an answer that was kept, streamed or plain, cut anywhere: what a client makes of these
/// bytes, with no server behind them.
///
/// ```
/// use agent_core::model::openai::read_answer;
///
/// let body = r#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
/// let response = read_answer([body])?;
/// assert_eq!(response.message.text, "Hi");
/// # Ok::<(), agent_core::model::ModelError>(())
/// ```
///
/// # Errors
///
/// As for an answer of a server.
pub fn read_answer(
    pieces: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> Result<ChatResponse, ModelError> {
    reading::whole(stream::Assembler::default(), pieces)
}

/// A client for any chat-completions endpoint.
///
/// Clones share connections. Neither the key nor a user, password or query of the URL is
/// ever printed.
///
/// It speaks HTTP/1.1, in TLS with the roots of the system. A proxy is the one that the environment
/// names when the client is built: `HTTP_PROXY`, `HTTPS_PROXY` and `ALL_PROXY`, unless `NO_PROXY`
/// names the host; it may speak HTTP (`http`, `https`) or SOCKS 5 (`socks5`, `socks5h`). A
/// connection that is not used for 4 seconds is closed.
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
///
/// What a model of OpenAI refuses, such as a temperature while it reasons, is left out and told of by
/// [`ChatModel::unsupported`]. GPT-5.5 and later take no tools in this API while they reason: offered
/// tools, they are told not to, unless `reasoning_effort` is among the
/// [extra options](ChatOptions::extra). GPT-6 Astra cannot be told so, and takes none here at all.
#[derive(Clone)]
pub struct OpenAi(Arc<Inner>);

struct Inner {
    endpoint: Arc<Endpoint>,
    model: String,
    /// What each request begins with, unless it asks another model.
    head: Arc<str>,
    profile: Profile,
    /// The dialect that was asked for.
    dialect: Option<Dialect>,
    prefixes: PrefixWatch,
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

    /// The body that a streamed request is sent with, to look at it.
    #[must_use]
    pub fn request_text(&self, request: &ChatRequest) -> String {
        http::text_of(&self.body(request, Expect::EventStream))
    }

    fn body(&self, request: &ChatRequest, expect: Expect) -> Vec<Piece> {
        let quirks = self.0.profile.quirks();
        let dialect = self.0.dialect.unwrap_or(quirks.dialect);
        let client = (&self.0.head, &*self.0.model);
        wire::body(request, client, quirks, dialect, expect)
    }

    /// What is to be sent; nothing is before the answer is waited for.
    fn ask(&self, request: &ChatRequest, expect: Expect) -> Result<Asked, ModelError> {
        guard::check(request.options().model_or(&self.0.model))?;
        request.check_choice()?;
        self.0.prefixes.look(request, &self.0.model);
        Ok(Asked {
            endpoint: Arc::clone(&self.0.endpoint),
            body: self.body(request, expect),
            expect,
        })
    }
}

impl ChatModel for OpenAi {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        match self.ask(&request, Expect::EventStream) {
            Ok(asked) => {
                let deltas = reading::deltas::<stream::Assembler>(asked);
                Box::pin(deltas.try_flatten_stream())
            }
            Err(error) => Box::pin(futures_util::stream::iter([Err(error)])),
        }
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        if !self.0.profile.quirks().plain {
            return Box::pin(fold(self.stream(request)));
        }
        match self.ask(&request, Expect::Json) {
            Ok(asked) => Box::pin(reading::response::<stream::Assembler>(asked)),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn name(&self) -> &str {
        &self.0.model
    }

    fn dialect(&self) -> Option<Dialect> {
        // Other servers speak OpenAI's API and have limits of their own.
        let quirks = self.0.profile.quirks();
        let known = quirks.has_limits.then_some(quirks.dialect);
        self.0.dialect.or(known)
    }

    fn holds_json_schema(&self, options: &ChatOptions) -> bool {
        let is_held = self.0.profile.quirks().formats == Formats::Schema;
        is_held && !families::holds_no_schema(options.model_or(&self.0.model))
    }

    fn unsupported(&self, options: &ChatOptions, tools: &ToolList) -> Vec<&'static str> {
        let (tools, quirks) = (tools.definitions(), self.0.profile.quirks());
        settings::unsupported(options, tools, &self.0.model, quirks)
    }

    fn provider(&self) -> &str {
        self.0.profile.quirks().provider
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
