//! Which closures can be a tool, and what the model is told of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_core::schema::Schemars;
use agent_core::tool::{Effect, FunctionTool, ToolSetError};
use agent_core::{ToolCallback, ToolContext, ToolSet};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{City, error, output};

// A12, TE-7, CT-8, ct.7
#[tokio::test]
async fn every_form_of_closure_is_a_tool() {
    async fn named(city: City) -> String {
        city.city
    }
    let count = Arc::new(AtomicUsize::new(7));
    let captured = Arc::clone(&count);
    let tools = [
        (FunctionTool::new("a", "A.", async || 1), "1"),
        (FunctionTool::new("b", "B.", || async { 2 }), "2"),
        (
            FunctionTool::new("c", "C.", async |city: City| city.city),
            "Oslo",
        ),
        (
            FunctionTool::new("d", "D.", async |city: City, context: ToolContext| {
                format!("{} {}", city.city, context.tool_name().is_empty())
            }),
            "Oslo true",
        ),
        (
            FunctionTool::new("e", "E.", move |_: City| {
                let count = Arc::clone(&captured);
                async move { count.load(Ordering::Relaxed) }
            }),
            "7",
        ),
        (FunctionTool::new("f", "F.", named), "Oslo"),
        (FunctionTool::blocking("g", "G.", || "g"), "g"),
        (
            FunctionTool::blocking("h", "H.", |city: City| city.days),
            "null",
        ),
        (
            FunctionTool::blocking("i", "I.", |city: City, context: ToolContext| {
                context.check_cancelled().map(|()| city.city)
            }),
            "Oslo",
        ),
        (
            FunctionTool::blocking("j", "J.", |all: BTreeMap<String, String>| all),
            r#"{"city":"Oslo"}"#,
        ),
    ];

    for (tool, expected) in &tools {
        assert_eq!(output(tool, r#"{"city": "Oslo"}"#).await.text(), *expected);
    }
    let set = ToolSet::new(tools.map(|(tool, _)| tool)).unwrap();
    assert_eq!(set.names().collect::<String>(), "abcdefghij");
}

#[test]
fn the_schema_is_that_of_the_input() {
    let nothing = FunctionTool::new("nothing", "Nothing.", async || ());
    let city = FunctionTool::new("city", "A city.", async |_: City| ());

    // TE-7
    assert_eq!(
        nothing.definition().input_schema().text(),
        r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#
    );
    assert_eq!(city.definition().name(), "city");
    assert_eq!(city.definition().description(), "A city.");
    assert_eq!(
        city.definition().input_schema().text(),
        r#"{"type":"object","properties":{"city":{"type":"string","description":"City name"},"days":{"type":["integer","null"],"minimum":0,"maximum":255}},"required":["city"],"additionalProperties":false}"#
    );
}

#[tokio::test]
async fn a_schemars_type_is_wrapped() {
    #[derive(Deserialize, JsonSchema)]
    struct Node {
        name: String,
        #[serde(default)]
        children: Vec<Node>,
    }
    let tool = FunctionTool::new("tree", "A tree.", async |Schemars(root): Schemars<Node>| {
        format!("{} {}", root.name, root.children.len())
    });

    let schema = tool.definition().input_schema();
    // sc-07, sc-09
    assert_eq!(
        schema.text(),
        json!({
            "type": "object",
            "$defs": {"Node": schema.value()["$defs"]["Node"]},
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
            },
            "required": ["name"],
            "additionalProperties": false,
        })
        .to_string()
    );
    let arguments = r#"{"name": "a", "children": [{"name": "b"}]}"#;
    assert_eq!(output(&tool, arguments).await.text(), "a 1");
}

#[test]
fn an_input_that_is_no_object_is_refused_by_the_set() {
    let tool = FunctionTool::new("city", "A city.", async |_: String| ());

    let error = ToolSet::new(tool).unwrap_err();

    assert!(matches!(&error, ToolSetError::InputNotAnObject { name, .. } if name == "city"));
    assert_eq!(
        error.to_string(),
        "the input of tool `city` is no object, but of the type `string`: make it a struct or a map"
    );
}

// TE-5
#[tokio::test]
async fn a_wrong_input_is_told_to_the_model() {
    let tool = FunctionTool::new("city", "A city.", async |city: City| city.city);

    for (arguments, expected) in [
        (
            "",
            r#"Error: argument `city` is missing: expected a string; for example: "text""#,
        ),
        (
            "null",
            r#"Error: argument `city` is missing: expected a string; for example: "text""#,
        ),
        (
            r#"{"city": 7}"#,
            r#"Error: argument `city` does not fit its type: expected a string, got 7; for example: "text""#,
        ),
        (
            r#"{"city": "Oslo", "days": 300}"#,
            "Error: argument `days` does not fit its type: expected an integer from 0 to 255, got 300; for example: 1",
        ),
        (
            "[1]",
            r#"Error: the arguments are not a JSON object, got [1]; for example: {"city":"text"}"#,
        ),
        (
            r#"{"city": "Oslo", "city": "Rome"}"#,
            r#"Error: argument `city` is given twice; for example: {"city":"text"}"#,
        ),
    ] {
        assert_eq!(error(&tool, arguments).await, expected);
    }
}

#[tokio::test]
async fn an_input_with_one_reading_is_read() {
    let tool = FunctionTool::new("city", "A city.", async |city: City| city.days);

    for arguments in [
        r#"{"city": "Oslo", "days": "5"}"#,
        r#"{"city": "Oslo", "days": 5.0}"#,
        r#"{"city": "Oslo", "days": 5, "because": "of rain"}"#,
    ] {
        assert_eq!(output(&tool, arguments).await.text(), "5");
    }
}

// CT-8, ct.7
#[test]
fn what_a_tool_wants_is_set_like_a_key_of_the_macro() {
    let plain = FunctionTool::new("a", "A.", async || ());
    let tool = FunctionTool::blocking("b", "B.", || ())
        .timeout(Duration::from_secs(3))
        .effect(Effect::Pure)
        .max_parallel(2)
        .max_calls(4)
        .sequential(true)
        .approval(true)
        .return_direct(true);

    assert_eq!(plain.metadata().time_limit(), None);
    assert_eq!(plain.metadata().declared_effect(), Effect::Once);
    assert!(!plain.metadata().is_return_direct());
    assert!(!plain.metadata().is_blocking());
    assert_eq!(plain.metadata().call_limit(), None);
    assert!(!plain.metadata().is_sequential() && !plain.metadata().needs_approval());
    assert_eq!(tool.metadata().time_limit(), Some(Duration::from_secs(3)));
    assert_eq!(tool.metadata().declared_effect(), Effect::Pure);
    assert!(tool.metadata().is_return_direct());
    assert!(tool.metadata().is_blocking());
    assert_eq!(tool.metadata().concurrency_limit(), Some(2));
    assert_eq!(tool.metadata().call_limit(), Some(4));
    assert!(tool.metadata().is_sequential() && tool.metadata().needs_approval());
}

// TS-12, sc-29
#[test]
fn two_of_one_name_are_told_by_their_places() {
    let first = FunctionTool::new("search", "Local.", async || ());
    let second = FunctionTool::blocking("search", "Remote.", || ());
    let line = line!() - 1;

    assert_eq!(
        ToolSet::new([first, second]).unwrap_err().to_string(),
        format!(
            "two tools are named `search`: {file}:{} and {file}:{line}",
            line - 1,
            file = file!(),
        )
    );
}
