//! Settings of a model call. Each is optional; what is not set is not sent.

use serde_json::{Map, Value};

/// Whether and which tools the model must call.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// No tool.
    None,
    /// At least one tool.
    Required,
    /// This tool. A request that does not offer it is not sent.
    Named(String),
}

/// Settings of a model call.
///
/// Those of the model, the agent and one run are merged in that order, the later wins.
///
/// ```
/// use agent_core::model::ChatOptions;
///
/// let agent = ChatOptions::new().temperature(0.2).max_output_tokens(500);
/// let run = ChatOptions::new().temperature(0.9);
/// let merged = agent.merged(&run);
/// assert_eq!(merged.temperature, Some(0.9));
/// assert_eq!(merged.max_output_tokens, Some(500));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ChatOptions {
    /// The model to ask instead of the client's own.
    pub model: Option<String>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Most tokens of the reply.
    pub max_output_tokens: Option<u32>,
    /// Texts that end the reply.
    pub stop: Option<Vec<String>>,
    /// Seed, where the provider takes one.
    pub seed: Option<i64>,
    /// Whether and which tools must be called.
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may ask for several calls at once.
    pub parallel_tool_calls: Option<bool>,
    /// Settings we do not know, sent as they are at the top of the request; not what a request
    /// is made of: the model, the messages, the tools, and whether it is streamed.
    pub extra: Map<String, Value>,
}

impl ChatOptions {
    /// No setting.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets nucleus sampling.
    #[must_use]
    pub fn top_p(mut self, top_p: f64) -> Self {
        self.top_p = Some(top_p);
        self
    }

    /// Sets the most tokens of the reply.
    #[must_use]
    pub fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Sets the texts that end the reply.
    #[must_use]
    pub fn stop(mut self, texts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.stop = Some(texts.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the seed.
    #[must_use]
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets whether and which tools must be called.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Allows or forbids several calls in one reply.
    #[must_use]
    pub fn parallel_tool_calls(mut self, allowed: bool) -> Self {
        self.parallel_tool_calls = Some(allowed);
        self
    }

    /// Sets a field we do not know; it is sent as it is.
    #[must_use]
    pub fn extra(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(key.into(), value.into());
        self
    }

    /// The model that is asked by a client of this one.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(super) fn model_or<'a>(&'a self, own: &'a str) -> &'a str {
        self.model.as_deref().unwrap_or(own)
    }

    /// The names of the settings that a client leaves out: of these, those that are said to be, and
    /// numbers that are none.
    #[cfg(any(feature = "openai", feature = "anthropic"))]
    pub(super) fn left_out<const N: usize>(
        &self,
        settings: [(&'static str, bool); N],
    ) -> Vec<&'static str> {
        let is_none = |name: &str| match name {
            "temperature" => self.temperature.is_some_and(|value| !value.is_finite()),
            "top_p" => self.top_p.is_some_and(|value| !value.is_finite()),
            _ => false,
        };
        let settings = settings.into_iter();
        settings
            .filter(|(name, is_left_out)| *is_left_out || is_none(name))
            .map(|(name, _)| name)
            .collect()
    }

    /// These settings with those of `later` over them.
    #[must_use]
    pub fn merged(&self, later: &Self) -> Self {
        let mut extra = self.extra.clone();
        extra.extend(
            later
                .extra
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        Self {
            model: later.model.clone().or_else(|| self.model.clone()),
            temperature: later.temperature.or(self.temperature),
            top_p: later.top_p.or(self.top_p),
            max_output_tokens: later.max_output_tokens.or(self.max_output_tokens),
            stop: later.stop.clone().or_else(|| self.stop.clone()),
            seed: later.seed.or(self.seed),
            tool_choice: later
                .tool_choice
                .clone()
                .or_else(|| self.tool_choice.clone()),
            parallel_tool_calls: later.parallel_tool_calls.or(self.parallel_tool_calls),
            extra,
        }
    }
}
