//! Cases of the reference (area json_schema) and schema cases, on tools as a user writes them.

use agent_core::tool::InputSchema;
use agent_core::{ToolDefinition, ToolSchema, tool};
use serde::Deserialize;
use serde_json::{Value, json};

fn text(definition: &ToolDefinition) -> Value {
    let text = definition.input_schema().const_text();
    serde_json::from_str(text.expect("the text is a constant")).expect("the text is JSON")
}

/// Checks values against one property, with the definitions of the whole.
fn checks(schema: &Value, property: &str, accepts: &[Value], rejects: &[Value]) {
    let mut alone = schema["properties"][property].clone();
    if let Some(definitions) = schema.get("$defs") {
        alone["$defs"] = definitions.clone();
    }
    let validator = jsonschema::validator_for(&alone).expect("a schema");
    for value in accepts {
        assert!(validator.is_valid(value), "{alone} refuses {value}");
    }
    for value in rejects {
        assert!(!validator.is_valid(value), "{alone} takes {value}");
    }
}

#[tool]
async fn people(name: String, age: i32) -> String {
    format!("{name} {age}")
}

#[tool]
async fn sign_in(
    /// The username of the customer
    #[param(default)]
    username: String,
    password: String,
) -> usize {
    username.len() + password.len()
}

#[tool]
async fn anything(object: Value) -> String {
    object.to_string()
}

#[test]
fn parameters_are_properties_in_their_order() {
    // js.1, js.3
    assert_eq!(
        text(people::DEFINITION).to_string(),
        concat!(
            r#"{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"#,
            r#""required":["name","age"],"additionalProperties":false}"#,
        )
    );
    // js.2
    assert_eq!(
        text(sign_in::DEFINITION),
        json!({
            "type": "object",
            "properties": {
                "username": {"type": "string", "description": "The username of the customer"},
                "password": {"type": "string"},
            },
            "required": ["password"],
            "additionalProperties": false,
        })
    );
    // js.5
    assert_eq!(
        text(anything::DEFINITION).to_string(),
        concat!(
            r#"{"type":"object","properties":{"object":{}},"#,
            r#""required":["object"],"additionalProperties":false}"#,
        )
    );
}

#[derive(Deserialize, ToolSchema)]
struct RecursiveFilter {
    field: String,
    operator: String,
    filters: Vec<RecursiveFilter>,
}

#[derive(Deserialize, ToolSchema)]
struct SearchRequest {
    filters: Vec<RecursiveFilter>,
    limit: i32,
}

impl SearchRequest {
    fn len(&self) -> usize {
        let words = |filter: &RecursiveFilter| filter.field.len() + filter.operator.len();
        let inner = |filter: &RecursiveFilter| filter.filters.iter().map(words).sum::<usize>();
        self.filters.iter().map(inner).sum::<usize>() + self.limit.unsigned_abs() as usize
    }
}

#[tool]
async fn search(request: SearchRequest) -> usize {
    request.len()
}

#[tool]
async fn search_twice(a: SearchRequest, b: SearchRequest) -> usize {
    a.len() + b.len()
}

// TS-9
#[test]
fn a_recursive_type_is_hoisted_and_shared() {
    // js.17
    let schema = text(search::DEFINITION);
    assert_eq!(
        schema["$defs"]["RecursiveFilter"]["additionalProperties"],
        json!(false)
    );
    for path in [
        "/properties/request/properties/filters/items/$ref",
        "/$defs/RecursiveFilter/properties/filters/items/$ref",
    ] {
        assert_eq!(
            schema.pointer(path),
            Some(&json!("#/$defs/RecursiveFilter"))
        );
    }
    assert_eq!(schema.pointer("/properties/request/$defs"), None);
    let keys: Vec<&String> = schema.as_object().expect("an object").keys().collect();
    assert_eq!(
        keys,
        [
            "type",
            "$defs",
            "properties",
            "required",
            "additionalProperties"
        ]
    );

    // js.18
    let schema = text(search_twice::DEFINITION);
    assert_eq!(
        schema["$defs"].as_object().map(serde_json::Map::len),
        Some(1)
    );
    for parameter in ["a", "b"] {
        assert_eq!(
            schema["properties"][parameter]["properties"]["filters"]["items"]["$ref"],
            "#/$defs/RecursiveFilter"
        );
    }
}

mod peer_a {
    #[derive(serde::Deserialize, agent_core::ToolSchema)]
    pub(super) struct Filter {
        pub(super) label: String,
        pub(super) children: Vec<Filter>,
    }

    #[derive(serde::Deserialize, agent_core::ToolSchema)]
    pub(super) struct SearchRequest {
        pub(super) filters: Vec<Filter>,
    }
}

mod peer_b {
    #[derive(serde::Deserialize, agent_core::ToolSchema)]
    pub(super) struct Filter {
        pub(super) code: String,
        pub(super) children: Vec<Filter>,
    }

    #[derive(serde::Deserialize, agent_core::ToolSchema)]
    pub(super) struct Wrapper {
        pub(super) filters: Vec<Filter>,
        pub(super) nested: Vec<Wrapper>,
    }

    #[derive(serde::Deserialize, agent_core::ToolSchema)]
    pub(super) struct SearchRequest {
        pub(super) wrapper: Wrapper,
    }
}

#[tool]
async fn search_peers(a: peer_a::SearchRequest, b: peer_b::SearchRequest) -> usize {
    let a: usize = a
        .filters
        .iter()
        .map(|it| it.label.len() + it.children.len())
        .sum();
    let b = b.wrapper;
    let b_filters = b.filters.iter().map(|it| it.code.len() + it.children.len());
    a + b_filters.sum::<usize>() + b.nested.len()
}

// js.20, TS-9
#[test]
fn another_type_of_the_name_is_renamed_with_every_reference() {
    let schema = text(search_peers::DEFINITION);

    for (path, target) in [
        (
            "/$defs/Wrapper/properties/filters/items/$ref",
            "#/$defs/Filter_2",
        ),
        (
            "/$defs/Wrapper/properties/nested/items/$ref",
            "#/$defs/Wrapper",
        ),
        (
            "/$defs/Filter_2/properties/children/items/$ref",
            "#/$defs/Filter_2",
        ),
        (
            "/$defs/Filter/properties/children/items/$ref",
            "#/$defs/Filter",
        ),
    ] {
        assert_eq!(schema.pointer(path), Some(&json!(target)), "{path}");
    }
    assert!(schema.pointer("/$defs/Filter/properties/label").is_some());
    assert!(schema.pointer("/$defs/Filter_2/properties/code").is_some());
}

#[derive(Deserialize, ToolSchema)]
#[param(open)]
struct OpenFilter {
    field: String,
    filters: Vec<OpenFilter>,
}

#[tool]
async fn search_openly(data: OpenFilter) -> usize {
    data.field.len() + data.filters.len()
}

// js.9, js.21, below the root; at the root the key `open` of the tool says `true`
#[test]
fn an_open_type_says_nothing_of_other_properties() {
    let schema = text(search_openly::DEFINITION);

    assert_eq!(
        schema.pointer("/$defs/OpenFilter/additionalProperties"),
        None
    );
    checks(
        &schema,
        "data",
        &[json!({"field": "a", "filters": [], "more": 1})],
        &[json!({"field": "a"})],
    );
}

#[tool]
async fn list(city: String, limit: Option<u32>) -> String {
    format!("{city} {limit:?}")
}

// sc-03
#[test]
fn an_option_is_not_required_and_takes_null() {
    let schema = text(list::DEFINITION);

    assert_eq!(schema["required"], json!(["city"]));
    checks(
        &schema,
        "limit",
        &[json!(5), json!(null)],
        &[json!("x"), json!(-1)],
    );
}

#[tool]
async fn tag(tags: Vec<String>) -> String {
    tags.join(" ")
}

// sc-05
#[test]
fn a_list_says_what_its_items_are() {
    assert_eq!(
        text(tag::DEFINITION)["properties"]["tags"],
        json!({"type": "array", "items": {"type": "string"}})
    );
}

#[derive(Debug, Deserialize, ToolSchema)]
enum Dir {
    Left,
    Right,
    #[serde(rename = "mid")]
    Middle,
}

#[tool]
async fn turn(to: Dir) -> String {
    format!("{to:?}")
}

// sc-11
#[test]
fn an_enum_of_names_is_one_of_their_texts() {
    assert_eq!(
        text(turn::DEFINITION)["properties"]["to"],
        json!({"type": "string", "enum": ["Left", "Right", "mid"]})
    );
}

/// Find.
#[tool]
async fn find(
    /** kind of thing */
    r#type: String,
    r#in: Option<String>,
) -> String {
    format!("{type} {in:?}", r#type = r#type, r#in = r#in)
}

// sc-24
#[tokio::test]
async fn raw_identifiers_are_properties_without_their_mark() {
    let schema = text(find::DEFINITION);

    let properties = schema["properties"].as_object().expect("an object");
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["type", "in"]);
    assert_eq!(properties["type"]["description"], "kind of thing");
    let told = crate::tool_macro::told(find::callback(), r#"{"type":"x"}"#).await;
    assert_eq!(told, "x None");
}

#[derive(Deserialize, ToolSchema)]
struct Node {
    name: String,
    children: Vec<Node>,
}

#[tool]
async fn walk(root: Node) -> usize {
    root.name.len() + root.children.len()
}

// sc-09
#[test]
fn a_recursive_type_takes_values_of_any_depth() {
    checks(
        &text(walk::DEFINITION),
        "root",
        &[json!({"name": "a", "children": [{"name": "b", "children": []}]})],
        &[json!({"name": "a", "children": [{"name": "b", "children": [1]}]})],
    );
}

// sc-08
#[test]
fn a_reference_to_a_property_is_kept_where_it_resolves() {
    let schema = InputSchema::from_value(json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "format": "date-time"},
            "b": {"$ref": "#/properties/a"},
        },
    }));

    let validator = jsonschema::validator_for(&schema.value()).expect("every `$ref` resolves");
    assert!(validator.is_valid(&json!({"b": "2024-01-01T00:00:00Z"})));
    assert!(!validator.is_valid(&json!({"b": 3})));
}
