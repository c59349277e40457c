//! How arguments of derived types are read, and what a model is told where they do not fit.

#![expect(dead_code, reason = "what was read is shown by `Debug`")]

use agent_core::{ToolSchema, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::tool_macro::told;

#[derive(Debug, Deserialize, ToolSchema)]
#[serde(tag = "shape", rename_all = "lowercase")]
enum Drawing {
    Clear,
    Circle { radius: f64, times: u8 },
    Group { parts: Vec<Drawing> },
}

#[derive(Debug, Deserialize, ToolSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Now,
    At { hour: u8 },
}

#[derive(Debug, Deserialize, ToolSchema)]
#[serde(untagged)]
enum Id {
    Number(u8),
    Text(String),
}

#[derive(Debug, Deserialize, ToolSchema)]
struct Sized {
    #[serde(flatten)]
    size: Size,
    name: String,
}

#[derive(Debug, Deserialize, ToolSchema)]
struct Size {
    #[param(maximum = 10)]
    width: u8,
}

#[tool]
async fn draw(drawing: Drawing) -> String {
    format!("{drawing:?}")
}

#[tool]
async fn order(order: Order) -> String {
    format!("{order:?}")
}

#[tool]
async fn find(id: Id, count: u8) -> String {
    format!("{id:?} {count}")
}

#[tool]
async fn size(sized: Sized) -> String {
    format!("{} {}", sized.name, sized.size.width)
}

#[tokio::test]
async fn numbers_in_texts_are_read_in_the_variant_that_is_meant() {
    assert_eq!(
        told(
            draw::callback(),
            r#"{"drawing":{"shape":"group","parts":[{"shape":"circle","radius":"1.5","times":2.0}]}}"#
        )
        .await,
        "Group { parts: [Circle { radius: 1.5, times: 2 }] }"
    );
    assert_eq!(
        told(order::callback(), r#"{"order":{"at":{"hour":"7"}}}"#).await,
        "At { hour: 7 }"
    );
    assert_eq!(
        told(order::callback(), r#"{"order":"{\"at\":{\"hour\":7}}"}"#).await,
        "At { hour: 7 }"
    );
    assert_eq!(
        told(
            size::callback(),
            r#"{"sized":"{\"width\":\"3\",\"name\":\"a\"}"}"#
        )
        .await,
        "a 3"
    );
}

#[tokio::test]
async fn a_text_stays_a_text_where_it_may_be_one() {
    assert_eq!(
        told(find::callback(), r#"{"id":"5","count":"6"}"#).await,
        r#"Text("5") 6"#
    );
}

#[tokio::test]
async fn the_fault_is_told_at_its_place_in_the_variant_that_is_meant() {
    for (arguments, expected) in [
        (
            r#"{"drawing":{"shape":"group","parts":[{"shape":"circle","radius":"wide","times":1}]}}"#,
            r#"argument `drawing.parts[0].radius` does not fit its type: expected a number, got "wide""#,
        ),
        (
            r#"{"drawing":{"shape":"square"}}"#,
            r#"argument `drawing.shape` does not fit its type: expected one of "clear", "circle", "group", got "square""#,
        ),
        (
            r#"{"drawing":{"radius":1}}"#,
            "argument `drawing.shape` is missing",
        ),
        (
            r#"{"drawing":7}"#,
            "argument `drawing` does not fit its type: expected an object",
        ),
    ] {
        let told = told(draw::callback(), arguments).await;
        assert!(told.contains(expected), "{told}");
    }
    let told_of_order = told(order::callback(), r#"{"order":"later"}"#).await;
    assert!(
        told_of_order
            .contains(r#"expected one of "now" or an object with the key "at", got "later""#),
        "{told_of_order}"
    );
    let told_of_size = told(size::callback(), r#"{"sized":{"width":11,"name":"a"}}"#).await;
    assert!(
        told_of_size.contains(
            "argument `sized.width` does not fit its type: expected an integer from 0 to 10, got 11"
        ),
        "{told_of_size}"
    );
}

#[derive(Debug, Deserialize, ToolSchema)]
#[serde(untagged)]
enum Twin {
    One { left: Box<Twin>, right: u8 },
    Two { left: Box<Twin>, right: bool },
    End(u8),
}

#[tool]
async fn twins(twin: Twin) -> String {
    format!("{twin:?}")
}

// Each level doubles what could be tried.
#[tokio::test]
async fn a_deep_value_with_many_readings_is_refused_in_the_end() {
    let mut twin = r#"{"left":"x","right":"x"}"#.to_owned();
    for _ in 0..12 {
        twin = format!(r#"{{"left":{twin},"right":"x"}}"#);
    }

    let told = told(twins::callback(), &format!(r#"{{"twin":{twin}}}"#)).await;

    assert!(told.contains("argument `twin`"), "{told}");
}

#[derive(Deserialize, JsonSchema)]
struct Foreign {
    word: String,
}

#[derive(Deserialize, ToolSchema)]
struct Knot {
    #[param(schemars)]
    foreign: Foreign,
    #[param(maximum = 5)]
    count: u8,
    next: Option<Box<Knot>>,
}

#[tool]
async fn tie(knot: Knot, more: Knot) -> String {
    let next = knot.next.map_or(0, |next| next.count);
    format!("{} {} {next} {}", knot.foreign.word, knot.count, more.count)
}

// A7
#[tokio::test]
async fn a_type_that_holds_itself_can_hold_parts_of_schemars_and_bounds() {
    let schema = tie::DEFINITION.input_schema().value();

    assert_eq!(schema["properties"]["knot"]["$ref"], "#/$defs/Knot");
    assert_eq!(schema["properties"]["more"]["$ref"], "#/$defs/Knot");
    assert_eq!(
        schema["$defs"]["Knot"]["properties"]["foreign"]["$ref"],
        "#/$defs/Foreign"
    );
    assert_eq!(
        schema["$defs"].as_object().map(serde_json::Map::len),
        Some(2)
    );
    let one = |count: u8| {
        format!(
            r#"{{"foreign":{{"word":"a"}},"count":"1","next":{{"foreign":{{"word":"b"}},"count":{count}}}}}"#
        )
    };
    assert_eq!(
        told(
            tie::callback(),
            &format!(r#"{{"knot":{},"more":{}}}"#, one(2), one(3))
        )
        .await,
        "a 1 2 1"
    );
    let refused = told(
        tie::callback(),
        &format!(r#"{{"knot":{},"more":{}}}"#, one(6), one(3)),
    )
    .await;
    assert!(refused.contains("argument `knot.next.count`"), "{refused}");
}

#[derive(Debug, Deserialize, ToolSchema)]
struct Labelled {
    #[serde(flatten)]
    size: Size,
    #[serde(flatten)]
    labels: std::collections::BTreeMap<String, u8>,
}

#[tool(args, register = false)]
async fn label(labelled: Labelled) -> String {
    format!("{:?}", labelled.labels)
}

#[tokio::test]
async fn the_members_that_no_field_names_are_read_and_told_of_by_name() {
    assert_eq!(
        told(label::callback(), r#"{"width":"1","big":"3"}"#).await,
        r#"{"big": 3}"#
    );
    assert_eq!(
        told(label::callback(), r#"{"width":1,"big":"tall"}"#).await,
        "Error: argument `big` does not fit its type: expected an integer from 0 to 255, got \
         \"tall\"; for example: 1"
    );
}
