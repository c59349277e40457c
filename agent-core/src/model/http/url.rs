//! A URL as it may be shown.

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
}
