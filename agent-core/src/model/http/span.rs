//! Lengths of time, in the forms in which servers write them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a unit is, by its name; longer names first.
const UNITS: [(&str, f64); 13] = [
    ("milliseconds", 1e-3),
    ("ms", 1e-3),
    ("seconds", 1.0),
    ("second", 1.0),
    ("secs", 1.0),
    ("sec", 1.0),
    ("minutes", 60.0),
    ("minute", 60.0),
    ("min", 60.0),
    ("hours", 3600.0),
    ("hour", 3600.0),
    ("h", 3600.0),
    ("d", 86400.0),
];

/// The length that a text begins with: `2m59.56s`, `2 hours 5 minutes`, `6ms`. A number needs a unit.
pub(crate) fn beginning(text: &str) -> Option<Duration> {
    let (mut rest, mut seconds, mut has_any) = (text, 0.0, false);
    while let Some((number, unit, after)) = part(rest) {
        let after = after.trim_start_matches([' ', ',']);
        (seconds, has_any, rest) = (seconds + number * unit, true, after);
    }
    if has_any {
        Duration::try_from_secs_f64(seconds).ok()
    } else {
        None
    }
}

/// A number, how many seconds its unit has, and what comes after both.
fn part(text: &str) -> Option<(f64, f64, &str)> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || byte == b'.';
    let digits = text.bytes().take_while(|byte| is_digit(*byte)).count();
    let (number, rest) = text.split_at(digits);
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, after) = rest.split_at(letters);
    let unit = match name {
        "s" => 1.0,
        "m" => 60.0,
        name => UNITS.iter().find(|(it, _)| *it == name)?.1,
    };
    Some((number.parse().ok()?, unit, after))
}

/// How long it is from now until a time: seconds, a length, a date, or a count of seconds or
/// milliseconds since 1970. Nothing for what is over.
pub(crate) fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let since = |seconds: f64| {
        let time = UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)?;
        time.duration_since(now).ok()
    };
    match text.parse::<f64>() {
        Ok(number) if number >= 1e11 => since(number / 1e3),
        Ok(number) if number >= 1e9 => since(number),
        Ok(number) => Duration::try_from_secs_f64(number).ok(),
        Err(_) => beginning(text).or_else(|| since(timestamp(text)?)),
    }
}

/// The seconds since 1970 of a date as RFC 3339 has it, in UTC.
fn timestamp(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix(['Z', 'z'])?.split_once(['T', 't'])?;
    let mut date = date.splitn(3, '-').map(|it| it.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut time = time.splitn(3, ':');
    let hours: f64 = time.next()?.parse().ok()?;
    let minutes: f64 = time.next()?.parse().ok()?;
    let seconds: f64 = time.next()?.parse().ok()?;
    let is_date =
        (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_date.then(|| {
        // The year begins in March, so that the day that is not in all years is the last.
        // https://howardhinnant.github.io/date_algorithms.html#days_from_civil
        let (year, month) = match month {
            1 | 2 => (year - 1, month + 9),
            month => (year, month - 3),
        };
        let days = 365 * year + year / 4 - year / 100 + year / 400;
        let days = days + (153 * month + 2) / 5 + day - 1 - 719_468;
        days as f64 * 86400.0 + hours * 3600.0 + minutes * 60.0 + seconds
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Option<u128> {
        beginning(text).map(|it| it.as_millis())
    }

    #[test]
    fn a_length_is_numbers_with_units() {
        for (text, expected) in [
            ("2.5s. Visit", Some(2500)),
            ("6ms", Some(6)),
            ("14m24.5s. Need", Some(864_500)),
            ("1h0m0s", Some(3_600_000)),
            ("26 seconds.", Some(26_000)),
            ("1 minute", Some(60_000)),
            ("2 hours, 5 minutes.", Some(7_500_000)),
            ("5", None),
            ("a few seconds", None),
            ("", None),
            (".s", None),
        ] {
            assert_eq!(millis(text), expected, "{text}");
        }
    }

    #[test]
    fn a_time_is_told_in_one_of_five_forms() {
        let now = UNIX_EPOCH + Duration::from_secs(1_792_567_680);
        for (text, expected) in [
            ("60", Some(60)),
            ("2m", Some(120)),
            ("1792567740", Some(60)),
            ("1792567740000", Some(60)),
            ("2026-10-21T07:29:00Z", Some(60)),
            ("2026-10-21T07:27:00Z", None),
            ("2026-13-21T07:27:00Z", None),
            ("1792567000", None),
            ("-5", None),
            ("soon", None),
        ] {
            let seconds = until(text, now).map(|it| it.as_secs());
            assert_eq!(seconds, expected, "{text}");
        }
    }
}
