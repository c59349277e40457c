//! A value of a JSON Schema: the smallest that shows what is wanted, or one by chance.
//!
//! It is read from the JSON, not from [`Schema`], so that what `schemars` says
//! is understood too.

use regex_lite::Regex;
use serde_json::{Map, Number, Value, json};

use super::accepts::accepts;
use super::{Composer, Property, Schema};

/// Deeper than this nothing is shown; a recursive type ends here.
const DEEPEST: usize = 12;

/// By chance, nothing that may be left out is deeper than this.
const LEAN: usize = 5;

/// More items than this are not written out.
const MOST_ITEMS: u64 = 8;

/// How often a value is made by chance until one is accepted.
const TRIES: usize = 32;

/// More values than this are not made for one: schemas that branch back to themselves would
/// want more at each level.
const MOST_VALUES: usize = 4_000;

/// A value of this property that is accepted, as far as can be told.
pub(crate) fn example(property: &Property) -> Option<Value> {
    example_within(&[], property)
}

/// The same of a property that stands in these recursive types, the outermost first.
pub(crate) fn example_within(around: &[&Schema], property: &Property) -> Option<Value> {
    let mut composer = Composer::new();
    composer.add_within(around, property, true);
    let root = composer.finish();
    Maker::of(&root).make(&root["properties"][property.name])
}

/// The same of a schema as a whole.
#[cfg(feature = "validate")]
pub(super) fn example_of_value(schema: &Value) -> Option<Value> {
    Maker::of(schema).make(schema)
}

/// A value that this schema accepts, by chance. `None` if none was found, or if the schema says
/// more than is understood here.
pub(crate) fn sample(schema: &Value, chance: &mut Chance) -> Option<Value> {
    (0..TRIES).find_map(|_| {
        let mut maker = Maker {
            chance: Some(chance),
            ..Maker::of(schema)
        };
        let value = maker.make(schema)?;
        (accepts(schema, &value) == Some(true)).then_some(value)
    })
}

/// What is taken where a schema leaves a choice: of one seed always the same.
/// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators").
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `count`, or 0.
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % count.max(1)
    }
}

struct Maker<'a> {
    root: &'a Value,
    depth: usize,
    made: usize,
    /// The references that are being followed.
    open: Vec<String>,
    /// Without it, the first choice is always taken.
    chance: Option<&'a mut Chance>,
}

impl<'a> Maker<'a> {
    fn of(root: &'a Value) -> Self {
        Self {
            root,
            depth: 0,
            made: 0,
            open: Vec::new(),
            chance: None,
        }
    }
}

impl Maker<'_> {
    /// A place in a list of this length; the first without chance.
    fn pick(&mut self, count: usize) -> usize {
        let below = |chance: &mut &mut Chance| chance.below(count as u64) as usize;
        self.chance.as_mut().map_or(0, below)
    }

    /// True if what may be left out is there.
    fn adds(&mut self) -> bool {
        self.chance.is_some() && self.depth < LEAN && self.pick(2) == 1
    }

    fn make(&mut self, schema: &Value) -> Option<Value> {
        if self.depth == DEEPEST || self.made == MOST_VALUES {
            return None;
        }
        self.made += 1;
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
        let mut listed = |keyword: &str| {
            let values = schema.get(keyword)?.as_array()?;
            values.get(self.pick(values.len())).cloned()
        };
        let (example, one) = (listed("examples"), listed("enum"));
        let shown = example.or_else(|| schema.get("default").filter(|it| !it.is_null()).cloned());
        let must = schema.get("const").cloned().or(one);
        // By chance what is shown is only one value among others.
        let first = if self.pick(2) == 0 { shown } else { None };
        if let Some(given) = first.or(must) {
            return Some(given);
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.refer(reference);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(branches) = schema.get(keyword).and_then(Value::as_array) {
                let is_null = |branch: &&Value| branch["type"] == "null";
                let (nulls, others): (Vec<_>, Vec<_>) = branches.iter().partition(is_null);
                let mut branches = [others, nulls].concat();
                let first = self.pick(branches.len());
                branches.rotate_left(first);
                return branches.into_iter().find_map(|it| self.make(it));
            }
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            return self.joined(schema, parts);
        }
        match kind(schema)? {
            "null" => Some(Value::Null),
            "boolean" => Some((self.pick(2) == 0).into()),
            kind @ ("integer" | "number") => {
                let shift = self.pick(1000);
                number(schema, kind == "integer", shift as f64)
            }
            "string" => {
                let longer = self.pick(9);
                text(schema, longer, self.chance.is_some())
            }
            "array" => self.list(schema),
            "object" => self.object(schema),
            _ => None,
        }
    }

    /// What a reference leads to. Without chance, a type does not hold itself: a list of it is
    /// empty, and a choice is another.
    fn refer(&mut self, reference: &str) -> Option<Value> {
        if self.chance.is_none() && self.open.iter().any(|it| it == reference) {
            return None;
        }
        let target = self.root.pointer(reference.strip_prefix('#')?)?;
        self.open.push(reference.to_owned());
        let made = self.make(target);
        self.open.pop();
        made
    }

    fn list(&mut self, schema: &Map<String, Value>) -> Option<Value> {
        if let Some(places) = schema.get("prefixItems").and_then(Value::as_array) {
            return places.iter().map(|place| self.make(place)).collect();
        }
        let count = |keyword: &str| schema.get(keyword).and_then(Value::as_u64);
        let at_least = count("minItems").unwrap_or(0);
        let wanted = match self.chance.is_none() || self.adds() {
            true => at_least.max(1) + self.pick(3) as u64,
            false => at_least,
        };
        let wanted = wanted.min(count("maxItems").unwrap_or(u64::MAX));
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
            Some(item) if self.chance.is_none() => {
                Some((0..wanted).map(|_| item.clone()).collect())
            }
            Some(_) => {
                let items = schema.get("items").unwrap_or(&Value::Bool(true));
                (0..wanted).map(|_| self.make(items)).collect()
            }
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
        let optional = schema.get("properties").and_then(Value::as_object);
        for (name, property) in optional.into_iter().flatten() {
            if !members.contains_key(name)
                && self.adds()
                && let Some(value) = self.make(property)
            {
                members.insert(name.clone(), value);
            }
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

/// `1 + shift` if that is allowed, else a number near to a bound.
fn number(schema: &Map<String, Value>, whole: bool, shift: f64) -> Option<Value> {
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

fn text(schema: &Map<String, Value>, longer: usize, by_chance: bool) -> Option<Value> {
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
    let (before, from) = TEXTS.split_at(longer);
    let mut texts = from.iter().chain(before);
    texts.find_map(stretched).map(Value::from)
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
        "uri" | "uri-reference" => "https://example.com/",
        "ipv4" | "ip" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "socket-address" => "192.0.2.1:80",
        "socket-address-v6" => "[2001:db8::1]:80",
        "email" => "a@example.com",
        "hostname" => "example.com",
        _ => return None,
    })
}
