//! What every client is set up with, and its three variables.

use std::fmt;
use std::sync::Arc;

use super::{Endpoint, mask_url};
use crate::model::{ModelError, ModelErrorKind, Timeouts};
use crate::schema::Dialect;

/// The setters that the builders of all clients have, for a builder with a [`Setup`] in `setup`.
macro_rules! shared_setters {
    () => {
        /// Asks this model. Required.
        pub fn model(mut self, model: impl Into<String>) -> Self {
            self.setup.model = Some(model.into());
            self
        }

        /// Waits no longer than this. Default: [`Timeouts::new`].
        pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
            self.setup.timeouts = timeouts;
            self
        }

        /// Sends one more header with each request, over the client's own of that name; one given
        /// twice is sent twice. Its value is treated as a secret.
        pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
            self.setup.headers.push((name.into(), value.into()));
            self
        }

        /// Sends these headers too; as [`header`](Self::header).
        pub fn headers<N: Into<String>, V: Into<String>>(
            mut self,
            headers: impl IntoIterator<Item = (N, V)>,
        ) -> Self {
            let headers = headers.into_iter();
            self.setup
                .headers
                .extend(headers.map(|(name, value)| (name.into(), value.into())));
            self
        }
    };
}
pub(crate) use shared_setters;

/// The settings that every client has.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) base_url: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) api_key: Option<String>,
    pub(crate) dialect: Option<Dialect>,
    pub(crate) timeouts: Timeouts,
    pub(crate) headers: Vec<(String, String)>,
}

impl Setup {
    pub(crate) fn new() -> Self {
        Self {
            base_url: None,
            model: None,
            api_key: None,
            dialect: None,
            timeouts: Timeouts::new(),
            headers: Vec::new(),
        }
    }

    /// Reads the variables `{prefix}_API_KEY`, `{prefix}_BASE_URL` and `{prefix}_MODEL`; an empty
    /// one is as good as absent.
    pub(crate) fn from_variables(
        prefix: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ModelError> {
        let variable = |name: &str| {
            let value = variable(&format!("{prefix}_{name}")).map(|value| value.trim().to_owned());
            value.filter(|value| !value.is_empty())
        };
        let (base_url, api_key) = (variable("BASE_URL"), variable("API_KEY"));
        let mut missing = Vec::new();
        if api_key.is_none() && base_url.is_none() {
            missing.push(format!(
                "`{prefix}_API_KEY` is not set (a server without keys needs `{prefix}_BASE_URL` instead)",
            ));
        }
        let model = variable("MODEL");
        if model.is_none() {
            missing.push(format!("`{prefix}_MODEL` is not set"));
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

    /// The name of the model; it is required.
    pub(crate) fn model(&self) -> Result<String, ModelError> {
        let model = self.model.clone();
        model
            .filter(|model| !model.trim().is_empty())
            .ok_or_else(|| configuration("no model is given"))
    }

    /// Takes the key; a blank one is as good as absent, and blanks around it are from its file.
    pub(crate) fn key(&mut self) -> Option<String> {
        let key = self.api_key.take()?;
        let key = key.trim();
        (!key.is_empty()).then(|| key.to_owned())
    }

    /// Sends `header` unless one of this name was set by hand.
    pub(crate) fn add_header(&mut self, name: &str, value: String) {
        let named = |(other, _): &(String, String)| other.eq_ignore_ascii_case(name);
        if !self.headers.iter().any(named) {
            self.headers.push((name.to_owned(), value));
        }
    }

    /// Adds a word to a header that is a list, unless it is there.
    #[cfg(feature = "anthropic")]
    pub(crate) fn join_header(&mut self, name: &str, word: &str) {
        if self.has_in_header(name, word) {
            return;
        }
        let named = |(other, _): &&mut (String, String)| other.eq_ignore_ascii_case(name);
        match self.headers.iter_mut().find(named) {
            Some((_, list)) => *list = format!("{list},{word}"),
            None => self.headers.push((name.to_owned(), word.to_owned())),
        }
    }

    /// True if a header that is a list holds this word.
    #[cfg(feature = "anthropic")]
    pub(crate) fn has_in_header(&self, name: &str, word: &str) -> bool {
        let named = self.headers.iter();
        let mut lists = named.filter(|(other, _)| other.eq_ignore_ascii_case(name));
        lists.any(|(_, list)| list.split(',').any(|one| one.trim() == word))
    }

    /// The host of the base URL; empty if that is no URL.
    pub(crate) fn host(&self, default_base_url: &str) -> String {
        let url = self.url(default_base_url);
        let host = url.and_then(|url| url.host_str().map(str::to_owned));
        host.unwrap_or_default()
    }

    /// The path of the base URL, without a slash at its end; empty if that is no URL.
    #[cfg(feature = "anthropic")]
    pub(crate) fn path(&self, default_base_url: &str) -> String {
        let url = self.url(default_base_url);
        url.map_or_else(String::new, |url| {
            url.path().trim_end_matches('/').to_owned()
        })
    }

    fn url(&self, default_base_url: &str) -> Option<url::Url> {
        let base_url = self.base_url.as_deref().unwrap_or(default_base_url).trim();
        url::Url::parse(base_url).ok()
    }

    /// Where requests go: `path` behind the base URL.
    pub(crate) fn endpoint(
        &self,
        default_base_url: &str,
        path: &[&str],
    ) -> Result<Arc<Endpoint>, ModelError> {
        let base_url = self.base_url.as_deref().unwrap_or(default_base_url).trim();
        Endpoint::new(base_url, path, &self.headers, self.timeouts).map(Arc::new)
    }
}

fn configuration(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, message)
}

impl fmt::Debug for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.iter().map(|(name, _)| &**name).collect();
        f.debug_struct("Setup")
            .field("base_url", &self.base_url.as_deref().map(mask_url))
            .field("model", &self.model)
            .field("api_key", &self.api_key.as_ref().map(|_| "***"))
            .field("dialect", &self.dialect)
            .field("timeouts", &self.timeouts)
            .field("headers", &names)
            .finish()
    }
}

#[cfg(all(test, feature = "anthropic"))]
mod tests {
    use super::*;

    #[test]
    fn a_word_joins_the_list_that_was_set_by_hand() {
        let mut setup = Setup::new();
        setup.join_header("beta", "one");
        assert_eq!(setup.headers, [("beta".to_owned(), "one".to_owned())]);

        setup.headers = vec![("Beta".to_owned(), "two, three".to_owned())];
        for word in ["one", "three", "one"] {
            setup.join_header("beta", word);
        }
        let list = "two, three,one".to_owned();
        assert_eq!(setup.headers, [("Beta".to_owned(), list)]);
    }
}
