//! Sets up an [`OpenAi`] client.

use std::sync::Arc;

use super::{Inner, OpenAi, Profile, wire};
use crate::model::http::{Setup, shared_setters};
use crate::model::prefix::PrefixWatch;
use crate::model::{ModelError, Timeouts};
use crate::schema::Dialect;

const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Sets up an [`OpenAi`] client; made by [`OpenAi::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct OpenAiBuilder {
    setup: Setup,
    profile: Option<Profile>,
}

impl OpenAiBuilder {
    pub(super) fn new() -> Self {
        Self::with(Setup::new())
    }

    fn with(setup: Setup) -> Self {
        Self {
            setup,
            profile: None,
        }
    }

    /// Reads the three variables; an empty one is as good as absent.
    pub(super) fn from_variables(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        Setup::from_variables("OPENAI", variable).map(Self::with)
    }

    /// Asks this server; `/chat/completions` is put behind it, if it is not there. A query stays at
    /// the end. Default: `https://api.openai.com/v1`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.setup.base_url = Some(url.into());
        self
    }

    /// Sends this key, as a bearer token unless the profile wants it elsewhere. Default: none.
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.setup.api_key = Some(key.into());
        self
    }

    /// Asks in the way of this server. Default: [`Profile::of_host`] of the base URL.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Writes the tools' schemas in this dialect of JSON Schema, and holds agents to its
    /// limits. Default: the profile's, mostly [`Dialect::OpenAi`]; its limits only for OpenAI.
    ///
    /// With [`Dialect::OpenAiStrict`] each tool that can be is sent with `strict: true`;
    /// [`ToolSet::report`](crate::ToolSet::report) tells which cannot, and why.
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
    pub fn build(self) -> Result<OpenAi, ModelError> {
        let mut setup = self.setup;
        let model = setup.model()?;
        let by_host = || Profile::of_host(&setup.host(DEFAULT_BASE_URL));
        let profile = self.profile.unwrap_or_else(by_host);
        if let Some(key) = setup.key() {
            match profile.quirks().key_header {
                "authorization" => setup.add_header("authorization", format!("Bearer {key}")),
                header => setup.add_header(header, key),
            }
        }
        let endpoint = setup.endpoint(DEFAULT_BASE_URL, &["chat", "completions"])?;
        Ok(OpenAi(Arc::new(Inner {
            endpoint,
            head: wire::head(&model).into(),
            model,
            profile,
            dialect: setup.dialect,
            prefixes: PrefixWatch::default(),
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModelErrorKind;

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
