//! Schemas with `schemars` parts inside, put together at run time.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::{Property, Schema, SchemarsPart, Writer, tidy};

/// Makes one object schema of properties; their `$defs` are gathered at its root.
pub(crate) struct Composer {
    generator: SchemaGenerator,
    properties: Map<String, Value>,
    required: Vec<Value>,
}

impl Composer {
    pub(crate) fn new() -> Self {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
        Self {
            generator: settings.into_generator(),
            properties: Map::new(),
            required: Vec::new(),
        }
    }

    /// Adds a property; properties keep the order in which they were added.
    pub(crate) fn add(&mut self, property: &Property, required: bool) {
        let mut parts = Vec::new();
        collect(property.schema, &mut parts);
        let text = Writer::text_of(|writer| writer.property(property));
        // The writer writes JSON; a `default` that is none is the only way to fail.
        let mut value = serde_json::from_str(&text).unwrap_or_default();
        self.fill(&mut value, &parts);
        self.properties.insert(property.name.to_owned(), value);
        if required {
            self.required.push(property.name.into());
        }
    }

    /// The whole object, closed and without Rust's number formats.
    pub(crate) fn finish(mut self) -> Value {
        let definitions = self.generator.take_definitions(true);
        let mut root = Map::new();
        root.insert("type".to_owned(), "object".into());
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), definitions.into());
        }
        root.insert("properties".to_owned(), self.properties.into());
        root.insert("required".to_owned(), self.required.into());
        tidy::tidy(&mut root);
        root.into()
    }

    /// Puts what `schemars` says where the writer left a mark.
    fn fill(&mut self, value: &mut Value, parts: &[SchemarsPart]) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.fill(item, parts)),
            Value::Object(members) => {
                release(members, parts);
                match marked(members, parts) {
                    Some(part) => *members = self.part(part, members),
                    None => members
                        .values_mut()
                        .for_each(|value| self.fill(value, parts)),
                }
            }
            _ => {}
        }
    }

    /// The part's own keywords, with those that stand beside the mark on top.
    fn part(&mut self, part: SchemarsPart, beside: &mut Map<String, Value>) -> Map<String, Value> {
        let mut schema = (part.schema)(&mut self.generator);
        let mut members = std::mem::take(schema.ensure_object());
        for (key, value) in std::mem::take(beside) {
            if key != Writer::PART {
                members.insert(key, value);
            }
        }
        members
    }
}

/// Takes from `required` the properties whose part says that they are not.
fn release(object: &mut Map<String, Value>, parts: &[SchemarsPart]) {
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        return;
    };
    let is_free = |property: &Value| {
        let part = property.as_object().and_then(|it| marked(it, parts));
        part.is_some_and(|part| !(part.required)())
    };
    let free: Vec<String> = properties
        .iter()
        .filter(|(_, property)| is_free(property))
        .map(|(name, _)| name.clone())
        .collect();
    if let Some(Value::Array(required)) = object.get_mut("required") {
        required.retain(|name| {
            name.as_str()
                .is_none_or(|name| !free.iter().any(|it| it == name))
        });
    }
}

/// The part for which the schema is a mark.
fn marked(schema: &Map<String, Value>, parts: &[SchemarsPart]) -> Option<SchemarsPart> {
    let index = schema.get(Writer::PART)?.as_u64()?;
    parts.get(usize::try_from(index).ok()?).copied()
}

/// The `schemars` parts in the order in which the writer marks them.
fn collect(schema: &Schema, parts: &mut Vec<SchemarsPart>) {
    match schema {
        Schema::Schemars(part) => parts.push(*part),
        Schema::Array { items, .. } => collect(items, parts),
        Schema::Map(inner) | Schema::Nullable(inner) | Schema::Described(_, inner) => {
            collect(inner, parts);
        }
        Schema::Tuple(places) => places.iter().for_each(|place| collect(place, parts)),
        Schema::Object(properties) => properties
            .iter()
            .for_each(|property| collect(property.schema, parts)),
        _ => {}
    }
}
