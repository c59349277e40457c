//! A number or a text of a JSON Schema.

use regex_lite::Regex;
use serde_json::{Map, Number, Value};

use super::pattern::Pattern;

/// `1 + shift` if that is allowed, else a number near to a bound.
pub(super) fn number(schema: &Map<String, Value>, whole: bool, shift: f64) -> Option<Value> {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let step = bound("multipleOf")
        .filter(|step| *step > 0.0)
        .unwrap_or(1.0);
    let (low, high) = (bound("minimum"), bound("maximum"));
    let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
    let fits = |number: &f64| {
        low.is_none_or(|low| *number >= low)
            && high.is_none_or(|high| *number <= high)
            && above.is_none_or(|above| *number > above)
            && below.is_none_or(|below| *number < below)
            && (!whole || number.fract() == 0.0)
    };
    let floor = low.or(above).unwrap_or(0.0);
    let ceiling = high.or(below).unwrap_or(0.0);
    let multiple = ((floor / step).ceil() + shift) * step;
    let span = ceiling - floor;
    let shift = match low.or(above).is_some() && high.or(below).is_some() && span > 0.0 {
        true => shift % (span + 1.0),
        false => shift,
    };
    let candidates = [
        if step == 1.0 { 1.0 + shift } else { multiple },
        floor.ceil() + shift,
        (floor / step).ceil() * step,
        floor.ceil(),
        floor.floor() + 1.0,
        ceiling.floor(),
        ceiling.ceil() - 1.0,
        floor,
        ceiling,
        floor.midpoint(ceiling),
    ];
    let number = candidates.into_iter().find(fits)?;
    if number.fract() == 0.0 && (whole || number.abs() < 9e15) {
        // A whole number is written as one as far as one can be.
        return match number < 0.0 {
            true => Some((number as i64).into()),
            false => Some((number as u64).into()),
        };
    }
    Number::from_f64(number).map(Value::Number)
}

/// Texts tried where a pattern is asked for.
const TEXTS: &[&str] = &[
    "text",
    "Text",
    "TEXT",
    "a",
    "A",
    "1",
    "12",
    "123",
    "1234",
    "12345",
    "abc",
    "ABC",
    "a1",
    "A1",
    "a-b",
    "a_b",
    "a.b",
    "/a",
    "a@example.com",
    "https://example.com",
    "2024-01-31",
    "12:00",
    "#ffffff",
];

/// A text of this schema: of its format, by its pattern, or as long as it must be.
pub(super) fn text(
    schema: &Map<String, Value>,
    pick: &mut impl FnMut(usize) -> usize,
    by_chance: bool,
) -> Option<Value> {
    let longer = pick(9);
    let word = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    if word("contentEncoding") == Some("base64") {
        return Some("aGVsbG8=".into());
    }
    let known = word("format").map(of_format);
    match known {
        Some(Some(known)) => return Some(known.into()),
        // What another format wants is not known: it is no example, and by chance any text.
        Some(None) if !by_chance => return None,
        _ => {}
    }
    let length = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let low = usize::try_from(length("minLength").unwrap_or(0)).ok()?;
    let high = usize::try_from(length("maxLength").unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    if low > 1000 {
        return None;
    }
    let Some(pattern) = word("pattern") else {
        let count = low
            .max(4.min(high))
            .saturating_add(longer)
            .min(high.max(low));
        let text: String = "text".chars().cycle().take(count).collect();
        return Some(text.into());
    };
    let regex = Regex::new(pattern).ok()?;
    let stretched = |text: &&str| {
        let count = text.chars().count();
        let text: String = text
            .chars()
            .cycle()
            .take(low.max(count.min(high)))
            .collect();
        regex.is_match(&text).then_some(text)
    };
    let fits = |text: &str| {
        let count = text.chars().count();
        (low..=high).contains(&count) && regex.is_match(text)
    };
    let pattern = Pattern::read(pattern);
    let mut made = |more: usize| {
        let text = pattern.as_ref()?.text(more, pick);
        fits(&text).then_some(text)
    };
    let mut by_pattern = || [1, 3, 0, low, low, low].into_iter().find_map(&mut made);
    let known = || TEXTS.iter().find_map(stretched);
    match by_chance {
        true => by_pattern().or_else(known),
        false => known().or_else(by_pattern),
    }
    .map(Value::from)
}

/// A text of one of the formats that our own types have.
fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2024-01-31",
        "date-time" => "2024-01-31T12:00:00Z",
        "date-time-local" => "2024-01-31T12:00:00",
        "zoned-date-time" => "2024-01-31T12:00:00+01:00[+01:00]",
        "time" => "12:00:00Z",
        "time-local" => "12:00:00",
        "duration" => "PT1H",
        "uuid" => "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "uri" | "uri-reference" | "iri" | "iri-reference" => "https://example.com/",
        "ipv4" | "ip" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "socket-address" => "192.0.2.1:80",
        "socket-address-v6" => "[2001:db8::1]:80",
        "email" | "idn-email" => "a@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "json-pointer" => "/a",
        "relative-json-pointer" => "0/a",
        _ => return None,
    })
}
