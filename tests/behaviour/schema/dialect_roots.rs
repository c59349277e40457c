//! The root of a schema from elsewhere in each dialect: what it says in another place is kept.

use agent_core::schema::{ChangeEffect, Dialect};
use serde_json::{Map, Value, json};

const OTHERS: [Dialect; 7] = [
    Dialect::OpenAi,
    Dialect::OpenAiStrict,
    Dialect::Anthropic,
    Dialect::AnthropicStrict,
    Dialect::Gemini,
    Dialect::Mistral,
    Dialect::UpperCase,
];

fn keys(object: &Value) -> Vec<&str> {
    let members = object.as_object().expect("an object");
    members.keys().map(String::as_str).collect()
}

// A7, E3
#[test]
fn properties_behind_a_reference_at_the_root_stand_beside_its_own() {
    for own in [json!({}), json!({"own": {"type": "integer"}})] {
        let input = json!({
            "$ref": "#/$defs/Search",
            "$defs": {"Search": {
                "type": "object",
                "properties": {"words": {"type": "string"}},
                "required": ["words"],
            }},
            "type": "object",
            "properties": own,
        });
        for dialect in OTHERS {
            let written = dialect.translate(&input).schema;
            let mut expected = keys(&own);
            expected.push("words");
            assert_eq!(keys(&written["properties"]), expected, "{dialect}");
            let required = written["required"].as_array().expect("a list");
            assert!(required.contains(&"words".into()), "{dialect}: {written}");
        }
    }
}

// A7
#[test]
fn a_tool_of_a_schema_that_only_refers_keeps_its_properties() {
    let schema = json!({
        "$ref": "#/definitions/Search",
        "definitions": {"Search": {"type": "object", "properties": {"words": {"type": "string"}}}},
    });
    let tool = agent_core::tool::FunctionTool::from_schema("find", "Finds.", schema, async || ())
        .expect("the schema is right");
    let input = agent_core::ToolCallback::definition(&tool).input_schema();
    for dialect in OTHERS {
        let written = &input.in_dialect(dialect).schema;
        assert_eq!(keys(&written["properties"]), ["words"], "{dialect}");
    }
}

// E3
#[test]
fn a_branch_of_the_root_keeps_what_stands_beside_its_reference() {
    let input = json!({
        "type": "object",
        "$defs": {"A": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "anyOf": [
            {"$ref": "#/$defs/A", "properties": {"b": {"type": "string"}}},
            {"type": "object", "properties": {"c": {"type": "string"}}},
        ],
    });
    let written = Dialect::OpenAi.translate(&input).schema;
    assert_eq!(keys(&written["properties"]), ["b", "a", "c"]);
    assert_eq!(
        written["description"],
        "(give one of these sets of properties: b?, a? | c?)",
    );
}

// E3
#[test]
fn a_required_property_that_is_not_listed_can_still_be_given() {
    let input = json!({"type": "object", "properties": {}, "required": ["city"]});
    for dialect in OTHERS {
        let written = dialect.translate(&input);
        assert_eq!(written.schema["required"], json!(["city"]), "{dialect}");
        assert_eq!(
            written.schema.get("additionalProperties"),
            None,
            "{dialect}"
        );
        if dialect.is_strict() {
            assert!(!written.strict, "{dialect}");
            let mut changes = written.changes.iter();
            let not_strict = changes.find(|change| change.effect == ChangeEffect::NotStrict);
            assert_eq!(
                not_strict.map(|change| &*change.what),
                Some("property `city`")
            );
        }
        if matches!(dialect, Dialect::Gemini | Dialect::UpperCase) {
            assert_eq!(
                written.schema["properties"],
                json!({"city": {}}),
                "{dialect}"
            );
        }
    }
}

#[test]
fn a_root_that_leads_to_no_rules_is_an_object_all_the_same() {
    let alias = |at: usize| {
        (
            format!("d{at}"),
            json!({"$ref": format!("#/$defs/d{}", at + 1)}),
        )
    };
    let mut aliases: Map<String, Value> = (0..40).map(alias).collect();
    aliases.insert("d40".to_owned(), json!({"type": "object"}));
    for schema in [
        json!({"$ref": "#"}),
        json!({"$ref": "#/$defs/any", "$defs": {"any": true}}),
        json!({"$ref": "#/$defs/none", "$defs": {"none": false}}),
        json!({"$ref": "#/$defs/d0", "$defs": aliases}),
    ] {
        for dialect in OTHERS {
            let written = dialect.translate(&schema);
            let kind = written.schema["type"].as_str().unwrap_or_default();
            assert!(
                kind.eq_ignore_ascii_case("object"),
                "{dialect}: {}",
                written.text
            );
            let is_told = written.changes.iter().any(|change| change.what == "`$ref`");
            assert!(is_told, "{dialect}: {:?}", written.changes);
        }
    }
}
