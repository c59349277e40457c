//! Schemas with parts inside that are known at run time only, put together there.
//!
//! The writer leaves a mark for such a part: for what `schemars` says, which takes the place
//! of the mark, and for a type that leads back to itself through others, which becomes a
//! definition at the root.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use super::merge::{Definitions, prune, reference};
use super::{Property, RecursivePart, Schema, SchemarsPart, Writer, tidy};

/// Makes one object schema of properties; their `$defs` are gathered at its root.
pub(crate) struct Composer {
    properties: Map<String, Value>,
    required: Vec<Value>,
    definitions: Definitions,
    parts: Vec<Part>,
}

/// What a mark stands for.
struct Part {
    schema: Schema,
    /// What stands in its place, once that is known.
    made: Option<Value>,
}

impl Composer {
    pub(crate) fn new() -> Self {
        Self {
            properties: Map::new(),
            required: Vec::new(),
            definitions: Definitions::default(),
            parts: Vec::new(),
        }
    }

    /// Adds a property; properties keep the order in which they were added.
    pub(crate) fn add(&mut self, property: &Property, required: bool) {
        self.add_within(&[], property, required);
    }

    /// Adds a property that stands in these recursive types, the outermost first.
    pub(super) fn add_within(&mut self, around: &[&Schema], property: &Property, required: bool) {
        let write = |writer: &mut Writer<'_>| writer.property(property);
        let value = self.read(around, property.schema, write);
        self.properties.insert(property.name.to_owned(), value);
        if required {
            self.required.push(property.name.into());
        }
    }

    /// The whole object, closed.
    pub(crate) fn finish(mut self) -> Value {
        // A part that leads back can bring further ones.
        let mut index = 0;
        while index < self.parts.len() {
            let made = match self.parts[index].schema {
                Schema::Recursive(part) => self.recursive(index, part),
                Schema::Schemars(part) => self.schemars(part),
                _ => Value::Null,
            };
            self.parts[index].made = Some(made);
            index += 1;
        }
        let mut definitions = self.definitions.into_map();
        let mut root = Map::new();
        root.insert("type".to_owned(), "object".into());
        let values = self.properties.values_mut().chain(definitions.values_mut());
        values.for_each(|value| fill(value, &self.parts));
        if !definitions.is_empty() {
            root.insert("$defs".to_owned(), definitions.into());
        }
        root.insert("properties".to_owned(), self.properties.into());
        root.insert("required".to_owned(), self.required.into());
        root.insert("additionalProperties".to_owned(), false.into());
        prune(&mut root);
        root.into()
    }

    /// The value of what is written for a schema, its definitions moved to the root and its
    /// marks counted through.
    fn read(
        &mut self,
        around: &[&Schema],
        schema: &Schema,
        write: impl Fn(&mut Writer<'_>),
    ) -> Value {
        let written = |writer: &mut Writer<'_>| {
            around
                .iter()
                .for_each(|definition| writer.enter(definition));
            writer.gather(schema);
            writer.raw("{\"schema\":");
            write(writer);
            writer.definitions();
            writer.raw("}");
        };
        let marks: Vec<usize> = Writer::parts_of(written)
            .into_iter()
            .map(|part| self.mark(part))
            .collect();
        // The writer writes JSON; a `default` that is none is the only way to fail.
        let mut value: Value = serde_json::from_str(&Writer::text_of(written)).unwrap_or_default();
        renumber(&mut value, &marks);
        self.definitions.hoist(&mut value);
        value.get_mut("schema").map(Value::take).unwrap_or_default()
    }

    /// The number of a part; parts that are the same have one.
    fn mark(&mut self, schema: Schema) -> usize {
        let known = self.parts.iter();
        let known = known
            .map(|part| &part.schema)
            .position(|part| is_same(part, &schema));
        known.unwrap_or_else(|| {
            self.parts.push(Part { schema, made: None });
            self.parts.len() - 1
        })
    }

    fn recursive(&mut self, index: usize, part: RecursivePart) -> Value {
        let name = self.definitions.free(&short((part.name)()));
        let mut reference_to_it = Map::new();
        reference_to_it.insert("$ref".to_owned(), reference(&name));
        self.definitions.insert(name.clone(), Value::Null);
        self.parts[index].made = Some(reference_to_it.clone().into());
        let schema = (part.schema)();
        let body = self.read(&[], schema, |writer| writer.schema(schema));
        self.definitions.insert(name, body);
        reference_to_it.into()
    }

    fn schemars(&mut self, part: SchemarsPart) -> Value {
        let settings = SchemaSettings::draft2020_12().with(|settings| settings.meta_schema = None);
        let mut generator: SchemaGenerator = settings.into_generator();
        let mut schema = (part.schema)(&mut generator);
        let members = schema.ensure_object();
        members.insert("$defs".to_owned(), generator.take_definitions(true).into());
        tidy::tidy(members);
        let mut value = schema.to_value();
        self.definitions.hoist(&mut value);
        value
    }
}

/// True if both ask the same of the same type. That it is said to be different is harmless.
fn is_same(left: &Schema, right: &Schema) -> bool {
    match (left, right) {
        (Schema::Schemars(left), Schema::Schemars(right)) => {
            left.schema as usize == right.schema as usize
                && left.required as usize == right.required as usize
        }
        (Schema::Recursive(left), Schema::Recursive(right)) => {
            left.schema as usize == right.schema as usize && (left.name)() == (right.name)()
        }
        _ => false,
    }
}

/// `Vec_Folder` of `alloc::vec::Vec<program::Folder>`.
fn short(name: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || character == '_';
    let segments = name.replace("::", ":");
    let last = segments
        .split(|character: char| !plain(character) && character != ':')
        .filter_map(|path| path.rsplit(':').next())
        .filter(|segment| !segment.is_empty());
    last.collect::<Vec<_>>().join("_")
}

fn renumber(value: &mut Value, marks: &[usize]) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| renumber(item, marks)),
        Value::Object(members) => {
            if let Some(mark) = members.get_mut(Writer::PART)
                && let Some(new) = index(mark).and_then(|index| marks.get(index))
            {
                *mark = (*new).into();
            }
            members
                .values_mut()
                .for_each(|value| renumber(value, marks));
        }
        _ => {}
    }
}

/// Puts what the parts are in the place of their marks.
fn fill(value: &mut Value, parts: &[Part]) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, parts)),
        Value::Object(members) => {
            release(members, parts);
            match marked(members, parts).and_then(|part| part.made.clone()) {
                Some(Value::Object(made)) => {
                    // What stands beside the mark is said of this place, and wins.
                    let beside = std::mem::replace(members, made);
                    members.extend(beside.into_iter().filter(|(key, _)| key != Writer::PART));
                }
                // A schema that is a truth value, which no type of ours has.
                _ => members.values_mut().for_each(|value| fill(value, parts)),
            }
        }
        _ => {}
    }
}

/// Takes from `required` the properties whose part says that they are not.
fn release(object: &mut Map<String, Value>, parts: &[Part]) {
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        return;
    };
    let is_free = |property: &Value| {
        let part = property.as_object().and_then(|it| marked(it, parts));
        part.is_some_and(|part| match part.schema {
            Schema::Schemars(part) => !(part.required)(),
            _ => false,
        })
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
fn marked<'a>(schema: &Map<String, Value>, parts: &'a [Part]) -> Option<&'a Part> {
    parts.get(index(schema.get(Writer::PART)?)?)
}

fn index(mark: &Value) -> Option<usize> {
    usize::try_from(mark.as_u64()?).ok()
}
