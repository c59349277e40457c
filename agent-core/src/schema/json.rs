//! Schema → JSON text, as `const fn`.
//!
//! The text is written twice by the same code: once into no bytes at all, which gives its
//! length, then into an array of that length.

use super::{Property, Schema};

/// Writes JSON into `bytes` and counts what it wrote, also beyond their end.
pub(crate) struct Writer<'a> {
    bytes: &'a mut [u8],
    length: usize,
    parts: usize,
}

impl<'a> Writer<'a> {
    /// The key that stands for the n-th `schemars` part, in order of writing.
    pub(crate) const PART: &'static str = "$part";

    pub(crate) const fn new(bytes: &'a mut [u8]) -> Self {
        Self {
            bytes,
            length: 0,
            parts: 0,
        }
    }

    /// What `write` writes, as text at run time.
    pub(crate) fn text_of(write: impl Fn(&mut Writer<'_>)) -> String {
        let mut measure = Writer::new(&mut []);
        write(&mut measure);
        let mut bytes = vec![0; measure.length];
        write(&mut Writer::new(&mut bytes));
        // Only whole `str`s and ASCII were written, so nothing is lost.
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The number of bytes written so far.
    pub(crate) const fn length(&self) -> usize {
        self.length
    }

    const fn byte(&mut self, byte: u8) {
        if self.length < self.bytes.len() {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    pub(crate) const fn raw(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            self.byte(bytes[index]);
            index += 1;
        }
    }

    /// `text` in quotes, escaped as RFC 8259 asks and no further.
    pub(crate) const fn string(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut index = 0;
        self.byte(b'"');
        while index < bytes.len() {
            match bytes[index] {
                b'"' => self.raw("\\\""),
                b'\\' => self.raw("\\\\"),
                b'\n' => self.raw("\\n"),
                b'\r' => self.raw("\\r"),
                b'\t' => self.raw("\\t"),
                0x08 => self.raw("\\b"),
                0x0c => self.raw("\\f"),
                control @ 0..=0x1f => {
                    self.raw("\\u00");
                    self.byte(b'0' + (control >> 4));
                    self.byte(b"0123456789abcdef"[(control & 0xf) as usize]);
                }
                byte => self.byte(byte),
            }
            index += 1;
        }
        self.byte(b'"');
    }

    const fn integer(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        let value = value.unsigned_abs();
        let mut power = 1;
        while value / power >= 10 {
            power *= 10;
        }
        while power > 0 {
            self.byte(b'0' + ((value / power) % 10) as u8);
            power /= 10;
        }
    }

    /// `,"keyword":value` if there is a value.
    const fn number(&mut self, keyword: &str, value: Option<i64>) {
        if let Some(value) = value {
            self.byte(b',');
            self.string(keyword);
            self.byte(b':');
            self.integer(value);
        }
    }

    pub(crate) const fn schema(&mut self, schema: &Schema) {
        self.byte(b'{');
        self.keywords(schema, false);
        self.byte(b'}');
    }

    const fn kind(&mut self, name: &str, nullable: bool) {
        self.raw("\"type\":");
        if nullable {
            self.byte(b'[');
        }
        self.string(name);
        if nullable {
            self.raw(",\"null\"]");
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
            Schema::Schemars(_) if nullable => {
                self.raw("\"anyOf\":[{");
                self.part();
                self.raw("},{\"type\":\"null\"}]");
            }
            Schema::Schemars(_) => self.part(),
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

    const fn part(&mut self) {
        self.string(Self::PART);
        self.byte(b':');
        self.integer(self.parts as i64);
        self.parts += 1;
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
        self.byte(b'{');
        let start = self.length;
        self.keywords(property.schema, false);
        if let Some(description) = property.description {
            if self.length > start {
                self.byte(b',');
            }
            self.raw("\"description\":");
            self.string(description);
        }
        if let Some(default) = property.default {
            if self.length > start {
                self.byte(b',');
            }
            self.raw("\"default\":");
            self.raw(default);
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

/// True if all places are written alike; only for scalars, where that is cheap to see.
const fn all_same(places: &[&Schema]) -> bool {
    let mut index = 1;
    while index < places.len() {
        if !same(places[0], places[index]) {
            return false;
        }
        index += 1;
    }
    true
}

const fn same(left: &Schema, right: &Schema) -> bool {
    match (left, right) {
        (Schema::Any, Schema::Any)
        | (Schema::Boolean, Schema::Boolean)
        | (Schema::Number, Schema::Number)
        | (
            Schema::String {
                min_length: None,
                max_length: None,
            },
            Schema::String {
                min_length: None,
                max_length: None,
            },
        ) => true,
        (
            Schema::Integer { minimum, maximum },
            Schema::Integer {
                minimum: other_minimum,
                maximum: other_maximum,
            },
        ) => equal(*minimum, *other_minimum) && equal(*maximum, *other_maximum),
        (Schema::Nullable(left), Schema::Nullable(right))
        | (Schema::Map(left), Schema::Map(right)) => same(left, right),
        _ => false,
    }
}

const fn equal(left: Option<i64>, right: Option<i64>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => left == right,
        (None, None) => true,
        _ => false,
    }
}
