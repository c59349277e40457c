//! A client for Anthropic's Messages API and the servers that speak it.
//!
//! [`Anthropic`] is the client. Signed reasoning is kept as the provider wrote it and sent back
//! with the answer it belongs to, and to no other provider; reasoning that nobody signed only to
//! other servers than Anthropic's own.
//!
//! Nothing is retried here; [`ModelError::is_retryable`] tells whether it is worth it.

mod blocks;
mod body;
mod builder;
mod content;
mod event;
mod message;
mod settings;
mod stream;
mod wire;

use std::fmt;
use std::sync::Arc;

use futures_util::TryFutureExt as _;

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

use message::Server;

pub use builder::AnthropicBuilder;

/// The name under which a message keeps its text, and by which opaque parts are known.
const PROVIDER: &str = "anthropic";

/// What the API is called in errors.
const API: &str = "a Messages API";

/// What is said for the user where the API wants a word of his and there is none.
const FILLER: &str = r#"{"type":"text","text":"Go on."}"#;

/// Whether the provider is asked to keep the beginning of a request in its cache.
///
/// What keeps a request from beginning as the one before it is told in the log:
/// [`PrefixBreak`](super::PrefixBreak).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PromptCaching {
    /// No.
    #[default]
    Off,
    /// For five minutes after its last use. Writing costs a quarter more than reading anew,
    /// and a hit a tenth of it.
    FiveMinutes,
    /// For an hour after its last use. Writing costs twice as much.
    OneHour,
}

impl PromptCaching {
    /// The mark, in place of the closing brace of what is kept up to here.
    fn mark(self) -> Option<&'static str> {
        match self {
            Self::Off => None,
            Self::FiveMinutes => Some(r#","cache_control":{"type":"ephemeral"}}"#),
            Self::OneHour => Some(r#","cache_control":{"type":"ephemeral","ttl":"1h"}}"#),
        }
    }
}

/// Reads an answer that was kept, streamed or plain, cut anywhere: what a client makes of these
/// bytes, with no server behind them.
///
/// ```
/// use agent_core::model::anthropic::read_answer;
///
/// let body = r#"{"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}"#;
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

/// A client for any Messages endpoint.
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
/// use agent_core::model::Anthropic;
/// use agent_core::model::anthropic::PromptCaching;
///
/// # fn example(key: String) -> Result<(), Box<dyn std::error::Error>> {
/// let model = Anthropic::builder()
///     .model("claude-sonnet-4-5")
///     .api_key(key)
///     .prompt_caching(PromptCaching::FiveMinutes)
///     .build()?;
/// # Ok(())
/// # }
/// ```
///
/// # What a Claude refuses
///
/// Such a setting is left out, and told of by [`ChatModel::unsupported`]:
///
/// | setting | where |
/// |---|---|
/// | `temperature` | while it thinks (`thinking` among the [extra options](ChatOptions::extra)); since 4.7 |
/// | `top_p` | beside a temperature; less than 0.95 while it thinks; since 4.7 |
/// | a [`ToolChoice`](super::ToolChoice) that makes it call | while it thinks; since 5.5 |
/// | `seed` | always |
///
/// Thoughts are a part of the answer. Where nobody says how many tokens one may have, the default
/// leaves room for them.
///
/// Since 5.1 a Claude refuses its own thoughts where the tools, the system prompt or a message before
/// them changed, by a hook that shortens the history for example. Anthropic itself is asked to drop
/// them then, and so is another server if the header `anthropic-beta` names
/// `thinking-binding-controls-2026-08-01`. `{"block_binding": {"prefix_mismatch_behavior": "error"}}`
/// in `thinking` brings the refusal back. Thoughts of a model that is no Claude are not sent to
/// Anthropic.
#[derive(Clone)]
pub struct Anthropic(Arc<Inner>);

struct Inner {
    endpoint: Arc<Endpoint>,
    model: String,
    max_output_tokens: Option<u32>,
    /// The dialect that was asked for.
    dialect: Option<Dialect>,
    /// True if this is Anthropic itself; other servers speak its API with limits of their own.
    is_original: bool,
    /// True if the server was told that it will be told which thoughts to drop.
    drops_thoughts: bool,
    caching: PromptCaching,
    prefixes: PrefixWatch,
}

impl Anthropic {
    /// A client set up by the environment.
    ///
    /// `ANTHROPIC_MODEL` names the model. `ANTHROPIC_BASE_URL` is the server, by default
    /// `https://api.anthropic.com`. `ANTHROPIC_API_KEY` may be absent if a base URL is given.
    ///
    /// ```no_run
    /// use agent_core::model::Anthropic;
    ///
    /// let model = Anthropic::from_env()?;
    /// # Ok::<(), agent_core::model::ModelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ModelErrorKind::Configuration`](super::ModelErrorKind::Configuration); the message
    /// names every variable that is missing, or the URL that is none.
    pub fn from_env() -> Result<Self, ModelError> {
        AnthropicBuilder::from_variables(|name| std::env::var(name).ok())?.build()
    }

    /// Starts a client of which nothing is known yet.
    pub fn builder() -> AnthropicBuilder {
        AnthropicBuilder::new()
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
        let asking = wire::Asking {
            model: &self.0.model,
            max_output_tokens: self.0.max_output_tokens,
            dialect: self.0.dialect.unwrap_or(Dialect::Anthropic),
            caching: self.0.caching,
            server: match self.0.is_original {
                true => Server::Anthropic,
                false => Server::Other,
            },
            drops_thoughts: self.0.drops_thoughts,
            expect,
        };
        wire::body(request, &asking)
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

impl ChatModel for Anthropic {
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
        match self.ask(&request, Expect::Json) {
            Ok(asked) => Box::pin(reading::response::<stream::Assembler>(asked)),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn name(&self) -> &str {
        &self.0.model
    }

    fn dialect(&self) -> Option<Dialect> {
        let known = self.0.is_original.then_some(Dialect::Anthropic);
        self.0.dialect.or(known)
    }

    fn holds_json_schema(&self, options: &ChatOptions) -> bool {
        self.0.is_original && !families::holds_no_schema(options.model_or(&self.0.model))
    }

    fn unsupported(&self, options: &ChatOptions, _tools: &ToolList) -> Vec<&'static str> {
        settings::unsupported(options, &self.0.model)
    }

    fn provider(&self) -> &str {
        PROVIDER
    }
}

impl fmt::Debug for Anthropic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Anthropic")
            .field("url", &self.url())
            .field("model", &self.0.model)
            .field("max_output_tokens", &self.0.max_output_tokens)
            .field("dialect", &self.0.dialect)
            .field("prompt_caching", &self.0.caching)
            .finish()
    }
}
