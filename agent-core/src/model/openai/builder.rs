//! Sets up an [`OpenAi`] client.

use std::fmt;
use std::sync::Arc;

use super::{Inner, OpenAi, Profile};
use crate::model::http::{Endpoint, mask_url};
use crate::model::{ModelError, ModelErrorKind, Timeouts};
use crate::schema::Dialect;

const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Sets up an [`OpenAi`] client; made by [`OpenAi::builder`].
#[derive(Clone)]
#[must_use]
pub struct OpenAiBuilder {
    base_url: Option<String>,
    model: Option<String>,
    api_key: Option<String>,
    profile: Option<Profile>,
    dialect: Option<Dialect>,
    timeouts: Timeouts,
    headers: Vec<(String, String)>,
}

impl OpenAiBuilder {
    pub(super) fn new() -> Self {
        Self {
            base_url: None,
            model: None,
            api_key: None,
            profile: None,
            dialect: None,
            timeouts: Timeouts::new(),
            headers: Vec::new(),
        }
    }

    /// Reads the three variables; an empty one is as good as absent.
    pub(super) fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let variable = |name: &str| {
            let value = variable(name).map(|value| value.trim().to_owned());
            value.filter(|value| !value.is_empty())
        };
        let (base_url, api_key) = (variable("OPENAI_BASE_URL"), variable("OPENAI_API_KEY"));
        let mut missing = Vec::new();
        if api_key.is_none() && base_url.is_none() {
            missing.push(
                "`OPENAI_API_KEY` is not set (a server without keys needs `OPENAI_BASE_URL` instead)",
            );
        }
        let model = variable("OPENAI_MODEL");
        if model.is_none() {
            missing.push("`OPENAI_MODEL` is not set");
        }
        if !missing.is_empty() {
            return Err(configuration(missing.join("; ")));
        }
        Ok(Self {
            base_url,
            model,
            api_key,
            ..Self::new()
        })
    }

    /// Asks this server; `/chat/completions` is put behind it. A query stays at the end.
    /// Default: `https://api.openai.com/v1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Asks this model. Required.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sends this key as a bearer token. Default: none.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(key.into());
        self
    }

    /// Speaks this dialect. Default: the one the base URL's host is known for.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Writes the tools' schemas in this dialect of JSON Schema, and holds agents to its
    /// limits. Default: [`Dialect::OpenAi`]; its limits only for OpenAI itself.
    ///
    /// With [`Dialect::OpenAiStrict`] each tool that can be is sent with `strict: true`;
    /// [`ToolSet::report`](crate::ToolSet::report) tells which cannot, and why.
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = Some(dialect);
        self
    }

    /// Waits no longer than this. Default: [`Timeouts::new`].
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sends one more header with each request. Its value is treated as a secret.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends these headers too; as [`header`](Self::header).
    pub fn headers<N: Into<String>, V: Into<String>>(
        mut self,
        headers: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let headers = headers.into_iter();
        self.headers
            .extend(headers.map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// Checks the whole configuration and builds the client. Connects to nothing.
    ///
    /// # Errors
    ///
    /// [`ModelErrorKind::Configuration`] if there is no model, or if the base URL or a
    /// header cannot be used; the message names it.
    pub fn build(self) -> Result<OpenAi, ModelError> {
        let Some(model) = self.model.filter(|model| !model.trim().is_empty()) else {
            return Err(configuration("no model is given"));
        };
        let base_url = self.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL);
        let mut headers = self.headers;
        if let Some(key) = self.api_key {
            let named = |(name, _): &(String, String)| name.eq_ignore_ascii_case("authorization");
            if !headers.iter().any(named) {
                headers.push(("authorization".to_owned(), format!("Bearer {key}")));
            }
        }
        let path = ["chat", "completions"];
        let endpoint = Endpoint::new(base_url.trim(), &path, &headers, self.timeouts)?;
        let profile = self.profile.unwrap_or_else(|| Profile::of(endpoint.host()));
        Ok(OpenAi(Arc::new(Inner {
            endpoint: Arc::new(endpoint),
            model,
            profile,
            dialect: self.dialect,
        })))
    }
}

fn configuration(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, message)
}

impl fmt::Debug for OpenAiBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("OpenAiBuilder")
            .field("base_url", &self.base_url.as_deref().map(mask_url))
            .field("model", &self.model)
            .field("api_key", &self.api_key.as_ref().map(|_| "***"))
            .field("profile", &self.profile)
            .field("dialect", &self.dialect)
            .field("timeouts", &self.timeouts)
            .field("headers", &names)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<OpenAi, ModelError> {
        OpenAiBuilder::from_variables(|name| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })?
        .build()
    }

    #[test]
    fn a_missing_variable_is_named() {
        let error = from(&[("OPENAI_MODEL", "")]).unwrap_err();

        assert_eq!(error.kind(), ModelErrorKind::Configuration);
        assert!(error.to_string().contains("`OPENAI_API_KEY` is not set"));
        assert!(error.to_string().contains("`OPENAI_MODEL` is not set"));
    }

    #[test]
    fn a_server_of_ones_own_needs_no_key() {
        let model = from(&[
            ("OPENAI_MODEL", "m"),
            ("OPENAI_BASE_URL", "http://[::1]:1/v1/"),
        ]);

        assert_eq!(model.unwrap().url(), "http://[::1]:1/v1/chat/completions");
    }

    #[test]
    fn a_bad_url_is_named_without_its_secrets() {
        let error = from(&[
            ("OPENAI_MODEL", "m"),
            ("OPENAI_BASE_URL", "htp://k:sk-live-9@h.test/v1"),
        ]);

        assert_eq!(
            error.unwrap_err().to_string(),
            "base URL `htp://***@h.test/v1` must start with `http://` or `https://`"
        );
    }
}
