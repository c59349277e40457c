//! Schemas from elsewhere whose definitions lead from one to the next, thousands of times.

use agent_core::schema::{ChangeEffect, Dialect, Size};
use agent_core::tool::FunctionTool;
use agent_core::{ToolCallback as _, ToolContext, ToolSet};
use serde_json::{Map, Value, json};

const LENGTH: usize = 5_000;

/// Objects, each with the next in it; the last leads to itself.
fn chain() -> Value {
    let definition = |at: usize| {
        let next = (at + 1).min(LENGTH - 1);
        let next = json!({"$ref": format!("#/$defs/d{next}")});
        let object = json!({"type": "object", "properties": {"next": next}});
        (format!("d{at}"), object)
    };
    let definitions: Map<String, Value> = (0..LENGTH).map(definition).collect();
    json!({
        "type": "object",
        "properties": {"first": {"$ref": "#/$defs/d0"}},
        "$defs": definitions,
    })
}

#[test]
fn a_chain_of_references_is_as_deep_as_it_is_long() {
    assert_eq!(Size::of(&chain()).depth, LENGTH + 1);
}

#[test]
fn a_tool_with_a_chain_of_references_is_told_in_every_dialect() {
    let tool = FunctionTool::from_schema("t", "T.", chain(), async || ()).unwrap();
    let tools = ToolSet::new(tool).unwrap();
    for dialect in Dialect::ALL {
        let report = tools.report(dialect);
        assert!(report.to_string().contains('t'), "{report}");
    }
}

#[test]
fn only_what_leads_back_to_itself_is_told_as_a_circle() {
    // `a` leads to the circle of `b` and `c`, which leads to `d`.
    let to = |names: &[&str]| {
        let each = names
            .iter()
            .map(|name| (name.to_string(), json!({"$ref": format!("#/$defs/{name}")})));
        let properties: Map<String, Value> = each.collect();
        json!({"type": "object", "properties": properties})
    };
    let mut schema = to(&["a", "own"]);
    schema["$defs"] = json!({
        "a": to(&["b"]),
        "b": to(&["c"]),
        "c": to(&["d", "b"]),
        "d": to(&[]),
        "own": to(&["own", "d"]),
    });

    let changes = Dialect::AnthropicStrict.translate(&schema).changes;

    let circles = changes
        .iter()
        .filter(|change| change.effect == ChangeEffect::NotStrict);
    let circles = circles.filter_map(|change| change.why.strip_suffix(" leads back to itself"));
    let mut circles: Vec<&str> = circles.collect();
    circles.sort_unstable();
    circles.dedup();
    assert_eq!(circles, ["`#/$defs/b`", "`#/$defs/c`", "`#/$defs/own`"]);
}

/// The parameter `p`, held to so many schemas that lead from one to the next in this form.
fn held(count: usize, link: fn(Value) -> Value) -> Value {
    let link = |at: usize| link(json!({"$ref": format!("#/$defs/d{}", at + 1)}));
    let links = (0..count).map(|at| (format!("d{at}"), link(at)));
    let last = json!({"type": ["integer", "array"], "items": {"$ref": "#/$defs/d0"}});
    let definitions: Map<String, Value> = links.chain([(format!("d{count}"), last)]).collect();
    json!({
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/d0"}},
        "$defs": definitions,
    })
}

#[tokio::test]
async fn a_value_is_held_to_as_many_schemas_as_the_stack_has_room_for() {
    let links: [fn(Value) -> Value; 4] = [
        |next| next,
        |next| json!({"allOf": [{"title": "T"}, next]}),
        |next| json!({"anyOf": [{"type": "null"}, next]}),
        |next| json!({"oneOf": [{"type": "null"}, {"not": {"not": next}}]}),
    ];
    for link in links {
        let of = |count| FunctionTool::from_schema("t", "T.", held(count, link), async || ());
        let error = of(5_000).unwrap_err();
        assert!(
            error.to_string().contains("a chain of more than"),
            "{error}"
        );
        let tool = of(50).unwrap();
        let call = async |arguments: &str| tool.call(arguments, &ToolContext::default()).await;

        call(r#"{"p": [1]}"#).await.unwrap();
        let error = call(r#"{"p": ["x"]}"#).await.unwrap_err();
        assert!(error.model_text().contains("`p"), "{error:?}");
        let deep = format!(r#"{{"p": {}1{}}}"#, "[".repeat(100), "]".repeat(100));
        let error = call(&deep).await.unwrap_err();
        assert!(error.model_text().contains("too deep"), "{error:?}");
    }
}

#[test]
fn a_value_is_held_to_no_more_schemas_than_can_be_looked_at() {
    let twice = held(40, |next| json!({"oneOf": [next, next]}));

    let error = FunctionTool::from_schema("t", "T.", twice, async || ()).unwrap_err();

    assert!(error.to_string().contains("more than 10000"), "{error}");
}

#[tokio::test]
async fn a_schema_that_leads_to_itself_takes_a_deep_value() {
    let schema = json!({
        "type": "object",
        "properties": {"p": {"$ref": "#/$defs/any"}},
        "$defs": {"any": {"anyOf": [
            {"type": "integer"},
            {"type": "array", "items": {"$ref": "#/$defs/any"}},
        ]}},
    });
    let tool = FunctionTool::from_schema("t", "T.", schema, async || ()).unwrap();
    let deep = format!(r#"{{"p": {}1{}}}"#, "[".repeat(120), "]".repeat(120));

    tool.call(&deep, &ToolContext::default()).await.unwrap();
}
