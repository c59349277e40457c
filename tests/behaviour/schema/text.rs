//! The text of a schema, pinned to the byte.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;

use agent_core::__private as P;
use agent_core::schema::Schema;
use agent_core::{ToolContext, ToolDefinition, ToolSchema};
use serde_json::{Value, json};

fn schema_of<T: ToolSchema>() -> String {
    T::SCHEMA.to_string()
}

#[test]
fn the_text_of_a_tool_is_a_constant() {
    const DEFINITION: &ToolDefinition = definition![
        P::Parameter::of::<<str as ToOwned>::Owned>("city").described("City name"),
        P::Parameter::of::<Option<u8>>("days"),
        P::Parameter::of::<ToolContext>("context"),
    ];
    const TEXT: &str = match DEFINITION.input_schema().const_text() {
        Some(text) => text,
        None => "",
    };

    assert_eq!(
        TEXT,
        r#"{"type":"object","properties":{"city":{"type":"string","description":"City name"},"days":{"type":["integer","null"],"minimum":0,"maximum":255}},"required":["city"],"additionalProperties":false}"#
    );
    assert_eq!(DEFINITION.input_schema().text(), TEXT);
    assert_eq!(DEFINITION.input_schema().value().to_string(), TEXT);
}

#[test]
fn no_parameters_are_an_empty_object() {
    // sc-01
    assert_eq!(
        definition![].input_schema().text(),
        r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#
    );
}

#[test]
fn a_property_has_keywords_then_description_then_default() {
    let definition = definition![
        P::Parameter::of::<u8>("days")
            .described("Days ahead")
            .with_default(Some("1")),
        P::Parameter::of::<String>("unit").with_default(None),
        P::Parameter::of::<Value>("any").described("Any \"thing\"\n\u{1}é"),
    ];

    assert_eq!(
        definition.input_schema().const_text(),
        Some(
            r#"{"type":"object","properties":{"days":{"type":"integer","minimum":0,"maximum":255,"description":"Days ahead","default":1},"unit":{"type":"string"},"any":{"description":"Any \"thing\"\n\u0001é"}},"required":["any"],"additionalProperties":false}"#
        )
    );
    assert_eq!(
        definition.input_schema().value().to_string(),
        definition.input_schema().text()
    );
}

#[test]
fn properties_are_named_like_keywords_and_stay_properties() {
    // sc-24, js.22 and TS-5
    assert_eq!(
        definition![
            P::Parameter::of::<String>("type"),
            P::Parameter::of::<HashMap<String, u32>>("properties"),
        ]
        .input_schema()
        .value(),
        json!({
            "type": "object",
            "properties": {
                "type": {"type": "string"},
                "properties": {
                    "type": "object",
                    "additionalProperties": {"type": "integer", "minimum": 0},
                },
            },
            "required": ["type", "properties"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn types_of_std_have_a_text() {
    let texts = [
        (schema_of::<bool>(), r#"{"type":"boolean"}"#),
        // sc-18
        (
            schema_of::<u8>(),
            r#"{"type":"integer","minimum":0,"maximum":255}"#,
        ),
        (
            schema_of::<i8>(),
            r#"{"type":"integer","minimum":-128,"maximum":127}"#,
        ),
        (
            schema_of::<u16>(),
            r#"{"type":"integer","minimum":0,"maximum":65535}"#,
        ),
        (schema_of::<u32>(), r#"{"type":"integer","minimum":0}"#),
        (schema_of::<usize>(), r#"{"type":"integer","minimum":0}"#),
        (schema_of::<i64>(), r#"{"type":"integer"}"#),
        (schema_of::<f32>(), r#"{"type":"number"}"#),
        (
            schema_of::<char>(),
            r#"{"type":"string","minLength":1,"maxLength":1}"#,
        ),
        (schema_of::<Cow<'static, str>>(), r#"{"type":"string"}"#),
        (schema_of::<Box<str>>(), r#"{"type":"string"}"#),
        (schema_of::<PathBuf>(), r#"{"type":"string"}"#),
        (schema_of::<()>(), r#"{"type":"null"}"#),
        (schema_of::<Value>(), "{}"),
        (schema_of::<Option<Value>>(), "{}"),
        (
            schema_of::<Option<Option<bool>>>(),
            r#"{"type":["boolean","null"]}"#,
        ),
        (
            schema_of::<Vec<String>>(),
            r#"{"type":"array","items":{"type":"string"}}"#,
        ),
        (
            schema_of::<VecDeque<bool>>(),
            r#"{"type":"array","items":{"type":"boolean"}}"#,
        ),
        (
            schema_of::<BTreeSet<char>>(),
            r#"{"type":"array","items":{"type":"string","minLength":1,"maxLength":1},"uniqueItems":true}"#,
        ),
        (
            schema_of::<Option<[f64; 3]>>(),
            r#"{"type":["array","null"],"items":{"type":"number"},"minItems":3,"maxItems":3}"#,
        ),
        // sc-16
        (
            schema_of::<(u32, u32)>(),
            r#"{"type":"array","items":{"type":"integer","minimum":0},"minItems":2,"maxItems":2}"#,
        ),
        (
            schema_of::<(bool, Option<f64>)>(),
            r#"{"type":"array","prefixItems":[{"type":"boolean"},{"type":["number","null"]}],"minItems":2,"maxItems":2}"#,
        ),
        // sc-15
        (
            schema_of::<Option<BTreeMap<String, bool>>>(),
            r#"{"type":["object","null"],"additionalProperties":{"type":"boolean"}}"#,
        ),
    ];

    for (text, expected) in texts {
        assert_eq!(text, expected);
    }
}

#[test]
fn a_nullable_enum_lists_null() {
    const SIDE: Schema = Schema::Nullable(&Schema::Enum(&["left", "right"]));

    assert_eq!(
        SIDE.to_string(),
        r#"{"type":["string","null"],"enum":["left","right",null]}"#
    );
}
