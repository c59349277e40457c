//! Enums whose variants hold something, in each of serde's forms, and what is flattened.

use std::collections::BTreeMap;

use agent_core::ToolSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::value;

/// The schema of an object with these properties.
fn object(properties: impl Into<Value>, required: &[&str]) -> Value {
    let properties = properties.into();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn text(value: &str) -> Value {
    json!({"type": "string", "enum": [value]})
}

macro_rules! drawings {
    ($($module:ident $(#[$attribute:meta])*;)*) => {$(
        mod $module {
            use agent_core::ToolSchema;
            use serde::Deserialize;

            #[derive(Debug, Deserialize, ToolSchema)]
            #[expect(dead_code, reason = "it is enough that it can be read")]
            pub(super) struct Circle {
                radius: f64,
            }

            /// What to draw.
            #[derive(Debug, Deserialize, ToolSchema)]
            $(#[$attribute])*
            #[serde(rename_all = "lowercase", rename_all_fields = "camelCase")]
            #[expect(dead_code, reason = "it is enough that it can be read")]
            pub(super) enum Drawing {
                /// Nothing at all
                Clear,
                Undo,
                /// A circle
                Circle(Circle),
                Line {
                    /// Where to
                    end_x: f64,
                    #[serde(default)]
                    width: u8,
                },
            }
        }
    )*};
}

drawings! {
    external;
    internal #[serde(tag = "shape")];
    adjacent #[serde(tag = "shape", content = "with")];
}

fn line() -> Value {
    json!({
        "endX": {"type": "number", "description": "Where to"},
        "width": {"type": "integer", "minimum": 0, "maximum": 255},
    })
}

#[test]
fn the_name_of_a_variant_is_the_key_of_what_it_holds() {
    let mut circle = object(
        json!({"circle": object(json!({"radius": {"type": "number"}}), &["radius"])}),
        &["circle"],
    );
    circle["description"] = "A circle".into();

    assert_eq!(
        value::<external::Drawing>(),
        json!({
            "anyOf": [
                {"type": "string", "enum": ["clear", "undo"], "description": "- `clear`: Nothing at all"},
                circle,
                object(json!({"line": object(line(), &["endX"])}), &["line"]),
            ],
            "description": "What to draw.",
        })
    );
}

#[test]
fn a_tag_stands_among_the_fields() {
    let clear = json!({"type": "string", "enum": ["clear", "undo"], "description": "- `clear`: Nothing at all"});
    let mut circle = object(
        json!({"shape": text("circle"), "radius": {"type": "number"}}),
        &["shape", "radius"],
    );
    circle["description"] = "A circle".into();
    let mut properties = json!({"shape": text("line")});
    properties
        .as_object_mut()
        .unwrap()
        .extend(line().as_object().unwrap().clone());

    assert_eq!(
        value::<internal::Drawing>(),
        json!({
            "anyOf": [
                object(json!({"shape": clear}), &["shape"]),
                circle,
                object(properties, &["shape", "endX"]),
            ],
            "description": "What to draw.",
        })
    );
}

#[test]
fn a_tag_stands_beside_the_content() {
    let clear = json!({"type": "string", "enum": ["clear", "undo"], "description": "- `clear`: Nothing at all"});
    let circle = object(json!({"radius": {"type": "number"}}), &["radius"]);
    let mut circle = object(
        json!({"shape": text("circle"), "with": circle}),
        &["shape", "with"],
    );
    circle["description"] = "A circle".into();

    assert_eq!(
        value::<adjacent::Drawing>(),
        json!({
            "anyOf": [
                object(json!({"shape": clear}), &["shape"]),
                circle,
                object(
                    json!({"shape": text("line"), "with": object(line(), &["endX"])}),
                    &["shape", "with"]
                ),
            ],
            "description": "What to draw.",
        })
    );
}

#[derive(Deserialize, ToolSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Id {
    Number(u32),
    Text(String),
    Pair(u8, bool),
    Named { name: String },
    None,
}

#[test]
fn variants_without_a_tag_are_what_they_hold() {
    assert_eq!(
        value::<Option<Id>>(),
        json!({"anyOf": [
            {"type": "integer", "minimum": 0},
            {"type": "string"},
            {
                "type": "array",
                "prefixItems": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "boolean"}],
                "minItems": 2,
                "maxItems": 2,
            },
            object(json!({"name": {"type": "string"}}), &["name"]),
            {"type": "null"},
            {"type": "null"},
        ]})
    );
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Mostly {
    Known,
    #[serde(untagged)]
    Else(String),
}

#[test]
fn a_single_variant_can_be_without_a_tag() {
    assert_eq!(
        value::<Mostly>(),
        json!({"anyOf": [{"type": "string", "enum": ["Known"]}, {"type": "string"}]})
    );
}

#[derive(Deserialize, ToolSchema)]
#[serde(tag = "kind")]
enum Level {
    Low,
    High,
}

#[derive(Deserialize, ToolSchema)]
#[serde(tag = "kind", content = "value")]
#[expect(dead_code, reason = "only its schema is looked at")]
enum Setting {
    Volume(Option<u8>),
}

#[test]
fn a_tag_is_there_also_where_nothing_else_is() {
    assert_eq!(
        value::<Level>(),
        object(
            json!({"kind": {"type": "string", "enum": ["Low", "High"]}}),
            &["kind"]
        )
    );
    // serde takes a content left out for an option.
    assert_eq!(
        value::<Setting>(),
        object(
            json!({
                "kind": text("Volume"),
                "value": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
            }),
            &["kind"]
        )
    );
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Paging {
    page: u32,
    size: Option<u8>,
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Query {
    text: String,
    #[serde(flatten)]
    paging: Paging,
    #[serde(flatten)]
    order: Option<Order>,
    exact: bool,
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Order {
    by: String,
}

#[test]
fn the_members_of_a_flattened_field_stand_in_its_place() {
    assert_eq!(
        value::<Query>().to_string(),
        object(
            json!({
                "text": {"type": "string"},
                "page": {"type": "integer", "minimum": 0},
                "size": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
                "by": {"type": "string"},
                "exact": {"type": "boolean"},
            }),
            &["text", "page", "exact"]
        )
        .to_string()
    );
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Header {
    name: String,
    #[serde(flatten)]
    others: BTreeMap<String, u8>,
}

#[derive(Deserialize, ToolSchema)]
#[param(open)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Open {
    name: String,
}

// A4
#[test]
fn a_flattened_map_and_an_open_struct_take_other_members() {
    assert_eq!(
        value::<Header>(),
        json!({
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
            "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 255},
        })
    );
    assert_eq!(
        value::<Open>(),
        json!({
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        })
    );
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only its schema is looked at")]
struct Event {
    at: u64,
    #[serde(flatten)]
    level: Level,
    #[serde(flatten)]
    drawing: internal::Drawing,
}

#[test]
fn a_flattened_choice_is_a_choice_of_the_whole() {
    let schema = value::<Event>();
    let branches = schema["anyOf"].as_array().unwrap();

    assert_eq!(branches.len(), 3);
    for (branch, required) in branches.iter().zip([
        json!(["at", "kind", "shape"]),
        json!(["at", "kind", "shape", "radius"]),
        json!(["at", "kind", "shape", "endX"]),
    ]) {
        assert_eq!(branch["required"], required);
        assert_eq!(branch["additionalProperties"], json!(false));
    }
}
