//! The reference's cases of arguments and results.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Barrier;
use std::thread;

use agent_core::message::{ContentPart, Image};
use agent_core::schema::Dialect;
use agent_core::tool::{FunctionTool, ToolErrorKind, ToolOutcome};
use agent_core::{ToolCallback as _, ToolContext, tool, tools};
use serde::Serialize;
use serde_json::{Value, json};

use super::{called, told};

#[tool(register = false)]
async fn no_text() -> Option<String> {
    None
}

#[derive(Serialize)]
struct Test {
    name: &'static str,
    value: u8,
}

#[tool(register = false)]
async fn object() -> Test {
    Test {
        name: "test",
        value: 42,
    }
}

#[tool(register = false)]
async fn list() -> Vec<&'static str> {
    vec!["one", "two", "three"]
}

#[tool(register = false)]
async fn empty_list() -> Vec<String> {
    Vec::new()
}

// rc.1, rc.1.2, rc.1.4, rc.1.5, TE-1, A10
#[tokio::test]
async fn a_value_is_told_as_its_json() {
    for (tool, expected) in [
        (no_text::callback(), "null"),
        (object::callback(), r#"{"name":"test","value":42}"#),
        (list::callback(), r#"["one","two","three"]"#),
        (empty_list::callback(), "[]"),
    ] {
        assert_eq!(told(tool, "").await, expected);
    }
}

#[tool(register = false)]
async fn no_number() -> [f64; 2] {
    [f64::NAN, f64::INFINITY]
}

// A10
#[tokio::test]
async fn a_float_that_is_no_number_is_null() {
    assert_eq!(told(no_number::callback(), "").await, "[null,null]");
}

#[tool(register = false)]
async fn number_first() -> &'static str {
    "3 strings processed: a, b, c"
}

#[tool(register = false)]
async fn json_text() -> &'static str {
    r#"{"already": "json"}"#
}

#[tool(register = false)]
async fn quotes() -> &'static str {
    r#"she said "yes""#
}

// TE-1, TE-2: a text is told as it is, whatever it looks like
#[tokio::test]
async fn a_text_is_told_word_for_word() {
    for (tool, expected) in [
        (number_first::callback(), "3 strings processed: a, b, c"),
        (json_text::callback(), r#"{"already": "json"}"#),
        (quotes::callback(), r#"she said "yes""#),
    ] {
        assert_eq!(told(tool, "").await, expected);
    }
}

#[tool(register = false)]
async fn picture() -> Image {
    Image::new("image/png", [0_u8; 64])
}

// rc.1.10, TE-1
#[tokio::test]
async fn a_picture_is_a_part_and_its_base64_a_value() {
    let Ok(ToolOutcome::Done(output)) = called(picture::callback(), "").await else {
        panic!("no output");
    };

    assert!(matches!(output.content(), [ContentPart::Image(_)]));
    let value = output.value().unwrap();
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["mimeType", "data"]);
    assert_eq!(value["mimeType"], "image/png");
}

#[tool(register = false)]
async fn takes_maps(#[param(rename = "listOfMaps")] maps: Vec<BTreeMap<String, i32>>) -> Value {
    json!(maps)
}

#[tool(register = false)]
async fn takes_texts(strings: Vec<String>) -> usize {
    strings.len()
}

#[tool(register = false)]
async fn takes_a_number(n: i32) -> i32 {
    n
}

#[tool(register = false)]
async fn takes_a_large_number(n: i64) -> i64 {
    n
}

#[tool(register = false)]
async fn takes_nothing() -> &'static str {
    "called"
}

// ar.3
#[tokio::test]
async fn maps_in_a_list_are_read() {
    let arguments = r#"{"listOfMaps":[{"a":1,"b":2},{"c":3,"d":4}]}"#;

    let text = told(takes_maps::callback(), arguments).await;

    assert_eq!(text, r#"[{"a":1,"b":2},{"c":3,"d":4}]"#);
}

// ar.5
#[tokio::test]
async fn what_is_no_json_is_an_error_of_the_call() {
    let error = called(takes_texts::callback(), "nill").await.unwrap_err();

    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
}

// ar.6, TE-3
#[tokio::test]
async fn a_number_in_quotes_is_a_number() {
    assert_eq!(told(takes_a_number::callback(), r#"{"n":"1"}"#).await, "1");
    let large = told(takes_a_large_number::callback(), r#"{"n":"1.5E7"}"#).await;
    assert_eq!(large, "15000000");
}

// ar.8
#[tokio::test]
async fn what_is_no_json_is_the_same_error_of_a_closure() {
    let closure = FunctionTool::new("echo", "Echoes.", async |all: BTreeMap<String, i32>| all);

    let error = closure
        .call("nill", &ToolContext::default())
        .await
        .unwrap_err();

    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
}

// ar.7.2, ar.7.3
#[tokio::test]
async fn no_text_at_all_is_no_arguments() {
    for arguments in ["", " ", "null", "{}"] {
        assert_eq!(told(takes_nothing::callback(), arguments).await, "called");
    }
}

// TS-10
// js.7, A8; `additionalProperties` is not sent: the form that wants upper case does not know it
#[test]
fn type_names_can_be_in_upper_case() {
    #[tool(register = false)]
    async fn person(name: String, age: i32) -> String {
        format!("{name} {age}")
    }

    let set = agent_core::ToolSet::new(tools![person]).unwrap();
    let schema = set.iter().next().unwrap().definition().input_schema();
    let upper = schema.in_dialect(Dialect::UpperCase);

    let expected = json!({
        "type": "OBJECT",
        "properties": {"name": {"type": "STRING"}, "age": {"type": "INTEGER"}},
        "required": ["name", "age"],
    });
    let upper: Value = serde_json::from_str(&upper.text).unwrap();
    assert_eq!(upper, expected);
}

// TS-10, js.25
#[test]
fn many_threads_make_the_same_schema() {
    #[tool(register = false)]
    async fn person(#[param(schemars)] names: BTreeMap<String, i32>) -> usize {
        names.len()
    }
    const THREADS: usize = 12;
    let start = Barrier::new(THREADS);
    let texts = || {
        start.wait();
        let text = |_| {
            let schema = person::DEFINITION.input_schema();
            let upper = schema.in_dialect(Dialect::UpperCase);
            format!("{} {}", schema.text(), upper.text)
        };
        (0..20).map(text).collect::<BTreeSet<String>>()
    };

    let all: BTreeSet<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(texts)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });

    assert_eq!(all.len(), 1, "{all:?}");
}
