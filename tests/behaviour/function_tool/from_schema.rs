//! Tools of a JSON Schema known only at run time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::schema::SchemaError;
use agent_core::tool::FunctionTool;
use agent_core::{ReactAgent, ToolCallback, ToolContext};
use agent_tests::runs::results;
use serde_json::{Value, json};

use super::{City, error, output};

fn made(schema: Value) -> Result<FunctionTool, SchemaError> {
    FunctionTool::from_schema("tool", "A tool.", schema, async |input: Value| input)
}

fn faults(schema: Value) -> Vec<(String, String)> {
    let error = made(schema).unwrap_err();
    let fault =
        |fault: &agent_core::schema::SchemaFault| (fault.pointer.clone(), fault.problem.clone());
    error.faults().iter().map(fault).collect()
}

/// The one fault of a schema whose property `a` is this.
fn fault_of_property(schema: &Value) -> (String, String) {
    let mut faults = faults(json!({"type": "object", "properties": {"a": schema}}));
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.remove(0)
}

// A12
#[tokio::test]
async fn the_model_is_told_the_schema_and_the_closure_gets_the_value() {
    let schema = json!({
        "type": "object",
        "properties": {"b": {"$ref": "#/$defs/b"}, "a": {"type": ["string", "null"]}},
        "required": ["b"],
        "$defs": {"b": {"enum": [1, "x"]}},
        "x-own": [1],
    });

    let tool = made(schema.clone()).unwrap();

    assert_eq!(tool.definition().input_schema().value(), schema);
    assert_eq!(
        output(&tool, r#"{"b": "x", "a": null}"#).await.text(),
        r#"{"b":"x","a":null}"#
    );
}

#[tokio::test]
async fn null_for_a_property_that_may_be_absent_is_taken_out() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": ["string", "null"]}, "c": {"type": "string"}},
        "required": ["c"],
    });

    let tool = made(schema).unwrap();

    assert_eq!(
        output(&tool, r#"{"a": null, "b": null, "c": "x"}"#)
            .await
            .text(),
        r#"{"b":null,"c":"x"}"#
    );
    // A null that stands for nothing is a fault, or for the closure to judge.
    let text = error(&tool, r#"{"c": null}"#).await;
    assert!(text.contains("argument `c`"), "{text}");
}

#[tokio::test]
async fn the_closure_has_every_form() {
    let schema = || json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let of = |tool: Result<FunctionTool, SchemaError>| tool.unwrap();
    let tools = [
        (
            of(FunctionTool::from_schema("a", "A.", schema(), async || "a")),
            "a",
        ),
        (
            of(FunctionTool::from_schema(
                "b",
                "B.",
                schema(),
                async |city: City| city.city,
            )),
            "Oslo",
        ),
        (
            of(FunctionTool::blocking_from_schema(
                "c",
                "C.",
                schema(),
                |city: City, _: ToolContext| city.city,
            )),
            "Oslo",
        ),
    ];

    for (tool, expected) in tools {
        assert_eq!(output(&tool, r#"{"city": "Oslo"}"#).await.text(), expected);
    }
}

// TS-11
#[test]
fn a_bare_schema_is_that_of_an_object() {
    let text = |schema| {
        made(schema)
            .unwrap()
            .definition()
            .input_schema()
            .text()
            .to_owned()
    };

    assert_eq!(text(json!({})), r#"{"type":"object","properties":{}}"#);
    assert_eq!(
        text(json!({"properties": {"a": true}})),
        r#"{"properties":{"a":true},"type":"object"}"#
    );
}

#[test]
fn a_schema_that_is_not_one_of_an_object_is_refused() {
    for schema in [json!(null), json!([]), json!(true), json!("object")] {
        assert_eq!(
            faults(schema),
            [(String::new(), "must be an object".to_owned())]
        );
    }
    for schema in [
        json!({"type": "string"}),
        json!({"type": ["object", "null"]}),
        json!({"type": 7}),
    ] {
        assert_eq!(
            faults(schema),
            [("/type".to_owned(), "must be \"object\"".to_owned())]
        );
    }
}

#[test]
fn a_keyword_of_a_wrong_shape_is_named_by_its_place() {
    for (schema, pointer, problem) in [
        (
            json!("text"),
            "",
            "must be a schema: an object, `true` or `false`",
        ),
        (
            json!({"type": "text"}),
            "/type",
            "must be one or a list of object, array, string, number, integer, boolean, null",
        ),
        (
            json!({"type": []}),
            "/type",
            "must be one or a list of object, array, string, number, integer, boolean, null",
        ),
        (
            json!({"enum": []}),
            "/enum",
            "must be a list of values with at least one",
        ),
        (
            json!({"items": 1}),
            "/items",
            "must be a schema: an object, `true` or `false`",
        ),
        (
            json!({"anyOf": {}}),
            "/anyOf",
            "must be a list of schemas with at least one",
        ),
        (
            json!({"anyOf": [true, 1]}),
            "/anyOf/1",
            "must be a schema: an object, `true` or `false`",
        ),
        (
            json!({"properties": {"b/c": {"minLength": -1}}}),
            "/properties/b~1c/minLength",
            "must be a whole number of at least 0",
        ),
        (
            json!({"required": ["b", "b"]}),
            "/required",
            "must be a list of names, each of them once",
        ),
        (
            json!({"required": true}),
            "/required",
            "must be a list of names, each of them once",
        ),
        (json!({"minimum": "1"}), "/minimum", "must be a number"),
        (
            json!({"multipleOf": 0}),
            "/multipleOf",
            "must be a number above 0",
        ),
        (
            json!({"uniqueItems": 1}),
            "/uniqueItems",
            "must be `true` or `false`",
        ),
        (json!({"description": 1}), "/description", "must be a text"),
        (json!({"examples": 1}), "/examples", "must be a list"),
        (
            json!({"properties": []}),
            "/properties",
            "must be an object of schemas",
        ),
        (
            json!({"dependentRequired": {"b": 1}}),
            "/dependentRequired/b",
            "must be a list of names, each of them once",
        ),
        (
            json!({"$ref": "#/$defs/b"}),
            "/$ref",
            "leads to `/$defs/b`, where no schema is",
        ),
        (
            json!({"$ref": "https://example.org/schema"}),
            "/$ref",
            "must be `#` or begin with `#/`: a place in the schema itself",
        ),
    ] {
        assert_eq!(
            fault_of_property(&schema),
            (format!("/properties/a{pointer}"), problem.to_owned())
        );
    }
}

#[test]
fn every_fault_is_told() {
    let error = made(json!({
        "type": "object",
        "properties": {"a": {"type": "text"}, "b": {"items": {"pattern": 1}}},
        "required": "a",
    }))
    .unwrap_err();

    assert_eq!(
        error.to_string(),
        "no schema of a tool's input: \
         `/properties/a/type` must be one or a list of object, array, string, number, integer, \
         boolean, null; `/properties/b/items/pattern` must be a text; \
         `/required` must be a list of names, each of them once"
    );
}

#[test]
fn what_is_no_keyword_is_left_alone() {
    let property = json!({"default": 1, "const": [], "x-own": 1, "examples": [1]});
    let names =
        json!({"type": {"type": "string"}, "required": {"type": "boolean"}, "items": property});

    assert!(made(json!({"type": "object", "properties": names})).is_ok());
}

#[test]
fn a_schema_that_never_ends_is_refused() {
    let nested = (0..200).fold(json!(true), |inner, _| json!({"items": inner}));
    let (pointer, problem) = fault_of_property(&nested);

    assert!(pointer.starts_with("/properties/a/items/items"));
    assert_eq!(problem, "stands more than 100 schemas deep");
}

#[test]
fn a_pattern_that_is_none_is_refused() {
    let (pointer, problem) = fault_of_property(&json!({"pattern": "("}));

    assert_eq!(pointer, "/properties/a/pattern");
    assert!(problem.starts_with("is refused: "), "{problem}");
}

// A12
#[tokio::test]
async fn arguments_that_do_not_fit_are_told_all_at_once() {
    let tool = made(json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 2},
            "stops": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {"days": {"type": "integer", "minimum": 9, "maximum": 9}, "name": {"type": "string"}}}},
            "unit": {"enum": ["metric", "imperial"]},
        },
        "required": ["city"],
        "additionalProperties": false,
    }))
    .unwrap();

    for (arguments, expected) in [
        ("", r#"argument `city` is missing; for example: "text""#),
        (
            r#"{"city": 7}"#,
            "argument `city` does not fit its schema: it is not of type \"string\", got 7; for example: \"text\"",
        ),
        (
            r#"{"city": "O"}"#,
            "argument `city` does not fit its schema: it is shorter than 2 characters, got \"O\"; for example: \"text\"",
        ),
        (
            r#"{"stops": [{"name": "a", "days": 10}, {}], "unit": "kelvin"}"#,
            "argument `stops[0].days` does not fit its schema: it is greater than the maximum of 9, got 10; for example: 9\n\
             argument `stops[1].name` is missing; for example: \"text\"\n\
             argument `unit` does not fit its schema: it is not one of \"metric\" or \"imperial\", got \"kelvin\"; for example: \"metric\"\n\
             argument `city` is missing; for example: \"text\"",
        ),
        (
            r#"{"city": "Oslo", "why": 1}"#,
            "the arguments do not fit their schema: Additional properties are not allowed ('why' was unexpected); for example: {\"city\":\"text\"}",
        ),
        (
            "[]",
            r#"the arguments are not a JSON object, got []; for example: {"city":"text"}"#,
        ),
    ] {
        assert_eq!(error(&tool, arguments).await, format!("Error: {expected}"));
    }
}

#[tokio::test]
async fn a_call_with_very_many_faults_has_a_short_error() {
    let tool = made(json!({
        "type": "object",
        "properties": {"a": {"items": {"type": "string"}}},
    }))
    .unwrap();
    let long = "9".repeat(100);

    let arguments = json!({"a": vec![json!({"long": long}); 1000]}).to_string();
    let error = error(&tool, &arguments).await;

    assert_eq!(error.matches("argument `").count(), 10);
    assert!(error.ends_with("\n…") && error.len() < 2500, "{error}");
}

// TE-5
#[tokio::test]
async fn the_closure_does_not_run_and_the_model_can_repair_the_call() {
    let ran = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ran);
    let schema = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
    let tool = FunctionTool::from_schema("tool", "A tool.", schema, move |input: Value| {
        counted.fetch_add(1, Ordering::Relaxed);
        async move { input["days"].clone() }
    })
    .unwrap();
    let model = ScriptedModel::new([
        calls("tool", json!({"days": "soon"})),
        calls("tool", json!({"days": 2})),
        says("done"),
    ]);

    let agent = ReactAgent::builder("assistant", model).tools(tool).build();
    let output = agent.unwrap().run("Go").await.unwrap();

    let results = results(output.messages());
    assert_eq!(
        results[0].text(),
        "Error: argument `days` does not fit its schema: it is not of type \"integer\", got \"soon\"; for example: 1"
    );
    assert_eq!(
        (results[0].is_error(), results[1].text().as_str()),
        (true, "2")
    );
    assert_eq!(ran.load(Ordering::Relaxed), 1);
}
