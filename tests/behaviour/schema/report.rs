//! What a set of tools is told of a provider before the provider says it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;

use agent_core::model::OpenAi;
use agent_core::model::openai::Profile;
use agent_core::schema::Dialect;
use agent_core::tool::{InputSchema, Severity, ToolSetError};
use agent_core::{ReactAgent, ToolSet, tool, tools};
use agent_tests::tools::with_input;
use expect_test::expect;
use serde_json::{Map, Value, json};

/// Finds articles.
#[tool]
fn find(words: &[String], limit: Option<u8>) -> usize {
    words.len().min(usize::from(limit.unwrap_or(5)))
}

/// Sets labels.
#[tool]
fn label(id: u64, tags: &HashMap<String, String>, #[param(default = 2)] depth: u8) -> String {
    format!("{id}{tags:?}{depth}")
}

#[test]
fn a_report_says_what_is_not_strict_and_why_as_data() {
    let report = ToolSet::new(tools![find, label])
        .unwrap()
        .report(Dialect::OpenAiStrict);

    let strict: Vec<(&str, bool)> = report
        .tools()
        .iter()
        .map(|tool| (tool.name.as_str(), tool.strict))
        .collect();
    assert_eq!(strict, [("find", true), ("label", false)]);
    let finding = &report.findings()[0];
    assert_eq!(finding.tool, "label");
    assert_eq!(finding.pointer, "/properties/tags");
    assert_eq!(finding.severity, Severity::Warning);
    assert!(report.is_accepted());
}

#[test]
fn a_report_is_a_table() {
    let report = ToolSet::new(tools![find, label])
        .unwrap()
        .report(Dialect::OpenAiStrict);

    expect![[r#"
        dialect openai-strict, tools: 2, strict: 1, findings: 2
        severity  tool   where              what        why
        warning   label  /properties/tags   map `tags`  takes any keys; a strict object lists all of its properties
        info      find   /properties/limit  `required`  not required: in a strict schema it is, and null stands for none
    "#]]
    .assert_eq(&report.to_string());
}

/// So many tools, each with this input.
fn many(count: usize, input: &Value) -> ToolSet {
    let tool = |index| with_input(&format!("tool_{index}"), "A tool.", input);
    ToolSet::new((0..count).map(tool).collect::<Vec<_>>()).unwrap()
}

fn texts(set: &ToolSet, dialect: Dialect) -> Vec<String> {
    let report = set.report(dialect);
    report.findings().iter().map(ToString::to_string).collect()
}

#[test]
fn more_tools_than_a_provider_takes_are_an_error() {
    // E3
    let input = json!({"type": "object", "properties": {}});

    assert!(many(128, &input).report(Dialect::OpenAi).is_accepted());
    assert_eq!(
        texts(&many(129, &input), Dialect::OpenAi),
        ["number of tools: there are 129; one request can have 128"]
    );
    assert_eq!(
        many(513, &input).report(Dialect::Gemini).errors().count(),
        1
    );
    assert!(many(513, &input).report(Dialect::Anthropic).is_accepted());
}

#[test]
fn a_description_longer_than_a_provider_takes_is_an_error() {
    // E3
    let input = json!({"type": "object", "properties": {}});
    let tool = with_input("long", &"é".repeat(1025), &input);
    let set = ToolSet::new(vec![tool]).unwrap();

    assert_eq!(
        texts(&set, Dialect::OpenAi),
        ["tool `long`: description: has 1025 characters; it can have 1024"]
    );
    assert!(set.report(Dialect::Anthropic).is_accepted());
}

#[test]
fn a_property_name_a_provider_refuses_is_an_error() {
    // E3
    let input = json!({"type": "object", "properties": {"a b": {"type": "string"}}});
    let set = many(1, &input);

    let texts = texts(&set, Dialect::Anthropic);

    assert_eq!(
        texts,
        [
            "tool `tool_0`: name `a b` at `/properties/a b`: names of properties must fit `^[a-zA-Z0-9_.-]{1,64}$`"
        ]
    );
    assert!(set.report(Dialect::OpenAi).is_accepted());
    let dashed = json!({"type": "object", "properties": {"a-b": {"type": "string"}}});
    assert!(!many(1, &dashed).report(Dialect::Gemini).is_accepted());
    assert!(many(1, &dashed).report(Dialect::Anthropic).is_accepted());
}

#[test]
fn what_a_provider_limits_over_all_strict_tools_is_given_to_the_first() {
    // E3
    let none = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let optional = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "additionalProperties": false,
    });
    let strict = |set: &ToolSet| {
        let report = set.report(Dialect::AnthropicStrict);
        report.tools().iter().filter(|tool| tool.strict).count()
    };

    assert_eq!(strict(&many(25, &none)), 20);
    assert_eq!(strict(&many(13, &optional)), 12);
    let union = json!({
        "type": "object",
        "properties": {"a": {"type": ["string", "integer"]}},
        "required": ["a"],
        "additionalProperties": false,
    });
    assert_eq!(strict(&many(17, &union)), 16);
    assert_eq!(
        texts(&many(13, &optional), Dialect::AnthropicStrict),
        [
            "tool `tool_12`: properties that are not required, in all strict tools: with this tool there would be 26; the tools of one request can have 24"
        ]
    );
}

#[test]
fn a_schema_larger_than_strict_ones_can_be_is_not_strict() {
    // E3
    let property = |count: usize| -> Value {
        let names = (0..count).map(|index| format!("p{index}"));
        names
            .map(|name| (name, json!({"type": "string"})))
            .collect()
    };
    let object = |properties: Value| {
        let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
        let closed = json!({"type": "object", "additionalProperties": false, "required": names});
        let mut closed: Map<String, Value> = serde_json::from_value(closed).unwrap();
        closed.insert("properties".to_owned(), properties);
        Value::from(closed)
    };
    let choices = |count: usize, text: &str| -> Value {
        let values: Vec<String> = (0..count)
            .map(|index| format!("{text}{index:04}"))
            .collect();
        object(json!({"x": {"type": "string", "enum": values}}))
    };
    let deep = |levels: usize| {
        (1..levels).fold(object(property(1)), |inner, _| object(json!({"in": inner})))
    };
    let reason = |input: Value| {
        let written = Dialect::OpenAiStrict.translate(&input);
        assert_ne!(
            written.strict,
            written.changes.iter().any(|it| it.why.contains("can have"))
        );
        written
            .changes
            .first()
            .map(|change| format!("{}: {}", change.what, change.why))
    };

    assert!(
        Dialect::OpenAiStrict
            .translate(&object(property(5000)))
            .strict
    );
    assert_eq!(
        reason(object(property(5001))).as_deref(),
        Some("properties: there are 5001; a strict schema can have 5000")
    );
    assert!(Dialect::OpenAiStrict.translate(&deep(10)).strict);
    assert_eq!(
        reason(deep(11)).as_deref(),
        Some("levels of objects and lists: there are 11; a strict schema can have 10")
    );
    assert!(Dialect::OpenAiStrict.translate(&choices(1000, "")).strict);
    assert_eq!(
        reason(choices(1001, "")).as_deref(),
        Some("enum values: there are 1001; a strict schema can have 1000")
    );
    assert!(
        Dialect::OpenAiStrict
            .translate(&choices(251, &"x".repeat(55)))
            .strict
    );
    assert_eq!(
        reason(choices(251, &"x".repeat(56))).as_deref(),
        Some(
            "characters in an enum of more than 250 values: there are 15060; a strict schema can have 15000"
        )
    );
    let long = object(json!({"x": {"type": "string", "const": "x".repeat(120_000)}}));
    assert_eq!(
        reason(long).as_deref(),
        Some("characters in names and enums: there are 120001; a strict schema can have 120000")
    );
}

fn client(profile: Profile) -> OpenAi {
    let builder = OpenAi::builder()
        .base_url("http://localhost:1/v1")
        .model("m");
    builder.profile(profile).build().unwrap()
}

#[test]
fn an_agent_with_tools_its_provider_refuses_is_not_built() {
    // E3
    let input = json!({"type": "object", "properties": {}});
    let build = |profile| {
        ReactAgent::builder("a", client(profile))
            .tools(many(129, &input))
            .build()
    };

    let error = build(Profile::OpenAi).unwrap_err().to_string();

    assert_eq!(
        error,
        "the agent cannot be built: no tool set for dialect `openai`: number of tools: there are 129; one request can have 128"
    );
    // What another server takes is not known.
    assert!(build(Profile::Compatible).is_ok());
}

#[tokio::test]
async fn tools_of_one_run_that_the_provider_refuses_are_an_error() {
    let input = json!({"type": "object", "properties": {}});
    let agent = ReactAgent::builder("a", client(Profile::OpenAi))
        .build()
        .unwrap();

    let error = agent.run("Hi").tools(many(129, &input)).await.unwrap_err();

    let source = std::error::Error::source(&error).unwrap();
    let source = source.downcast_ref::<ToolSetError>();
    assert!(
        matches!(source, Some(ToolSetError::Refused { .. })),
        "{error:?}"
    );
}

#[test]
fn a_schema_is_written_in_a_dialect_once() {
    let schema = InputSchema::from_value(json!({"type": "object", "properties": {}}));
    let clone = schema.clone();

    let first = schema.in_dialect(Dialect::OpenAiStrict);

    assert!(std::ptr::eq(first, clone.in_dialect(Dialect::OpenAiStrict)));
    assert!(std::ptr::eq(
        label::DEFINITION.input_schema().in_dialect(Dialect::Gemini),
        label::DEFINITION.input_schema().in_dialect(Dialect::Gemini)
    ));
}
