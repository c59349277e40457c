//! Schema → the keywords of JSON Schema, as `const fn`. Provider quirks are not here.

use super::same::all_same;
use super::{Bound, Constraints, Property, Schema, Writer};

impl Writer<'_> {
    pub(crate) const fn schema(&mut self, schema: &Schema) {
        self.annotated(schema, None, None, None);
    }

    /// A schema that stands alone, with the definitions it refers to.
    pub(crate) const fn document(&mut self, schema: &Schema) {
        self.gather(schema);
        self.pending = !self.definitions.is_empty();
        match schema {
            // No provider takes a reference at the root.
            Schema::Def(_, body) => {
                self.scope = 0;
                self.annotated(body, None, None, None);
            }
            schema => self.annotated(schema, None, None, None),
        }
    }

    pub(super) const fn kind(&mut self, name: &str, nullable: bool) {
        self.raw("\"type\":");
        if nullable {
            self.byte(b'[');
        }
        self.string(name);
        if nullable {
            self.raw(",\"null\"]");
        }
        if self.pending {
            self.pending = false;
            self.definitions();
        }
    }

    /// The inside of a schema object; nothing for `Any`.
    const fn keywords(&mut self, schema: &Schema, nullable: bool) {
        match schema {
            Schema::Any => {}
            Schema::Null => self.kind("null", false),
            Schema::Boolean => self.kind("boolean", nullable),
            Schema::Integer { minimum, maximum } => {
                self.kind("integer", nullable);
                self.number("minimum", *minimum);
                self.number("maximum", *maximum);
            }
            Schema::Number => self.kind("number", nullable),
            Schema::String {
                min_length,
                max_length,
            } => {
                self.kind("string", nullable);
                self.number("minLength", wide(*min_length));
                self.number("maxLength", wide(*max_length));
            }
            Schema::Format(format) => {
                self.kind("string", nullable);
                self.raw(",\"format\":");
                self.string(format);
            }
            Schema::Base64 => {
                self.kind("string", nullable);
                self.raw(",\"contentEncoding\":\"base64\"");
            }
            Schema::Enum(values) => {
                self.kind("string", nullable);
                self.raw(",\"enum\":[");
                self.strings(values);
                if nullable {
                    self.raw(if values.is_empty() { "null" } else { ",null" });
                }
                self.byte(b']');
            }
            Schema::Array {
                items,
                length,
                unique,
            } => {
                self.kind("array", nullable);
                self.raw(",\"items\":");
                self.schema(items);
                if let Some(length) = *length {
                    self.item_count(length);
                }
                if *unique {
                    self.raw(",\"uniqueItems\":true");
                }
            }
            Schema::Tuple(places) => self.tuple(places, nullable),
            Schema::Map(values) => {
                self.kind("object", nullable);
                self.raw(",\"additionalProperties\":");
                self.schema(values);
            }
            Schema::Object(properties) => {
                self.kind("object", nullable);
                self.object(properties);
            }
            Schema::Nullable(inner) => self.keywords(inner, true),
            Schema::Described(_, inner) => self.keywords(inner, nullable),
            Schema::AnyOf(branches) => self.any_of(branches, nullable),
            Schema::Joined(_) => self.joined(schema, nullable),
            Schema::Def(name, body) => {
                self.reference(self.definitions.find(name, body, self.scope), nullable);
            }
            Schema::Ref(name) => {
                self.reference(self.definitions.enclosing(name, self.scope), nullable);
            }
            Schema::Schemars(_) | Schema::Recursive(_) if nullable => {
                self.raw("\"anyOf\":[{");
                self.part(schema);
                self.raw("},{\"type\":\"null\"}]");
            }
            Schema::Schemars(_) | Schema::Recursive(_) => self.part(schema),
        }
    }

    const fn item_count(&mut self, count: usize) {
        self.number("minItems", Some(count as i64));
        self.number("maxItems", Some(count as i64));
    }

    /// Places of one schema are `items`, which every provider reads; mixed ones `prefixItems`.
    const fn tuple(&mut self, places: &[&Schema], nullable: bool) {
        self.kind("array", nullable);
        if !places.is_empty() && all_same(places) {
            self.raw(",\"items\":");
            self.schema(places[0]);
        } else {
            self.raw(",\"prefixItems\":[");
            let mut index = 0;
            while index < places.len() {
                if index > 0 {
                    self.byte(b',');
                }
                self.schema(places[index]);
                index += 1;
            }
            self.byte(b']');
        }
        self.item_count(places.len());
    }

    const fn any_of(&mut self, branches: &[Schema], nullable: bool) {
        let pending = self.pending;
        self.pending = false;
        self.raw("\"anyOf\":[");
        let mut index = 0;
        while index < branches.len() {
            if index > 0 {
                self.byte(b',');
            }
            self.schema(&branches[index]);
            index += 1;
        }
        self.raw(if nullable {
            ",{\"type\":\"null\"}]"
        } else {
            "]"
        });
        self.pending = pending;
    }

    const fn strings(&mut self, values: &[&str]) {
        let mut index = 0;
        while index < values.len() {
            if index > 0 {
                self.byte(b',');
            }
            self.string(values[index]);
            index += 1;
        }
    }

    const fn object(&mut self, properties: &[Property]) {
        let mut members = Members::new();
        self.raw(",\"properties\":{");
        let mut index = 0;
        while index < properties.len() {
            members.property(self, &properties[index]);
            index += 1;
        }
        self.raw("},\"required\":[");
        let mut members = Members::new();
        let mut index = 0;
        while index < properties.len() {
            members.required(self, &properties[index]);
            index += 1;
        }
        self.raw("],\"additionalProperties\":false");
    }

    /// The schema of a property: keywords, description, default, examples.
    pub(crate) const fn property(&mut self, property: &Property) {
        self.annotated(
            property.schema,
            property.description,
            property.default,
            property.constraints,
        );
    }

    const fn annotated(
        &mut self,
        schema: &Schema,
        description: Option<&str>,
        default: Option<&str>,
        constraints: Option<&Constraints>,
    ) {
        self.byte(b'{');
        let start = self.length();
        match constraints {
            Some(constraints) => self.constrained(schema, constraints, start),
            None => self.keywords(schema, false),
        }
        let description = match description {
            None => schema.description(),
            description => description,
        };
        if let Some(description) = description {
            self.keyword(start, "description");
            self.string(description);
        }
        if let Some(default) = default {
            self.keyword(start, "default");
            self.raw(default);
        }
        if let Some(Constraints {
            example: Some(example),
            ..
        }) = constraints
        {
            self.keyword(start, "examples");
            self.byte(b'[');
            self.raw(example);
            self.byte(b']');
        }
        if self.pending {
            self.pending = false;
            self.definitions();
        }
        self.byte(b'}');
    }

    /// The keywords of a schema and of its constraints, in an object begun at `start`.
    const fn constrained(&mut self, schema: &Schema, constraints: &Constraints, start: usize) {
        let (joined, rest) = constraints.join(schema);
        self.keywords(&joined, schema.is_nullable());
        self.bound(start, "minimum", rest.minimum);
        self.bound(start, "maximum", rest.maximum);
        self.bound(start, "exclusiveMinimum", rest.exclusive_minimum);
        self.bound(start, "exclusiveMaximum", rest.exclusive_maximum);
        self.count(start, "minLength", rest.min_length);
        self.count(start, "maxLength", rest.max_length);
        self.count(start, "minItems", rest.min_items);
        self.count(start, "maxItems", rest.max_items);
        if let Some(pattern) = rest.pattern {
            self.keyword(start, "pattern");
            self.string(pattern);
        }
    }

    /// `"keyword":`, after a comma if it is not the first in the object begun at `start`.
    const fn keyword(&mut self, start: usize, keyword: &str) {
        if self.length() > start {
            self.byte(b',');
        }
        self.string(keyword);
        self.byte(b':');
    }

    const fn bound(&mut self, start: usize, keyword: &str, bound: Option<Bound>) {
        match bound {
            Some(Bound::Integer(bound)) => {
                self.keyword(start, keyword);
                self.integer(bound);
            }
            Some(Bound::Float(_, text)) => {
                self.keyword(start, keyword);
                self.raw(text);
            }
            None => {}
        }
    }

    const fn count(&mut self, start: usize, keyword: &str, count: Option<u32>) {
        if let Some(count) = count {
            self.keyword(start, keyword);
            self.integer(count as i64);
        }
    }
}

/// Puts commas between the members of an object's `properties` and `required`.
pub(crate) struct Members {
    any: bool,
}

impl Members {
    pub(crate) const fn new() -> Self {
        Self { any: false }
    }

    const fn comma(&mut self, writer: &mut Writer<'_>) {
        if self.any {
            writer.byte(b',');
        }
        self.any = true;
    }

    /// `"name":{…}`.
    pub(crate) const fn property(&mut self, writer: &mut Writer<'_>, property: &Property) {
        self.comma(writer);
        writer.string(property.name);
        writer.byte(b':');
        writer.property(property);
    }

    /// `"name"` if the property is required.
    pub(crate) const fn required(&mut self, writer: &mut Writer<'_>, property: &Property) {
        if property.required {
            self.comma(writer);
            writer.string(property.name);
        }
    }
}

const fn wide(value: Option<u32>) -> Option<i64> {
    match value {
        Some(value) => Some(value as i64),
        None => None,
    }
}
