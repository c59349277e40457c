//! What must not be shown, and how it is masked.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::boxed::{BoxError, causes};

/// Shorter texts are no secrets worth the name, and masking them would eat words.
const SHORTEST: usize = 6;

/// Texts that are masked wherever they appear.
///
/// The longest come first: of one that begins with another, nothing is left.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Vec<String>>);

impl Secrets {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Masks this text from now on, also as it stands inside a JSON text.
    pub(crate) fn add(&mut self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        // A JSON text may stand in another one, as a reply that a tool hands on.
        let once = in_json(secret);
        let twice = in_json(&once);
        for form in [secret.to_owned(), once, twice] {
            self.insert(form);
        }
    }

    fn insert(&mut self, form: String) {
        if !self.0.contains(&form) {
            let place = self.0.partition_point(|other| other.len() > form.len());
            Arc::make_mut(&mut self.0).insert(place, form);
        }
    }

    /// These secrets and those of others.
    pub(crate) fn and(&self, others: &Self) -> Self {
        let mut all = self.clone();
        others.0.iter().for_each(|form| all.insert(form.clone()));
        all
    }

    /// The text with `***` in place of every secret.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret.as_str(), "***")
        })
    }

    /// The text of an error without secrets, and without user and password of any URL.
    pub(crate) fn shown(&self, text: &str) -> String {
        mask_user_info(&self.mask(text)).into_owned()
    }
}

/// The text as it stands inside a JSON text.
fn in_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The text with `***` in place of the user and the password of every URL in it.
pub(crate) fn mask_user_info(text: &str) -> Cow<'_, str> {
    let mut masked = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("://").map(|scheme| scheme + 3) {
        let (before, after) = rest.split_at(start);
        masked.push_str(before);
        rest = after;
        if let Some(at) = end_of_user_info(after) {
            masked.push_str("***");
            rest = &after[at..];
        }
    }
    if masked.is_empty() {
        return text.into();
    }
    masked.push_str(rest);
    masked.into()
}

/// Where the `@` is that ends the user and the password of a URL, in what follows its scheme.
fn end_of_user_info(after: &str) -> Option<usize> {
    let ends_url = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>');
    let url = &after[..after.find(ends_url).unwrap_or(after.len())];
    let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
    authority.rfind('@').or_else(|| {
        // What is no port is a password, which holds what it should not, such as a raw `/`.
        let (_, port) = authority.split_once(':')?;
        let is_host = authority.starts_with('[') || port.bytes().all(|byte| byte.is_ascii_digit());
        url.rfind('@').filter(|_| !is_host)
    })
}

/// What an error in a chain says, without what must not be shown.
#[derive(Debug)]
pub(crate) struct Cause {
    text: String,
    source: Option<Box<Self>>,
}

impl Cause {
    /// What the errors from this one on say, masked; `None` if there is nothing to mask.
    pub(crate) fn of(
        first: Option<&(dyn Error + 'static)>,
        secrets: &Secrets,
    ) -> Option<Box<Self>> {
        let said: Vec<String> = causes(first).map(ToString::to_string).collect();
        let shown: Vec<String> = said.iter().map(|text| secrets.shown(text)).collect();
        let link = |source, text| Some(Box::new(Self { text, source }));
        (said != shown).then(|| shown.into_iter().rfold(None, link))?
    }
}

/// The error as it is, or what it and its causes say if something of that must be masked.
pub(crate) fn masked(error: BoxError, secrets: &Secrets) -> BoxError {
    match Cause::of(Some(&*error), secrets) {
        Some(shown) => shown,
        None => error,
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|cause| cause as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_masked_and_a_short_text_is_none() {
        let mut secrets = Secrets::default();
        secrets.add("sk-live-9");
        secrets.add("on");

        assert_eq!(secrets.mask("no key sk-live-9 on"), "no key *** on");
    }

    #[test]
    fn of_a_secret_that_begins_with_another_nothing_is_left() {
        let mut secrets = Secrets::default();
        secrets.add("secret");
        secrets.add("secret-and-more");

        assert_eq!(secrets.mask("secret secret-and-more"), "*** ***");
    }

    #[test]
    fn a_secret_is_masked_inside_a_json_text_too() {
        let mut secrets = Secrets::default();
        secrets.add("pass\"word\\1");

        let json = serde_json::json!({"key": "pass\"word\\1"}).to_string();

        assert_eq!(secrets.mask(&json), r#"{"key":"***"}"#);
    }

    #[test]
    fn a_url_in_a_text_is_shown_without_user_and_password() {
        for (text, shown) in [
            ("no url", "no url"),
            (
                "GET https://u:pw@api.test/s?q=a@b: 401",
                "GET https://***@api.test/s?q=a@b: 401",
            ),
            (
                "from a://t@b to \"c://d:e@f\", not g://h i@j",
                "from a://***@b to \"c://***@f\", not g://h i@j",
            ),
            (
                "db://u:p/w#1@h/x, at http://[::1]:80/@u and http://h:80/@u",
                "db://***@h/x, at http://[::1]:80/@u and http://h:80/@u",
            ),
            ("://", "://"),
        ] {
            assert_eq!(mask_user_info(text), shown);
        }
    }
}
