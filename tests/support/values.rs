//! Values made up from a JSON Schema.

use serde_json::{Map, Value, json};

/// How deep a made-up value goes before it takes the smallest way out.
const DEEP: usize = 5;

/// Makes values that fit a schema, each seed another one.
#[derive(Debug)]
pub struct Values<'a> {
    root: &'a Value,
    state: u64,
}

impl<'a> Values<'a> {
    /// Values of this schema.
    #[must_use]
    pub fn of(root: &'a Value, seed: u64) -> Self {
        Self { root, state: seed }
    }

    /// The next value. It fits but for rules that are rare in schemas of tools: who needs to
    /// be sure, checks it.
    pub fn make(&mut self) -> Value {
        self.value(self.root, 0)
    }

    /// A number below `bound` (splitmix64).
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    fn pick<'v>(&mut self, values: &'v [Value]) -> &'v Value {
        let index = self.below(values.len());
        values.get(index).unwrap_or(&Value::Null)
    }

    fn value(&mut self, schema: &'a Value, depth: usize) -> Value {
        let Some(rules) = schema.as_object() else {
            return json!("anything");
        };
        if let Some(reference) = rules.get("$ref").and_then(Value::as_str) {
            let target = self.root.pointer(reference.trim_start_matches('#'));
            return target.map_or(Value::Null, |target| self.value(target, depth));
        }
        if let Some(value) = rules.get("const") {
            return value.clone();
        }
        if let Some(Value::Array(values)) = rules.get("enum") {
            return self.pick(values).clone();
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = rules.get(keyword) {
                let is_small =
                    |branch: &&Value| branch["type"] == "null" || branch["type"] == "string";
                let small = branches.iter().find(is_small).filter(|_| depth > DEEP);
                let index = self.below(branches.len());
                return small
                    .or(branches.get(index))
                    .map_or(Value::Null, |branch| self.value(branch, depth + 1));
            }
        }
        if let Some(Value::Array(branches)) = rules.get("allOf") {
            let mut all = Map::new();
            for branch in branches {
                if let Value::Object(members) = self.value(branch, depth + 1) {
                    all.extend(members);
                }
            }
            return all.into();
        }
        let nullable = rules.get("nullable") == Some(&Value::Bool(true));
        if nullable && self.below(3) == 0 {
            return Value::Null;
        }
        let kind = match rules.get("type") {
            Some(Value::Array(kinds)) => self.pick(kinds).clone(),
            Some(kind) => kind.clone(),
            None => json!("string"),
        };
        match kind
            .as_str()
            .unwrap_or_default()
            .to_ascii_lowercase()
            .as_str()
        {
            "null" => Value::Null,
            "boolean" => (self.below(2) == 0).into(),
            "integer" => self.integer(rules).into(),
            "number" => (self.integer(rules) as f64 + 0.5).into(),
            "string" => self.text(rules),
            "array" => self.list(rules, depth),
            _ => self.object(rules, depth),
        }
    }

    fn integer(&mut self, rules: &Map<String, Value>) -> i64 {
        let bound = |keyword| rules.get(keyword).and_then(Value::as_i64);
        let low = bound("minimum").or(bound("exclusiveMinimum").map(|low| low + 1));
        let high = bound("maximum").or(bound("exclusiveMaximum").map(|high| high - 1));
        let low = low.unwrap_or(high.map_or(-3, |high| high.min(-3)));
        let high = high.unwrap_or(low + 6);
        low + self.below((high - low + 1).clamp(1, 10) as usize) as i64
    }

    fn text(&mut self, rules: &Map<String, Value>) -> Value {
        let count = |keyword| rules.get(keyword).and_then(Value::as_u64);
        let text = match rules.get("format").and_then(Value::as_str) {
            Some("date") => "2026-11-30".to_owned(),
            Some("date-time") => "2026-11-30T06:00:00Z".to_owned(),
            Some("uuid") => "67e55044-10b1-426f-9247-bb680e5fe0c8".to_owned(),
            Some("uri") => "https://example.org/".to_owned(),
            _ => {
                let low = count("minLength").unwrap_or(0);
                let high = count("maxLength").unwrap_or(low + 3);
                let length = low + self.below((high - low + 1) as usize) as u64;
                (0..length)
                    .map(|_| ['a', 'é', '"', '1'][self.below(4)])
                    .collect()
            }
        };
        text.into()
    }

    fn list(&mut self, rules: &'a Map<String, Value>, depth: usize) -> Value {
        if let Some(Value::Array(places)) = rules.get("prefixItems") {
            return places
                .iter()
                .map(|place| self.value(place, depth + 1))
                .collect();
        }
        let count = |keyword| rules.get(keyword).and_then(Value::as_u64);
        let low = count("minItems").unwrap_or(0) as usize;
        let high = count("maxItems").unwrap_or(low as u64 + 2) as usize;
        let length = if depth > DEEP {
            low
        } else {
            low + self.below(high - low + 1)
        };
        let items = rules.get("items").unwrap_or(&Value::Bool(true));
        let mut list: Vec<Value> = (0..length).map(|_| self.value(items, depth + 1)).collect();
        if rules.get("uniqueItems").is_some() {
            let mut seen = Vec::new();
            list.retain(|item| {
                !seen.contains(item) && {
                    seen.push(item.clone());
                    true
                }
            });
        }
        list.into()
    }

    fn object(&mut self, rules: &'a Map<String, Value>, depth: usize) -> Value {
        let required = rules.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        let mut members = Map::new();
        for (name, schema) in rules
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            if is_required(name) || (depth <= DEEP && self.below(2) == 0) {
                let value = self.value(schema, depth + 1);
                members.insert(name.clone(), value);
            }
        }
        if let Some(values @ Value::Object(_)) = rules.get("additionalProperties") {
            for index in 0..self.below(3) {
                let value = self.value(values, depth + 1);
                members.insert(format!("key {index}"), value);
            }
        }
        members.into()
    }
}
