//! Schemas that `schemars` gives, inside ours.

use std::collections::HashMap;

use agent_core::{__private as P, ToolContext};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Place {
    /// Where.
    name: String,
    population: u64,
    properties: HashMap<String, f32>,
    inside: Option<Box<Place>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Extra {
    note: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Shape {
    Point { x: i32 },
    Noted(Extra),
}

// pitfall: references point nowhere
#[test]
fn definitions_sit_at_the_root_and_are_shared() {
    let definition = definition![
        P::Parameter::schemars::<Place>("from").described("Start"),
        P::Parameter::of::<u8>("days"),
        P::Parameter::schemars::<Option<Place>>("to"),
    ];

    assert_eq!(definition.input_schema().const_text(), None);
    assert_eq!(
        definition.input_schema().text(),
        json!({
            "type": "object",
            "$defs": {"Place": {
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Where."},
                    "population": {"type": "integer", "minimum": 0},
                    "properties": {
                        "type": "object",
                        "additionalProperties": {"type": "number"},
                    },
                    "inside": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]},
                },
                "required": ["name", "population", "properties"],
                "additionalProperties": false,
            }},
            "properties": {
                "from": {"$ref": "#/$defs/Place", "description": "Start"},
                "days": {"type": "integer", "minimum": 0, "maximum": 255},
                "to": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}]},
            },
            "required": ["from", "days"],
            "additionalProperties": false,
        })
        .to_string()
    );
}

#[test]
fn an_object_described_in_pieces_stays_open() {
    let value = definition![P::Parameter::schemars::<Shape>("shape")]
        .input_schema()
        .value();
    let branches = value["$defs"]["Shape"]["oneOf"].as_array().unwrap();

    assert_eq!(branches[0]["additionalProperties"], json!(false));
    assert_eq!(branches[1].get("additionalProperties"), None);
    assert_eq!(value["$defs"]["Extra"].get("additionalProperties"), None);
    assert_eq!(value["additionalProperties"], json!(false));
}

#[test]
fn arguments_are_read_by_serde() {
    let context = ToolContext::default();
    let arguments = r#"{"from": "{\"name\":\"Oslo\",\"population\":1,\"properties\":{}}"}"#;
    let mut reader = P::ArgumentReader::new(arguments, &context);

    let from = const { &P::typed_schemars::<Place>("from") }
        .take(&mut reader)
        .unwrap();
    let to = const { &P::typed_schemars::<Option<Place>>("to") }
        .take(&mut reader)
        .unwrap();
    let near = const { &P::typed_schemars::<Option<Place>>("near") }
        .take_or(&mut reader, || None)
        .unwrap();
    assert_eq!(from.name, "Oslo");
    assert!(to.is_none() && near.is_none());

    let via = const { &P::typed_schemars::<Place>("via") }.take(&mut reader);
    assert!(via.is_none());
    assert_eq!(
        reader.into_error().to_string(),
        concat!(
            "argument `via` is missing: expected a value; ",
            r#"for example: {"name":"text","population":1,"properties":{"key":1}}"#,
        )
    );
}

#[test]
fn a_definition_that_nothing_leads_to_is_left_out() {
    #[derive(Debug, Deserialize, agent_core::ToolSchema)]
    struct Whole {
        #[param(schemars)]
        extra: Extra,
    }

    #[agent_core::tool(args, schemars, register = false)]
    fn note(extra: Extra) -> String {
        extra.note
    }
    #[agent_core::tool(args, register = false)]
    fn note_inside(whole: Whole) -> String {
        whole.extra.note
    }

    let root = note::DEFINITION.input_schema().value();
    assert_eq!(root.get("$defs"), None);
    assert_eq!(root["required"], json!(["note"]));
    let inside = note_inside::DEFINITION.input_schema().value();
    assert_eq!(
        inside["properties"]["extra"],
        json!({"$ref": "#/$defs/Extra"})
    );
    assert!(inside["$defs"]["Extra"].is_object());
}
