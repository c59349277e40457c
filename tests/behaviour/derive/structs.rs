//! Structs and the attributes of their fields.

use std::time::Duration;

use agent_core::{ToolDefinition, ToolSchema, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::schema;

const fn text(definition: &'static ToolDefinition) -> &'static str {
    match definition.input_schema().const_text() {
        Some(text) => text,
        None => "no constant",
    }
}

#[derive(Deserialize, ToolSchema)]
struct Guest {
    /// full name
    name: String,
    age: Option<u8>,
}

/// Book a table.
#[tool]
async fn book(
    /// how many
    seats: u8,
    g: Guest,
) -> String {
    format!("{seats} for {} ({:?})", g.name, g.age)
}

// A6, A9, sc-25
#[test]
fn the_text_of_a_tool_with_a_derived_parameter_is_a_constant() {
    const TEXT: &str = text(book::DEFINITION);

    assert_eq!(book::DEFINITION.description(), "Book a table.");
    assert_eq!(
        TEXT,
        concat!(
            r#"{"type":"object","properties":{"seats":{"type":"integer","minimum":0,"maximum":255,"description":"how many"},"#,
            r#""g":{"type":"object","properties":{"name":{"type":"string","description":"full name"},"#,
            r#""age":{"type":["integer","null"],"minimum":0,"maximum":255}},"required":["name"],"additionalProperties":false}},"#,
            r#""required":["seats","g"],"additionalProperties":false}"#,
        )
    );
}

#[tokio::test]
async fn a_derived_parameter_is_read_by_serde() {
    let told = crate::tool_macro::told(
        book::callback(),
        r#"{"seats":"2","g":{"name":"Ada","age":"36"}}"#,
    );

    assert_eq!(told.await, "2 for Ada (Some(36))");
}

/// Somewhere.
#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Place {
    x: f64,
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Trip {
    from: Place,
    /// Where it ends.
    to: Option<Place>,
    via: Vec<Place>,
}

// A6
#[test]
fn the_text_of_a_field_stands_before_that_of_its_type() {
    let schema = <Trip as ToolSchema>::SCHEMA.to_string();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();

    assert_eq!(schema["properties"]["from"]["description"], "Somewhere.");
    assert_eq!(schema["properties"]["to"]["description"], "Where it ends.");
    assert_eq!(
        schema["properties"]["via"]["items"]["description"],
        "Somewhere."
    );
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Celsius(f64);

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Perhaps(Option<bool>);

#[derive(Deserialize, ToolSchema)]
#[serde(transparent)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Maybe {
    inner: Option<bool>,
    #[serde(skip)]
    cached: Cached,
}

#[derive(Default)]
struct Cached;

#[derive(Deserialize, ToolSchema)]
struct Nothing;

#[test]
fn a_newtype_and_a_transparent_struct_are_what_they_hold() {
    assert_eq!(schema::<Celsius>(), r#"{"type":"number"}"#);
    assert_eq!(schema::<Perhaps>(), r#"{"type":["boolean","null"]}"#);
    assert_eq!(schema::<Maybe>(), r#"{"type":["boolean","null"]}"#);
    assert_eq!(schema::<Nothing>(), r#"{"type":"null"}"#);
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Holder {
    perhaps: Perhaps,
    maybe: Maybe,
}

// serde reads nothing for a missing field only if the type asks for an option itself.
#[test]
fn what_is_required_is_what_serde_misses() {
    const REQUIRED: [bool; 2] = [Perhaps::REQUIRED, Maybe::REQUIRED];

    assert_eq!(REQUIRED, [true, false]);
    assert!(schema::<Holder>().contains(r#""required":["perhaps"]"#));
    assert!(serde_json::from_value::<Holder>(json!({"perhaps": null})).is_ok());
    assert!(serde_json::from_value::<Holder>(json!({"maybe": true})).is_err());
}

#[derive(Deserialize, ToolSchema)]
#[serde(try_from = "Option<String>")]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Code(u32);

impl TryFrom<Option<String>> for Code {
    type Error = std::num::ParseIntError;

    fn try_from(text: Option<String>) -> Result<Self, Self::Error> {
        text.as_deref().unwrap_or("0").parse().map(Self)
    }
}

#[test]
fn a_type_read_from_another_has_the_schema_of_that() {
    const REQUIRED: [bool; 1] = [Code::REQUIRED];

    assert_eq!(schema::<Code>(), r#"{"type":["string","null"]}"#);
    assert_eq!(REQUIRED, [false]);
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_secs)
}

fn seven() -> u8 {
    7
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Foreign {
    word: String,
}

#[derive(Deserialize, ToolSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Everything {
    r#type: String,
    first_name: String,
    #[serde(rename = "id")]
    identifier: u32,
    #[serde(rename(serialize = "out", deserialize = "in"))]
    both: bool,
    #[serde(rename(serialize = "out"))]
    one_way: bool,
    #[serde(alias = "colour")]
    color: String,
    #[serde(default = "seven")]
    #[param(default = 7)]
    days: u8,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    #[serde(skip)]
    skipped: Cached,
    #[serde(skip_deserializing)]
    written: Cached,
    #[serde(skip_serializing)]
    read: char,
    #[serde(deserialize_with = "seconds")]
    #[param(like(Option<u64>))]
    wait: Duration,
    /// Not this.
    #[param(description = "This.")]
    told: (),
    _kept: bool,
}

// sc-24
#[test]
fn the_attributes_of_serde_are_those_of_the_schema() {
    assert_eq!(
        schema::<Everything>(),
        json!({
            "type": "object",
            "properties": {
                "type": {"type": "string"},
                "firstName": {"type": "string"},
                "id": {"type": "integer", "minimum": 0},
                "in": {"type": "boolean"},
                "oneWay": {"type": "boolean"},
                "color": {"type": "string"},
                "days": {"type": "integer", "minimum": 0, "maximum": 255, "default": 7},
                "tags": {"type": "array", "items": {"type": "string"}},
                "read": {"type": "string", "minLength": 1, "maxLength": 1},
                "wait": {"type": ["integer", "null"], "minimum": 0},
                "told": {"type": "null", "description": "This."},
                "kept": {"type": "boolean"},
            },
            "required": ["type", "firstName", "id", "in", "oneWay", "color", "read", "wait", "told", "kept"],
            "additionalProperties": false,
        })
        .to_string()
    );
}

#[derive(Deserialize, ToolSchema)]
#[serde(default)]
struct Settings {
    loud: bool,
    #[param(default = "en")]
    language: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            loud: true,
            language: "en".to_owned(),
        }
    }
}

#[test]
fn a_default_of_the_type_is_one_of_each_field() {
    assert_eq!(
        schema::<Settings>(),
        concat!(
            r#"{"type":"object","properties":{"loud":{"type":"boolean"},"language":{"type":"string","default":"en"}},"#,
            r#""required":[],"additionalProperties":false}"#,
        )
    );
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Mixed {
    #[param(schemars)]
    foreign: Foreign,
    #[param(schemars, description = "If any")]
    other: Option<Foreign>,
}

#[tool]
async fn mix(mixed: Mixed) {
    drop(mixed);
}

// A9
#[test]
fn a_field_of_schemars_joins_at_first_use() {
    assert_eq!(mix::DEFINITION.input_schema().const_text(), None);
    assert_eq!(
        mix::DEFINITION.input_schema().value(),
        json!({
            "type": "object",
            "$defs": {"Foreign": {
                "type": "object",
                "properties": {"word": {"type": "string"}},
                "required": ["word"],
                "additionalProperties": false,
            }},
            "properties": {"mixed": {
                "type": "object",
                "properties": {
                    "foreign": {"$ref": "#/$defs/Foreign"},
                    "other": {
                        "anyOf": [{"$ref": "#/$defs/Foreign"}, {"type": "null"}],
                        "description": "If any",
                    },
                },
                "required": ["foreign"],
                "additionalProperties": false,
            }},
            "required": ["mixed"],
            "additionalProperties": false,
        })
    );
}

#[derive(ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Page<T, const N: usize> {
    items: Vec<T>,
    first: [T; N],
}

#[test]
fn a_generic_type_has_a_schema_for_each_argument() {
    assert_eq!(
        schema::<Page<Celsius, 2>>(),
        concat!(
            r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"number"}},"#,
            r#""first":{"type":"array","items":{"type":"number"},"minItems":2,"maxItems":2}},"#,
            r#""required":["items","first"],"additionalProperties":false}"#,
        )
    );
}
