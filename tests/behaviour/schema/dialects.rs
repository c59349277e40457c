//! The schema of a tool as each provider takes it.

use std::collections::{BTreeMap, HashMap};

use agent_core::schema::{Change, ChangeEffect, Dialect, DialectSchema};
use agent_core::tool::InputSchema;
use agent_core::{ToolDefinition, tool};
use agent_tests::fixtures::json_files;
use chrono::{DateTime, NaiveDate, Utc};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The dialects a case names, with the tool's schema in each.
fn profiles(case: &str, definition: &ToolDefinition) -> Vec<(Dialect, DialectSchema)> {
    let mut files = json_files("dialects").into_iter();
    let (_, file) = files
        .find(|(name, _)| name.starts_with(case))
        .expect("the file of the case");
    let names: Vec<String> = serde_json::from_value(file["profiles"].clone()).expect("names");
    let written = |name: String| {
        let dialect: Dialect = name.parse().expect("a dialect");
        (
            dialect,
            definition.input_schema().in_dialect(dialect).clone(),
        )
    };
    names.into_iter().map(written).collect()
}

/// Every object inside a value, itself first.
fn objects(value: &Value) -> Vec<&Value> {
    let children: Vec<&Value> = match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    let inner = children.into_iter().flat_map(objects);
    value
        .is_object()
        .then_some(value)
        .into_iter()
        .chain(inner)
        .collect()
}

/// Every schema that lists properties.
fn closed_objects(schema: &Value) -> Vec<&Value> {
    let lists = |it: &&Value| it["properties"].is_object();
    objects(schema).into_iter().filter(lists).collect()
}

fn has_key(schema: &Value, key: &str) -> bool {
    objects(schema).iter().any(|it| it.get(key).is_some())
}

fn accepts(schema: &Value, value: &Value) -> bool {
    jsonschema::validator_for(schema)
        .expect("a valid schema")
        .is_valid(value)
}

fn told<'a>(written: &'a DialectSchema, pointer: &str) -> Vec<&'a Change> {
    let here = |change: &&Change| change.pointer == pointer;
    written.changes.iter().filter(here).collect()
}

#[test]
fn every_dialect_has_a_name_that_leads_to_it() {
    let names: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name()).collect();

    assert_eq!(
        names,
        [
            "neutral",
            "openai",
            "openai-strict",
            "anthropic",
            "anthropic-strict",
            "gemini",
            "mistral",
            "upper-case"
        ]
    );
    for dialect in Dialect::ALL {
        assert_eq!(dialect.name().parse(), Ok(dialect));
        assert!(!dialect.sources().is_empty());
    }
    let error = "open-ai".parse::<Dialect>().unwrap_err().to_string();
    assert!(
        error.contains("`open-ai`") && error.contains("`openai-strict`"),
        "{error}"
    );
}

#[test]
fn no_dialect_takes_shorter_names_than_a_set_does() {
    // E3: a name that fits a `ToolSet` is taken everywhere.
    for dialect in Dialect::ALL {
        assert!(
            dialect.limits().name.is_none_or(|limit| limit >= 64),
            "{dialect}"
        );
    }
}

#[test]
fn the_neutral_schema_stays_as_it_is() {
    let odd = json!({"$schema": "x", "anyOf": [{"x-own": 1}], "type": ["object", "null"]});

    let written = Dialect::Neutral.translate(&odd);

    assert_eq!(written.schema, odd);
    assert_eq!(written.changes, []);
    assert!(!written.strict);
}

#[tool]
fn in_circles(loc: (u32, u32)) -> String {
    format!("{loc:?}")
}

#[test]
fn a_tuple_of_one_type_is_a_list_of_fixed_length_everywhere() {
    // sc-16
    for (dialect, written) in profiles("sc-16", in_circles::DEFINITION) {
        let loc = &written.schema["properties"]["loc"];

        assert_eq!(loc["type"], "array", "{dialect}");
        assert_eq!(
            (&loc["minItems"], &loc["maxItems"]),
            (&json!(2), &json!(2)),
            "{dialect}"
        );
        assert_eq!(loc["items"]["type"], "integer", "{dialect}");
        assert!(!has_key(&written.schema, "prefixItems"), "{dialect}");
    }
}

#[tool]
fn by_header(headers: &HashMap<String, u32>) -> String {
    format!("{headers:?}")
}

#[test]
fn a_map_is_an_open_object_and_told_where_it_cannot_be_said() {
    // sc-15
    for (dialect, written) in profiles("sc-15", by_header::DEFINITION) {
        let headers = &written.schema["properties"]["headers"];

        assert_eq!(headers["type"], "object", "{dialect}");
        if dialect == Dialect::Gemini {
            assert!(!has_key(&written.schema, "additionalProperties"));
            assert_eq!(
                headers["description"],
                r#"(any keys, each value: {"type":"integer","minimum":0})"#
            );
        } else {
            assert!(
                accepts(&written.schema, &json!({"headers": {"a": 1}})),
                "{dialect}"
            );
            assert!(
                accepts(&written.schema, &json!({"headers": {}})),
                "{dialect}"
            );
            assert!(
                !accepts(&written.schema, &json!({"headers": {"a": "x"}})),
                "{dialect}"
            );
        }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Widths {
    f: u16,
    h: f64,
}

#[tool]
fn of_all_widths(
    a: u8,
    b: u32,
    c: u64,
    d: i64,
    e: usize,
    g: f32,
    #[param(schemars)] inner: &Widths,
) -> String {
    format!("{a}{b}{c}{d}{e}{g}{}{}", inner.f, inner.h)
}

#[test]
fn formats_of_number_types_reach_no_provider() {
    // sc-18, A8
    let mut foreign = of_all_widths::DEFINITION.input_schema().value();
    foreign["properties"]["a"]["format"] = "uint8".into();
    foreign["properties"]["g"]["format"] = "float".into();
    let foreign = ToolDefinition::new("f", "F.", InputSchema::from_value(foreign));

    for definition in [of_all_widths::DEFINITION, &foreign] {
        for (dialect, written) in profiles("sc-18", definition) {
            assert!(
                !has_key(&written.schema, "format"),
                "{dialect}: {}",
                written.text
            );
            assert_eq!(
                written.schema["properties"]["a"]["type"], "integer",
                "{dialect}"
            );
            assert_eq!(
                written.schema["properties"]["g"]["type"], "number",
                "{dialect}"
            );
        }
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Inner {
    a: Option<i32>,
}

#[tool]
fn strictly(city: &str, #[param(schemars)] o: &Inner, n: Option<u8>) -> String {
    format!("{city}{:?}{n:?}", o.a)
}

#[test]
fn a_strict_object_is_closed_and_requires_all_it_lists() {
    // sc-21
    for (_, written) in profiles("sc-21", strictly::DEFINITION) {
        assert!(written.strict);
        let objects = closed_objects(&written.schema);
        assert_eq!(objects.len(), 2);
        for object in objects {
            let keys: Vec<&String> = object["properties"].as_object().unwrap().keys().collect();
            assert_eq!(object["additionalProperties"], false);
            assert_eq!(object["required"], json!(keys));
        }
        for n in [json!(1), Value::Null] {
            let value = json!({"city": "Oslo", "o": {"a": n}, "n": n});
            assert!(accepts(&written.schema, &value), "{value}");
        }
        assert!(!accepts(
            &written.schema,
            &json!({"city": "Oslo", "o": {"a": 1}, "n": "x"})
        ));
    }
}

#[tool]
fn with_meta(meta: &BTreeMap<String, Value>) -> String {
    format!("{meta:?}")
}

#[test]
fn a_tool_with_an_open_map_cannot_be_strict_and_says_why() {
    // sc-22
    for (dialect, written) in profiles("sc-22", with_meta::DEFINITION) {
        assert!(!written.strict);
        let openai = with_meta::DEFINITION
            .input_schema()
            .in_dialect(dialect.lenient());
        assert_eq!(written.text, openai.text);

        let changes = told(&written, "/properties/meta");
        assert_eq!(changes[0].effect, ChangeEffect::NotStrict);
        assert_eq!(changes[0].what, "map `meta`");
        assert!(changes[0].why.contains("strict"), "{}", changes[0].why);
    }
}

#[tool]
fn on_a_day(at: DateTime<Utc>, day: NaiveDate) -> String {
    format!("{at} {day}")
}

#[test]
fn dates_are_texts_whose_format_is_kept_or_told() {
    // sc-32
    for (dialect, written) in profiles("sc-32", on_a_day::DEFINITION) {
        let properties = &written.schema["properties"];

        assert_eq!(properties["at"]["type"], "string", "{dialect}");
        assert_eq!(properties["day"]["type"], "string", "{dialect}");
        assert_eq!(properties["at"]["format"], "date-time", "{dialect}");
        if dialect == Dialect::Gemini {
            assert_eq!(properties["day"].get("format"), None);
            assert_eq!(properties["day"]["description"], "(format date)");
        } else {
            assert_eq!(properties["day"]["format"], "date", "{dialect}");
        }
    }
}

#[tool]
fn with_x(x: i32) -> String {
    x.to_string()
}

#[test]
fn keywords_that_name_a_schema_reach_no_provider() {
    // sc-33
    let mut foreign = with_x::DEFINITION.input_schema().value();
    foreign["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    foreign["$id"] = "https://example.org/x".into();
    foreign["properties"]["x"]["$comment"] = "why".into();
    let foreign = ToolDefinition::new("f", "F.", InputSchema::from_value(foreign));

    for definition in [with_x::DEFINITION, &foreign] {
        for (dialect, written) in profiles("sc-33", definition) {
            for keyword in ["$schema", "$id", "$comment"] {
                assert!(!has_key(&written.schema, keyword), "{dialect}: {keyword}");
            }
        }
    }
}
