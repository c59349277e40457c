//! A value of a JSON Schema: the smallest that shows what is wanted, or one by chance.
//!
//! It is read from the JSON, not from [`Schema`], so that what `schemars` says
//! is understood too.

use serde_json::{Map, Value, json};

use super::accepts::{accepts, accepts_part};
use super::chance::Chance;
use super::pattern::Pattern;
use super::scalars::{number, text};
use super::{Composer, Property, Schema};

/// Deeper than this nothing is shown; a recursive type ends here.
const DEEPEST: usize = 12;

/// By chance, nothing that may be left out is deeper than this.
const LEAN: usize = 5;

/// More items than this are not written out.
const MOST_ITEMS: u64 = 8;

/// How often a value is made by chance until one is accepted.
const TRIES: usize = 32;

/// How often a part of it is, where several rules must hold at once.
const TRIES_OF_PART: usize = 8;

/// Keywords by which a value that is made may be refused.
const HARD: [&str; 9] = [
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "if",
    "multipleOf",
    "uniqueItems",
    "contains",
    "minProperties",
];

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
            Value::Object(keywords) if self.chance.is_some() && is_hard(keywords) => {
                self.tried(schema, keywords)
            }
            Value::Object(keywords) => self.make_of(keywords),
            Value::Bool(true) => Some(Value::Null),
            _ => None,
        };
        self.depth -= 1;
        made
    }

    /// The first of several values that is accepted.
    fn tried(&mut self, schema: &Value, keywords: &Map<String, Value>) -> Option<Value> {
        (0..TRIES_OF_PART).find_map(|_| {
            let made = self.make_of(keywords)?;
            (accepts_part(self.root, schema, &made) == Some(true)).then_some(made)
        })
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
                // Small numbers are often those that matter.
                let most = [1000, 4][self.pick(2)];
                let part = if kind == "number" {
                    self.pick(2) as f64 / 2.0
                } else {
                    0.0
                };
                number(schema, kind == "integer", self.pick(most) as f64 + part)
            }
            "string" => {
                let by_chance = self.chance.is_some();
                text(schema, &mut |count| self.pick(count), by_chance)
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
        if self.chance.is_some() {
            let items = schema.get("items").unwrap_or(&Value::Bool(true));
            return self.items_by_chance(schema, items, wanted);
        }
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

    fn items_by_chance(
        &mut self,
        schema: &Map<String, Value>,
        items: &Value,
        wanted: u64,
    ) -> Option<Value> {
        if wanted > MOST_ITEMS {
            return None;
        }
        let is_set = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut made = Vec::new();
        if let Some(contained) = schema.get("contains") {
            made.push(self.make(contained)?);
        }
        // What comes again in a set is made anew, as often as there is hope.
        for _ in 0..wanted * TRIES_OF_PART as u64 {
            if made.len() as u64 >= wanted {
                break;
            }
            match self.make(items) {
                Some(item) if !(is_set && made.contains(&item)) => made.push(item),
                Some(_) => {}
                None => break,
            }
        }
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        (made.len() as u64 >= least).then(|| made.into())
    }

    fn object(&mut self, schema: &Map<String, Value>) -> Option<Value> {
        let required = schema.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let mut members = Map::new();
        let other = schema.get("additionalProperties");
        for name in names {
            let property = schema.get("properties").and_then(|all| all.get(name));
            let value = self.make(property.or(other).unwrap_or(&Value::Bool(true)))?;
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
        if members.is_empty()
            && !schema.contains_key("properties")
            && let Some(other @ Value::Object(_)) = other
            && let Some(value) = self.make(other)
        {
            members.insert("key".to_owned(), value);
        }
        self.fill(schema, &mut members)?;
        Some(members.into())
    }

    /// Adds members to an object until it has as many as it must, and those that others want.
    fn fill(
        &mut self,
        schema: &Map<String, Value>,
        members: &mut Map<String, Value>,
    ) -> Option<()> {
        let wants = schema.get("dependentRequired").and_then(Value::as_object);
        for (name, wanted) in wants.into_iter().flatten() {
            if members.contains_key(name) {
                for name in wanted.as_array()?.iter().filter_map(Value::as_str) {
                    let value = self.make(&schema.get("properties")?[name])?;
                    members.entry(name).or_insert(value);
                }
            }
        }
        let least = schema
            .get("minProperties")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let (pattern, of_pattern) = patterns.and_then(|all| all.iter().next()).unzip();
        let others = schema.get("additionalProperties");
        for place in 0..(least as usize).min(MOST_ITEMS as usize) * TRIES_OF_PART {
            if members.len() as u64 >= least {
                break;
            }
            let name = match (schema.get("propertyNames"), pattern) {
                (Some(names), _) => {
                    let mut names = names.as_object()?.clone();
                    names.insert("type".to_owned(), "string".into());
                    self.make_of(&names)?.as_str()?.to_owned()
                }
                (None, Some(pattern)) => self.matching(pattern)?,
                (None, None) => format!("key{place}"),
            };
            let value = self.make(of_pattern.or(others).unwrap_or(&Value::Bool(true)))?;
            members.entry(name).or_insert(value);
        }
        Some(())
    }

    fn matching(&mut self, pattern: &str) -> Option<String> {
        let pattern = Pattern::read(pattern)?;
        Some(pattern.text(3, &mut |count| self.pick(count)))
    }

    /// A value that several schemas describe together: an object of the members of all, or one of
    /// a schema that says what all say.
    fn joined(&mut self, schema: &Map<String, Value>, parts: &[Value]) -> Option<Value> {
        let is_plain = |part: &Value| {
            let kind = part.as_object().and_then(kind);
            kind.is_some_and(|kind| !matches!(kind, "object" | "null"))
        };
        if self.chance.is_some() && parts.iter().any(is_plain) {
            let mut all = schema.clone();
            all.remove("allOf");
            let parts = parts.iter().filter_map(Value::as_object).flatten();
            all.extend(parts.map(|(name, rule)| (name.clone(), rule.clone())));
            return self.make_of(&all);
        }
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

fn is_hard(keywords: &Map<String, Value>) -> bool {
    HARD.iter().any(|keyword| keywords.contains_key(*keyword))
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
