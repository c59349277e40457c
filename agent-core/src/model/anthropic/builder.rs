//! Sets up an [`Anthropic`] client.

use std::sync::Arc;

use super::{Anthropic, Inner, PromptCaching};
use crate::model::http::{Setup, shared_setters};
use crate::model::prefix::PrefixWatch;
use crate::model::{ModelError, Timeouts};
use crate::schema::Dialect;

const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";

/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";

/// The beta in which thoughts that lost their place can be dropped, where they are refused else.
/// <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking>
const DROPS_THOUGHTS: &str = "thinking-binding-controls-2026-08-01";

/// Sets up an [`Anthropic`] client; made by [`Anthropic::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct AnthropicBuilder {
    setup: Setup,
    max_output_tokens: Option<u32>,
    caching: PromptCaching,
}

impl AnthropicBuilder {
    pub(super) fn new() -> Self {
        Self::with(Setup::new())
    }

    fn with(setup: Setup) -> Self {
        Self {
            setup,
            max_output_tokens: None,
            caching: PromptCaching::Off,
        }
    }

    /// Reads the three variables; an empty one is as good as absent.
    pub(super) fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        Setup::from_variables("ANTHROPIC", variable).map(Self::with)
    }

    /// Asks this server; `/v1/messages` is put behind it, or `/messages` if it ends with `/v1`.
    /// Default: `https://api.anthropic.com`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.setup.base_url = Some(url.into());
        self
    }

    /// Sends this key as `x-api-key`. Default: none.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.setup.api_key = Some(key.into());
        self
    }

    /// Asks for at most this many tokens where a request says nothing else; the API wants a
    /// number. Default: 8192, and 20480 for a model that thinks unasked, as a Claude since 5.
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Marks the tools, the system prompt and the end of the history for the provider's cache.
    /// Default: [`PromptCaching::Off`].
    pub fn prompt_caching(mut self, caching: PromptCaching) -> Self {
        self.caching = caching;
        self
    }

    /// Writes the tools' schemas in this dialect of JSON Schema, and holds agents to its
    /// limits. Default: [`Dialect::Anthropic`]; its limits only for Anthropic itself.
    ///
    /// With [`Dialect::AnthropicStrict`] each tool that can be is sent with `strict: true`.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.setup.dialect = Some(dialect);
        self
    }

    shared_setters!();

    /// Checks the whole configuration and builds the client. Connects to nothing.
    ///
    /// # Errors
    ///
    /// [`ModelErrorKind::Configuration`](crate::model::ModelErrorKind::Configuration) if there is
    /// no model, or if the base URL or a header cannot be used; the message names it.
    pub fn build(self) -> Result<Anthropic, ModelError> {
        let mut setup = self.setup;
        let model = setup.model()?;
        if let Some(key) = setup.key() {
            setup.add_header("x-api-key", key);
        }
        setup.add_header("anthropic-version", VERSION.to_owned());
        let is_original = setup.host(DEFAULT_BASE_URL) == "api.anthropic.com";
        // Also for a model that has no use for it: a request may ask another one.
        if is_original {
            setup.join_header("anthropic-beta", DROPS_THOUGHTS);
        }
        let path: &[&str] = match setup.path(DEFAULT_BASE_URL).ends_with("/v1") {
            true => &["messages"],
            false => &["v1", "messages"],
        };
        Ok(Anthropic(Arc::new(Inner {
            endpoint: setup.endpoint(DEFAULT_BASE_URL, path)?,
            model,
            max_output_tokens: self.max_output_tokens,
            dialect: setup.dialect,
            is_original,
            drops_thoughts: setup.has_in_header("anthropic-beta", DROPS_THOUGHTS),
            caching: self.caching,
            prefixes: PrefixWatch::default(),
        })))
    }
}
