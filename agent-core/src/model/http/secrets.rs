//! What must not be shown, and how it is masked.

/// Shorter texts are no secrets worth the name, and masking them would eat words.
const SHORTEST: usize = 6;

/// Texts that are masked wherever they appear.
#[derive(Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    pub(crate) fn add(&mut self, secret: &str) {
        if secret.len() >= SHORTEST {
            self.0.push(secret.to_owned());
        }
    }

    /// The text with `***` in place of every secret.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret.as_str(), "***")
        })
    }
}

/// A URL, or what was meant as one, without user, password, query and fragment.
pub(crate) fn mask_url(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let (shown, hidden) = url.split_at(end);
    let start = shown.find("://").map_or(0, |scheme| scheme + 3);
    let (scheme, rest) = shown.split_at(start);
    let authority = rest.find('/').unwrap_or(rest.len());
    let rest = match rest[..authority].rfind('@') {
        Some(at) => format!("***{}", &rest[at..]),
        // A password may hold a slash, as long as nobody encodes it.
        None => match rest.rfind('@') {
            Some(at) => format!("***{}", &rest[at..]),
            None => rest.to_owned(),
        },
    };
    let hidden = if hidden.is_empty() { "" } else { "?***" };
    format!("{scheme}{rest}{hidden}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_user_password_and_query() {
        for (url, shown) in [
            ("https://api.test/v1", "https://api.test/v1"),
            (
                "https://k:sk-9@h.test/v1?key=sk-9",
                "https://***@h.test/v1?***",
            ),
            ("https://k:sk/9@h.test/v1", "https://***@h.test/v1"),
            ("k:sk-9@h.test", "***@h.test"),
            ("localhost:80", "localhost:80"),
        ] {
            assert_eq!(mask_url(url), shown);
        }
    }

    #[test]
    fn a_secret_is_masked_and_a_short_text_is_none() {
        let mut secrets = Secrets::default();
        secrets.add("sk-live-9");
        secrets.add("on");

        assert_eq!(secrets.mask("no key sk-live-9 on"), "no key *** on");
    }
}
