//! Schemas from elsewhere whose definitions lead from one to the next, thousands of times.

use agent_core::ToolSet;
use agent_core::schema::{ChangeEffect, Dialect, Size};
use agent_core::tool::FunctionTool;
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
