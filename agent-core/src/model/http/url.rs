//! The URL that requests go to, and what one holds beside an address: what may be shown of it, what
//! is secret, who asks.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use url::Url;

use crate::secrets::Secrets;

/// The base URL with `path` behind its own; what is wrong with it, if it cannot be asked.
pub(super) fn joined(base_url: &str, path: &[&str]) -> Result<Url, String> {
    let mut url = Url::parse(base_url).map_err(|error| format!("is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("must start with `http://` or `https://`".to_owned());
    }
    let base = url.path().trim_end_matches('/').to_owned();
    // Some give the whole URL, as the page of the server shows it.
    let is_whole = base.ends_with(&format!("/{}", path.join("/")));
    url.set_path(&base);
    url.path_segments_mut()
        .map_err(|()| "cannot have a path".to_owned())?
        .pop_if_empty()
        .extend(path.iter().filter(|_| !is_whole));
    url.set_fragment(None);
    Ok(url)
}

/// What must not be shown of this URL, as it stands there and as it is meant.
pub(super) fn secrets(url: &Url) -> Secrets {
    let mut secrets = Secrets::default();
    let query = url.query().unwrap_or_default();
    let values = query.split('&').filter_map(|pair| pair.split_once('='));
    let values = values.map(|(_, value)| value);
    let user = [url.username(), url.password().unwrap_or_default(), query];
    for written in user.into_iter().chain(values) {
        secrets.add(written);
        secrets.add(&decoded(written));
    }
    // A `+` is a blank there.
    for (_, value) in url.query_pairs() {
        secrets.add(&value);
    }
    secrets
}

/// Takes user and password out of the URL; gives the header that says them.
pub(super) fn take_user(url: &mut Url) -> Option<HeaderValue> {
    let password = url.password().unwrap_or_default();
    if url.username().is_empty() && password.is_empty() {
        return None;
    }
    let user = format!("{}:{}", decoded(url.username()), decoded(password));
    // Both are refused only by URLs that have no host; those were refused before.
    let _ = url.set_username("").and_then(|()| url.set_password(None));
    HeaderValue::try_from(format!("Basic {}", STANDARD.encode(user))).ok()
}

/// The text without percent escapes.
fn decoded(text: &str) -> String {
    let mut pieces = text.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        let digits = piece
            .get(..2)
            .and_then(|it| u8::from_str_radix(it, 16).ok());
        match digits {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&piece.as_bytes()[2..]);
            }
            None => {
                bytes.push(b'%');
                bytes.extend_from_slice(piece.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A URL, or what was meant as one, without user, password, query and fragment.
pub(crate) fn mask_url(url: &str) -> String {
    // A long word is no address, but may be a key that was put where the address belongs.
    if url.len() >= 16 && !url.contains(['.', ':', '/']) {
        return "***".to_owned();
    }
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
    fn percent_escapes_are_read_and_what_is_none_stays() {
        for (text, read) in [
            ("p%40ss-w%C3%B6rd", "p@ss-wörd"),
            ("100%", "100%"),
            ("%zz%4", "%zz%4"),
            ("%é", "%é"),
        ] {
            assert_eq!(decoded(text), read);
        }
    }

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
            ("localhost", "localhost"),
            ("sk-proj-0123456789", "***"),
        ] {
            assert_eq!(mask_url(url), shown);
        }
    }
}
