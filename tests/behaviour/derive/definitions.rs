//! The definitions that `schemars` gives, at the root of the whole.

use agent_core::{ToolSchema, tool};
use serde::Deserialize;
use serde_json::{Value, json};

mod peer_a {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(super) struct Filter {
        pub(super) label: String,
        pub(super) children: Vec<Filter>,
    }
}

mod peer_b {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(super) struct Filter {
        pub(super) code: u32,
        pub(super) children: Vec<Filter>,
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(super) struct Wrapper {
        pub(super) filters: Vec<Filter>,
        pub(super) nested: Vec<Wrapper>,
    }
}

#[derive(Deserialize, ToolSchema)]
struct Filter {
    own: bool,
    inside: Option<Box<Filter>>,
}

#[tool(schemars)]
async fn search(a: peer_a::Filter, b: peer_b::Wrapper, again: Vec<peer_b::Filter>) -> usize {
    let a = a.label.len() + a.children.len();
    let code = |filter: &peer_b::Filter| filter.code as usize + filter.children.len();
    let b = b.filters.iter().map(code).sum::<usize>() + b.nested.len();
    a + b + again.len()
}

// A7, TS-9
#[test]
fn equal_definitions_are_shared_and_others_renamed() {
    let schema = search::DEFINITION.input_schema().value();

    let definitions = schema["$defs"].as_object().unwrap();
    let mut names: Vec<&String> = definitions.keys().collect();
    names.sort();
    assert_eq!(names, ["Filter", "Filter_2", "Wrapper"]);
    for (path, target) in [
        ("/properties/a/$ref", "#/$defs/Filter"),
        (
            "/$defs/Filter/properties/children/items/$ref",
            "#/$defs/Filter",
        ),
        ("/properties/b/$ref", "#/$defs/Wrapper"),
        (
            "/$defs/Wrapper/properties/filters/items/$ref",
            "#/$defs/Filter_2",
        ),
        (
            "/$defs/Wrapper/properties/nested/items/$ref",
            "#/$defs/Wrapper",
        ),
        (
            "/$defs/Filter_2/properties/children/items/$ref",
            "#/$defs/Filter_2",
        ),
        ("/properties/again/items/$ref", "#/$defs/Filter_2"),
    ] {
        assert_eq!(schema.pointer(path), Some(&json!(target)), "{path}");
    }
    assert!(schema.pointer("/$defs/Filter/properties/label").is_some());
    assert!(schema.pointer("/$defs/Filter_2/properties/code").is_some());
}

#[tool]
async fn mix(own: Filter, #[param(schemars)] other: peer_a::Filter) -> usize {
    let inside = own.inside.is_some_and(|inside| inside.own);
    usize::from(own.own) + usize::from(inside) + other.label.len() + other.children.len()
}

// A7, TS-9
#[test]
fn a_definition_of_ours_and_one_of_schemars_stand_side_by_side() {
    let schema = mix::DEFINITION.input_schema().value();

    assert_eq!(schema["properties"]["own"]["$ref"], "#/$defs/Filter");
    assert_eq!(schema["properties"]["other"]["$ref"], "#/$defs/Filter_2");
    assert!(schema.pointer("/$defs/Filter/properties/own").is_some());
    assert!(schema.pointer("/$defs/Filter_2/properties/label").is_some());
}

// A4, A8, TS-5
#[test]
fn definitions_are_closed_and_without_formats_of_rust() {
    fn check(schema: &Value) {
        match schema {
            Value::Object(members) => {
                assert_eq!(members.get("format"), None, "{schema}");
                if members.get("properties").is_some_and(Value::is_object) {
                    assert_eq!(members["additionalProperties"], json!(false), "{schema}");
                }
                members.values().for_each(check);
            }
            Value::Array(items) => items.iter().for_each(check),
            _ => {}
        }
    }

    check(&search::DEFINITION.input_schema().value());
    check(&mix::DEFINITION.input_schema().value());
}

#[derive(Deserialize, ToolSchema)]
#[param(open)]
struct Loose {
    own: bool,
}

#[tool]
async fn loosen(one: Loose, maybe: Option<Loose>, all: Vec<Loose>) -> usize {
    usize::from(one.own || maybe.is_some()) + all.len()
}

// A4
#[test]
fn what_is_sent_of_an_open_type_is_as_open_as_its_text() {
    let input = loosen::DEFINITION.input_schema();
    let text: Value = serde_json::from_str(input.text()).expect("the text is JSON");

    assert_eq!(input.value(), text);
    for path in [
        "/properties/one",
        "/properties/maybe",
        "/properties/all/items",
    ] {
        let sent = &input.in_dialect(agent_core::schema::Dialect::OpenAi).schema;
        let part = sent.pointer(path).expect("it is there");
        assert_eq!(part.get("additionalProperties"), None, "{path}");
    }
}
