//! A value that fits a schema of a dialect is one the tool takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agent_core::schema::{ChangeEffect, Dialect, DialectSchema, without_optional_nulls};
use agent_core::tool::ToolErrorKind;
use agent_core::{ToolCallback, ToolContext, ToolSchema, tool, tools};
use agent_tests::values::Values;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

fn accepts(schema: &Value, value: &Value) -> bool {
    let validator = jsonschema::validator_for(schema);
    validator.is_ok_and(|validator| validator.is_valid(value))
}

fn is_looser(written: &DialectSchema) -> bool {
    written
        .changes
        .iter()
        .any(|change| change.effect == ChangeEffect::Looser)
}

/// The schema without `nullable` and upper case, which a validator does not know.
fn as_json_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members: Map<String, Value> = members
                .iter()
                .map(|(key, value)| (key.clone(), as_json_schema(value)))
                .collect();
            if let Some(Value::String(kind)) = members.get_mut("type") {
                kind.make_ascii_lowercase();
            }
            if members.get("nullable") == Some(&Value::Bool(true)) {
                members.shift_remove("nullable");
                return json!({"anyOf": [members, {"type": "null"}]});
            }
            members.into()
        }
        Value::Array(items) => items.iter().map(as_json_schema).collect(),
        value => value.clone(),
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only read")]
struct Filter {
    words: Vec<String>,
    #[serde(default)]
    limit: u8,
    #[serde(default)]
    nested: Vec<Nested>,
    exact: Option<bool>,
    by_name: BTreeMap<String, Option<Nested>>,
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only read")]
struct Nested {
    #[serde(default = "ten")]
    size: u32,
    kind: Kind,
    shape: Option<Shape>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
enum Kind {
    #[default]
    Plain,
    Fancy,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(tag = "is")]
#[expect(dead_code, reason = "only read")]
enum Shape {
    Circle {
        radius: f64,
        #[serde(default)]
        filled: bool,
    },
    Square {
        side: i16,
    },
}

#[derive(Clone, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only read")]
struct Tree {
    name: String,
    #[serde(default)]
    weight: i8,
    children: Vec<Tree>,
}

fn ten() -> u32 {
    10
}

#[tool]
fn plain(a: bool, b: i64, c: f32, d: &str, e: Option<u8>, #[param(default = 3)] f: u16) -> String {
    format!("{a}{b}{c}{d}{e:?}{f}")
}

#[tool]
#[expect(
    clippy::needless_pass_by_value,
    reason = "an `Option` holds no reference"
)]
fn lists(a: &[String], b: Option<Vec<i8>>, c: (u8, u8), d: &BTreeSet<char>) -> String {
    format!("{a:?}{b:?}{c:?}{d:?}")
}

#[tool]
fn mixed_tuple(place: &(String, u8)) -> String {
    format!("{place:?}")
}

#[tool]
#[expect(
    clippy::needless_pass_by_value,
    reason = "an `Option` holds no reference"
)]
fn maps(a: &BTreeMap<String, Vec<Option<u8>>>, b: Option<BTreeMap<String, bool>>) -> String {
    format!("{a:?}{b:?}")
}

#[tool]
fn anything(a: &Value) -> String {
    a.to_string()
}

#[tool(schemars)]
#[expect(
    clippy::needless_pass_by_value,
    reason = "an `Option` holds no reference"
)]
fn described(filter: &Filter, other: Option<Nested>) -> usize {
    filter.words.len() + usize::from(other.is_some())
}

#[tool(schemars)]
#[expect(clippy::needless_pass_by_value, reason = "a default is a value")]
fn without_maps(nested: &Nested, #[param(default)] shapes: Vec<Shape>) -> usize {
    let Nested { size, .. } = nested;
    shapes.len() + *size as usize
}

#[tool(schemars)]
fn in_circles(tree: &Tree) -> usize {
    tree.children.len()
}

/// A note, with `serde`'s ways to be read.
#[derive(Clone, Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only read")]
struct Note {
    text: String,
    #[serde(default)]
    stars: u8,
    #[serde(default = "ten")]
    size: u32,
    kind: Sort,
    mark: Option<Mark>,
    marks: Vec<Mark>,
}

#[derive(Clone, Deserialize, ToolSchema)]
enum Sort {
    Small,
    Large,
}

#[derive(Clone, Deserialize, ToolSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
#[expect(dead_code, reason = "only read")]
enum Mark {
    At {
        line: u32,
        #[serde(default)]
        bold: bool,
    },
    All,
}

#[derive(Clone, Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only read")]
struct Branch {
    #[serde(default)]
    leaves: i8,
    branches: Vec<Branch>,
}

#[tool]
#[expect(
    clippy::needless_pass_by_value,
    reason = "an `Option` holds no reference"
)]
fn derived(note: &Note, other: Option<Note>) -> usize {
    note.marks.len() + usize::from(other.is_some())
}

#[tool]
fn derived_in_circles(branch: &Branch) -> usize {
    branch.branches.len()
}

fn zoo() -> Vec<Arc<dyn ToolCallback>> {
    tools![
        plain,
        lists,
        mixed_tuple,
        maps,
        anything,
        described,
        without_maps,
        in_circles,
        derived,
        derived_in_circles
    ]
}

#[test]
fn null_for_what_may_be_absent_is_found_in_a_branch_that_leads_to_others() {
    let words = json!({"type": "object", "properties": {"a": {"enum": ["x", "y"]}}});
    for branch in [
        words.clone(),
        json!({"allOf": [{"type": "object"}, {"properties": words["properties"]}]}),
        json!({"allOf": [{"$ref": "#/$defs/words"}], "title": "Words"}),
    ] {
        let schema = json!({
            "type": "object",
            "properties": {"p": {"anyOf": [{"type": "string"}, branch]}},
            "$defs": {"words": words},
        });

        let value = without_optional_nulls(&schema, json!({"p": {"a": null}}));

        assert_eq!(value, json!({"p": {}}), "{schema}");
    }
}

#[test]
fn which_tools_of_the_zoo_are_strict() {
    let strict = |dialect: Dialect| -> Vec<String> {
        let zoo = zoo();
        let names = zoo.iter().map(|tool| tool.definition());
        let strict = names.filter(|it| it.input_schema().in_dialect(dialect).strict);
        strict.map(|it| it.name().to_owned()).collect()
    };

    assert_eq!(
        strict(Dialect::OpenAiStrict),
        [
            "plain",
            "lists",
            "without_maps",
            "in_circles",
            "derived",
            "derived_in_circles"
        ]
    );
    assert_eq!(
        strict(Dialect::AnthropicStrict),
        ["plain", "lists", "without_maps", "derived"]
    );
    assert!(strict(Dialect::OpenAi).is_empty());
}

/// A case takes a while: an eighth of what `PROPTEST_CASES` says, by default 32.
fn cases() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig {
        cases: default.cases / 8,
        failure_persistence: None,
        ..default
    }
}

/// The kind of the error of a call, if it has one.
fn call(tool: &Arc<dyn ToolCallback>, arguments: &Value) -> Option<(ToolErrorKind, String)> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let context = ToolContext::default();
    let text = arguments.to_string();
    let outcome = runtime
        .expect("a runtime")
        .block_on(tool.call(&text, &context));
    outcome.err().map(|error| (error.kind(), error.to_string()))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_fits_the_dialect_is_read_by_the_tool(seed: u64) {
        for tool in zoo() {
            let input = tool.definition().input_schema();
            for dialect in Dialect::ALL {
                let written = input.in_dialect(dialect);
                let value = Values::of(&written.schema, seed).make();
                prop_assert!(
                    accepts(&as_json_schema(&written.schema), &value),
                    "the value is made up wrong: {} {}", written.text, value
                );
                let error = call(&tool, &value);
                prop_assert!(
                    error.is_none() || is_looser(written),
                    "{dialect} {}: {value}: {error:?}", written.text
                );
            }
        }
    }
}

/// A schema as tools have them, own and foreign ones.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "string", "format": "date"})),
        Just(json!({"type": "string", "minLength": 1, "maxLength": 3, "description": "A text."})),
        Just(json!({"type": "string", "enum": ["a", "b"]})),
        Just(json!({"enum": ["a", null]})),
        Just(json!({"enum": [1, 2, "x"]})),
        Just(json!({"const": "fixed"})),
        Just(json!({"type": "integer", "minimum": 0, "maximum": 255})),
        Just(json!({"type": "integer", "format": "int32", "exclusiveMinimum": 0})),
        Just(json!({"type": ["number", "null"]})),
        Just(json!({"type": ["string", "integer"], "minimum": 2})),
        Just(json!({"type": "boolean", "default": true})),
        Just(json!({"type": "null"})),
        Just(json!({})),
        Just(json!(true)),
        Just(json!({"type": "array"})),
        Just(json!({"type": "object"})),
        Just(json!({"$ref": "#/$defs/Leaf"})),
        Just(json!({"$ref": "#/$defs/Node", "description": "A node."})),
        Just(json!({"$ref": "#/$defs/Leaf/properties/x"})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            object(inner.clone()),
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            inner.clone().prop_map(
                |items| json!({"type": "array", "items": items, "minItems": 2, "maxItems": 2})
            ),
            prop::collection::vec(inner.clone(), 2).prop_map(|places| {
                json!({"type": "array", "prefixItems": places, "minItems": 2, "maxItems": 2})
            }),
            inner
                .clone()
                .prop_map(|values| json!({"type": "object", "additionalProperties": values})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|any| json!({"anyOf": any})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|one| json!({"oneOf": one})),
            (object(inner.clone()), object(inner)).prop_map(|(a, b)| json!({"allOf": [a, b]})),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    let names = prop::sample::subsequence(vec!["a", "b", "c", "properties"], 0..4);
    let closed = prop::option::of(any::<bool>());
    (
        names,
        prop::collection::vec((inner, any::<bool>()), 4),
        closed,
    )
        .prop_map(|(names, schemas, closed)| {
            let mut properties = Map::new();
            let mut required = Vec::new();
            for (name, (schema, is_required)) in names.into_iter().zip(schemas) {
                properties.insert(name.to_owned(), schema);
                if is_required {
                    required.push(name);
                }
            }
            let mut object =
                json!({"type": "object", "properties": properties, "required": required});
            if let Some(closed) = closed {
                object["additionalProperties"] = closed.into();
            }
            object
        })
}

fn root() -> impl Strategy<Value = Value> {
    object(schema()).prop_map(|mut root| {
        root["$defs"] = json!({
            "Leaf": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
            "Node": {
                "type": "object",
                "properties": {"value": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}},
                "required": ["value"],
            },
        });
        root
    })
}

/// All schemas inside, by keyword, the root first.
fn nodes(schema: &Value) -> Vec<&Map<String, Value>> {
    let Some(node) = schema.as_object() else {
        return Vec::new();
    };
    let mut all = vec![node];
    for (keyword, value) in node {
        match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(members)) => {
                all.extend(members.values().flat_map(nodes));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(branches)) => {
                all.extend(branches.iter().flat_map(nodes));
            }
            ("items" | "additionalProperties", value) => all.extend(nodes(value)),
            _ => {}
        }
    }
    all
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn what_is_written_keeps_the_rules_of_its_dialect(neutral in root()) {
        for dialect in Dialect::ALL {
            let written = dialect.translate(&neutral);
            prop_assert_eq!(&written.text, &written.schema.to_string());
            prop_assert_eq!(dialect.translate(&neutral).text, written.text.clone());
            if written.strict {
                for node in nodes(&written.schema) {
                    let typed = ["type", "$ref", "anyOf"].iter().any(|it| node.contains_key(*it));
                    prop_assert!(typed, "{dialect}: {node:?} of {}", written.text);
                    for keyword in ["oneOf", "allOf", "minLength", "prefixItems"] {
                        prop_assert!(!node.contains_key(keyword), "{dialect}: {}", written.text);
                    }
                    if let Some(Value::Object(properties)) = node.get("properties") {
                        prop_assert_eq!(&node["additionalProperties"], &json!(false));
                        if dialect == Dialect::OpenAiStrict {
                            let names: Vec<&String> = properties.keys().collect();
                            prop_assert_eq!(&node["required"], &json!(names));
                        }
                    }
                }
            }
            if matches!(dialect, Dialect::Gemini | Dialect::UpperCase) {
                for node in nodes(&written.schema) {
                    for keyword in ["$ref", "$defs", "const", "oneOf", "allOf", "additionalProperties", "prefixItems", "exclusiveMinimum"] {
                        prop_assert!(!node.contains_key(keyword), "{dialect}: {keyword} in {}", written.text);
                    }
                    prop_assert!(!node.get("type").is_some_and(Value::is_array));
                    prop_assert!(!node.contains_key("anyOf") || node.len() == 1, "{}", written.text);
                }
            }
        }
    }

    #[test]
    fn what_fits_the_dialect_fits_the_neutral_schema(neutral in root(), seed: u64) {
        for dialect in Dialect::ALL {
            let written = dialect.translate(&neutral);
            let value = Values::of(&written.schema, seed).make();
            let known = as_json_schema(&written.schema);
            if is_looser(&written) || !accepts(&known, &value) {
                continue;
            }
            let read = without_optional_nulls(&neutral, value.clone());
            prop_assert!(
                accepts(&neutral, &read),
                "{dialect}: {} takes {value}, {neutral} not {read}", written.text
            );
        }
    }
}
