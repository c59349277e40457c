//! How long a server asks to wait, by the headers of its answer.

use std::time::{Duration, SystemTime};

use super::span;

/// Its own header of milliseconds, else seconds, or a date, which is held against the server's own
/// clock where it tells it. `header` gives the text of a header, empty if there is none.
///
/// LiteLLM tells what the provider behind it asked for in a header of its own.
pub(super) fn asked<'a>(header: impl Fn(&str) -> &'a str) -> Option<Duration> {
    let wait = match header("retry-after") {
        "" => header("llm_provider-retry-after"),
        wait => wait,
    };
    let until = || {
        let date = httpdate::parse_http_date(wait).ok()?;
        Some(date.duration_since(now(&header)).unwrap_or_default())
    };
    // The second is Azure's.
    number(header("retry-after-ms"), 1e-3)
        .or_else(|| number(header("x-ms-retry-after-ms"), 1e-3))
        .or_else(|| number(wait, 1.0))
        .or_else(|| span::beginning(wait))
        .or_else(until)
}

/// The limits that servers tell of, as what stands before and behind the word that says whether it
/// is what is left of one or when it is open again.
///
/// <https://platform.openai.com/docs/guides/rate-limits>, <https://console.groq.com/docs/rate-limits>,
/// <https://docs.anthropic.com/en/api/rate-limits>,
/// <https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/03/>
const LIMITS: [(&str, &str); 8] = [
    ("x-ratelimit-", "-requests"),
    ("x-ratelimit-", "-tokens"),
    ("x-ratelimit-", ""),
    ("ratelimit-", ""),
    ("anthropic-ratelimit-requests-", ""),
    ("anthropic-ratelimit-tokens-", ""),
    ("anthropic-ratelimit-input-tokens-", ""),
    ("anthropic-ratelimit-output-tokens-", ""),
];

/// The longest wait for a limit of which nothing is left.
pub(super) fn until_reset<'a>(header: impl Fn(&str) -> &'a str) -> Option<Duration> {
    let now = now(&header);
    let waits = LIMITS.iter().filter_map(|(before, behind)| {
        let told = |what: &str| header(&format!("{before}{what}{behind}"));
        (told("remaining") == "0").then(|| span::until(told("reset"), now))?
    });
    waits.max()
}

/// By the server's clock, if it tells it.
fn now<'a>(header: &impl Fn(&str) -> &'a str) -> SystemTime {
    let now = httpdate::parse_http_date(header("date"));
    now.unwrap_or_else(|_| SystemTime::now())
}

/// A number of units, each of so many seconds. One that is too large for any clock is the longest
/// wait, not none: who asks for that must not be asked again at once.
fn number(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    let is_wait = number.is_finite() && number >= 0.0;
    is_wait.then(|| Duration::try_from_secs_f64(number * unit).unwrap_or(Duration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&str, &'static str)]) -> Option<Duration> {
        asked(|name| {
            let found = headers.iter().find(|(key, _)| *key == name);
            found.map_or("", |(_, value)| value)
        })
    }

    #[test]
    fn a_wait_is_a_number_in_one_of_two_units() {
        for (headers, expected) in [
            (&[("retry-after", "3")][..], Some(Duration::from_secs(3))),
            (&[("retry-after", "1.5")], Some(Duration::from_millis(1500))),
            (
                &[("retry-after-ms", "250.5")],
                Some(Duration::from_micros(250_500)),
            ),
            (
                &[("retry-after-ms", "x"), ("retry-after", "2")],
                Some(Duration::from_secs(2)),
            ),
            (
                &[("retry-after", "99999999999999999999999")],
                Some(Duration::MAX),
            ),
            (&[("retry-after", "-5")], None),
            (&[("retry-after", "inf")], None),
            (&[("retry-after", "soon")], None),
            (&[], None),
        ] {
            assert_eq!(wait(headers), expected, "{headers:?}");
        }
    }
}
