//! Schema → the keywords of JSON Schema, as `const fn`. Provider quirks are not here.

use super::same::all_same;
use super::{Property, Schema, Writer};

impl Writer<'_> {
    pub(crate) const fn schema(&mut self, schema: &Schema) {
        self.annotated(schema, None, None);
    }

    /// A schema that stands alone, with the definitions it refers to.
    pub(crate) const fn document(&mut self, schema: &Schema) {
        self.gather(schema);
        self.pending = !self.definitions.is_empty();
        match schema {
            // No provider takes a reference at the root.
            Schema::Def(_, body) => {
                self.scope = 0;
                self.annotated(body, None, None);
            }
            schema => self.annotated(schema, None, None),
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

    /// The schema of a property: keywords, then description, then default.
    pub(crate) const fn property(&mut self, property: &Property) {
        self.annotated(property.schema, property.description, property.default);
    }

    const fn annotated(
        &mut self,
        schema: &Schema,
        description: Option<&str>,
        default: Option<&str>,
    ) {
        self.byte(b'{');
        let start = self.length();
        self.keywords(schema, false);
        let description = match description {
            None => schema.description(),
            description => description,
        };
        if let Some(description) = description {
            if self.length() > start {
                self.byte(b',');
            }
            self.raw("\"description\":");
            self.string(description);
        }
        if let Some(default) = default {
            if self.length() > start {
                self.byte(b',');
            }
            self.raw("\"default\":");
            self.raw(default);
        }
        if self.pending {
            self.pending = false;
            self.definitions();
        }
        self.byte(b'}');
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
