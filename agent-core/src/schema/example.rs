//! The smallest value of a JSON Schema that shows what is wanted.
//!
//! It is read from the JSON, not from [`Schema`](super::Schema), so that what `schemars` says
//! is understood too.

use regex_lite::Regex;
use serde_json::{Map, Number, Value, json};

use super::{Composer, Property};

/// Deeper than this nothing is shown; a recursive type ends here.
const DEEPEST: usize = 12;

/// More items than this are not written out.
const MOST_ITEMS: u64 = 8;

/// A value of this property that is accepted, as far as can be told.
pub(crate) fn example(property: &Property) -> Option<Value> {
    let mut composer = Composer::new();
    composer.add(property, true);
    let root = composer.finish();
    Maker {
        root: &root,
        depth: 0,
    }
    .make(&root["properties"][property.name])
}

struct Maker<'a> {
    root: &'a Value,
    depth: usize,
}

impl Maker<'_> {
    fn make(&mut self, schema: &Value) -> Option<Value> {
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let made = match schema {
            Value::Object(schema) => self.make_of(schema),
            Value::Bool(true) => Some(Value::Null),
            _ => None,
        };
        self.depth -= 1;
        made
    }

    fn make_of(&mut self, schema: &Map<String, Value>) -> Option<Value> {
        let listed = |keyword: &str| schema.get(keyword)?.as_array()?.first().cloned();
        let given = listed("examples")
            .or_else(|| schema.get("const").cloned())
            .or_else(|| schema.get("default").filter(|it| !it.is_null()).cloned())
            .or_else(|| listed("enum"));
        if given.is_some() {
            return given;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#')?;
            let target = self.root.pointer(pointer)?.clone();
            return self.make(&target);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                let is_null = |branch: &&Value| branch["type"] == "null";
                let (nulls, others): (Vec<_>, Vec<_>) = branches.iter().partition(is_null);
                return others.into_iter().chain(nulls).find_map(|it| self.make(it));
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.joined(schema, parts);
        }
        match kind(schema)? {
            "null" => Some(Value::Null),
            "boolean" => Some(true.into()),
            "integer" => number(schema, true),
            "number" => number(schema, false),
            "string" => text(schema),
            "array" => self.list(schema),
            "object" => self.object(schema),
            _ => None,
        }
    }

    fn list(&mut self, schema: &Map<String, Value>) -> Option<Value> {
        if let Some(places) = schema.get("prefixItems").and_then(Value::as_array) {
            return places.iter().map(|place| self.make(place)).collect();
        }
        let count = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let at_least = count("minItems").unwrap_or(0);
        let wanted = at_least.max(1).min(count("maxItems").unwrap_or(u64::MAX));
        let item = match schema.get("items") {
            Some(items) => self.make(items),
            None => Some(Value::Null),
        };
        match item {
            None if at_least == 0 => Some(json!([])),
            None => None,
            Some(_) if wanted > MOST_ITEMS => None,
            Some(item) if schema.get("uniqueItems").is_some() && wanted > 1 => {
                let first = item.as_i64()?;
                (0..wanted)
                    .map(|step| Some(json!(first + i64::try_from(step).ok()?)))
                    .collect()
            }
            Some(item) => Some((0..wanted).map(|_| item.clone()).collect()),
        }
    }

    fn object(&mut self, schema: &Map<String, Value>) -> Option<Value> {
        let required = schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let mut members = Map::new();
        for name in names {
            let value = self.make(&schema.get("properties")?[name])?;
            members.insert(name.to_owned(), value);
        }
        let other = schema.get("additionalProperties");
        if members.is_empty()
            && !schema.contains_key("properties")
            && let Some(other @ Value::Object(_)) = other
            && let Some(value) = self.make(other)
        {
            members.insert("key".to_owned(), value);
        }
        Some(members.into())
    }

    /// An object that several schemas describe together.
    fn joined(&mut self, schema: &Map<String, Value>, parts: &[Value]) -> Option<Value> {
        let mut members = Map::new();
        if schema.contains_key("properties")
            && let Value::Object(own) = self.object(schema)?
        {
            members.extend(own);
        }
        for part in parts {
            match self.make(part)? {
                Value::Object(more) => members.extend(more),
                value if parts.len() == 1 => return Some(value),
                _ => return None,
            }
        }
        Some(members.into())
    }
}

/// The type, or the first that is not `null`; an object if only properties tell.
fn kind(schema: &Map<String, Value>) -> Option<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => Some(kind),
        Some(Value::Array(kinds)) => {
            let mut kinds = kinds.iter().filter_map(Value::as_str);
            kinds.find(|kind| *kind != "null")
        }
        _ if schema.contains_key("properties") => Some("object"),
        _ => Some("null").filter(|_| !schema.contains_key("pattern")),
    }
}

/// 1 if that is allowed, else the number nearest to a bound.
fn number(schema: &Map<String, Value>, whole: bool) -> Option<Value> {
    let bound = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
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
    let candidates = [
        1.0,
        floor.ceil(),
        floor.floor() + 1.0,
        ceiling.floor(),
        ceiling.ceil() - 1.0,
        floor,
        ceiling,
        floor.midpoint(ceiling),
    ];
    let number = candidates.into_iter().find(fits)?;
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return Some((number as i64).into());
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

fn text(schema: &Map<String, Value>) -> Option<Value> {
    let word = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
    if word("contentEncoding") == Some("base64") {
        return Some("aGVsbG8=".into());
    }
    if let Some(format) = word("format") {
        return of_format(format).map(Value::from);
    }
    let length = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
    let low = usize::try_from(length("minLength").unwrap_or(0)).ok()?;
    let high = usize::try_from(length("maxLength").unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    if low > 1000 {
        return None;
    }
    let Some(pattern) = word("pattern") else {
        let text: String = "text".chars().cycle().take(low.max(4.min(high))).collect();
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
    TEXTS.iter().find_map(stretched).map(Value::from)
}

/// A text of one of the formats that our own types have.
fn of_format(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2024-01-31",
        "date-time" => "2024-01-31T12:00:00Z",
        "date-time-local" => "2024-01-31T12:00:00",
        "time" => "12:00:00Z",
        "time-local" => "12:00:00",
        "duration" => "PT1H",
        "uuid" => "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "uri" | "uri-reference" => "https://example.com/",
        "ipv4" | "ip" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "email" => "a@example.com",
        "hostname" => "example.com",
        _ => return None,
    })
}
