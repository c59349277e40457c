//! A model that tries every tool with arguments made from its schema.

use agent_core::model::{
    ChatModel as _, ChatOptions, ModelErrorKind, OutputSchema, ResponseFormat, TestModel,
    ToolChoice, ToolList,
};
use agent_core::tool::{FunctionTool, InputSchema};
use agent_core::{ReactAgent, ToolDefinition, ToolSchema, tool, tools};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{asked, streamed};

#[tool]
async fn double(#[param(minimum = 1, maximum = 9)] number: u8) -> u8 {
    2 * number
}

#[tool]
async fn greet(
    #[param(pattern = "^[A-Z]{3}$")] code: &str,
    #[param(min_length = 12, max_length = 14)] name: &str,
    often: Option<bool>,
) -> String {
    format!("{code} {name} {often:?}")
}

fn definition(name: &str, schema: Value) -> ToolDefinition {
    ToolDefinition::new(
        name.to_owned(),
        String::new(),
        InputSchema::from_value(schema),
    )
}

async fn arguments(model: &TestModel, schema: Value) -> Result<Value, ModelErrorKind> {
    let request = asked("Go.").with_tools(ToolList::new([definition("tool", schema)]));
    let reply = model.chat(request).await.map_err(|error| error.kind())?;
    let arguments = reply.message.tool_calls[0].arguments_value();
    Ok(arguments.expect("valid arguments"))
}

fn accepts(schema: &Value, value: &Value) -> bool {
    let validator = jsonschema::validator_for(schema).expect("a schema");
    validator.is_valid(value)
}

// E7
#[tokio::test]
async fn every_tool_is_called_once_and_the_results_are_the_answer() {
    let agent = ReactAgent::builder("assistant", TestModel::new())
        .tools(tools![double, greet])
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();
    let answer: Value = output.parse().unwrap();
    let names: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_eq!(names, ["double", "greet"]);
    assert!(
        !output.messages()[2]
            .tool_results()
            .iter()
            .any(|it| it.is_error())
    );
}

#[tokio::test]
async fn without_tools_it_answers() {
    let agent = ReactAgent::builder("assistant", TestModel::new())
        .build()
        .unwrap();

    assert_eq!(agent.run("Go.").await.unwrap().text(), "Done.");
}

#[tokio::test]
async fn one_seed_gives_one_reply_and_another_seed_others() {
    let schema = double::DEFINITION.input_schema().value();
    let mut of_seeds = Vec::new();
    for seed in 0..20 {
        let model = TestModel::new().seed(seed);
        let once = arguments(&model, schema.clone()).await.unwrap();
        assert_eq!(arguments(&model, schema.clone()).await.unwrap(), once);
        of_seeds.push(once.to_string());
    }

    of_seeds.sort();
    of_seeds.dedup();
    assert!(of_seeds.len() > 3, "{of_seeds:?}");
}

#[tokio::test]
async fn only_the_tools_that_are_wanted_are_called() {
    let agent = ReactAgent::builder("assistant", TestModel::new().only(["greet"]).answer("Hi."))
        .tools(tools![double, greet])
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();
    let called: Vec<&str> = output.messages()[1]
        .tool_calls()
        .iter()
        .map(|it| it.name())
        .collect();
    assert_eq!(called, ["greet"]);
    assert_eq!(output.text(), "Hi.");
}

#[tokio::test]
async fn a_tool_choice_is_kept() {
    let tools = ToolList::new([double::DEFINITION.clone(), greet::DEFINITION.clone()]);
    let request = |choice| {
        let options = ChatOptions::new().tool_choice(choice);
        asked("Go.").with_tools(tools.clone()).with_options(options)
    };
    let model = TestModel::new();

    let none = model.chat(request(ToolChoice::None)).await.unwrap();
    assert!(none.message.tool_calls.is_empty());
    let named = model
        .chat(request(ToolChoice::Named("greet".into())))
        .await
        .unwrap();
    assert_eq!(named.message.tool_calls.len(), 1);
}

#[tokio::test]
async fn a_schema_that_says_more_than_is_understood_asks_for_arguments_by_hand() {
    let schema = json!({"type": "object", "unevaluatedProperties": false});

    let error = arguments(&TestModel::new(), schema.clone())
        .await
        .unwrap_err();
    assert_eq!(error, ModelErrorKind::Configuration);
    let by_hand = TestModel::new().arguments("tool", json!({"y": 1}));
    assert_eq!(arguments(&by_hand, schema).await.unwrap(), json!({"y": 1}));
}

#[tokio::test]
async fn what_schemas_of_others_ask_for_is_made_for_every_seed() {
    let texts = |key: &str, all: &[&str]| -> Vec<Value> {
        let text = |rule: &&str| json!({"type": "string", key: rule});
        all.iter().map(text).collect()
    };
    let mut properties = texts(
        "format",
        &[
            "date",
            "date-time",
            "time",
            "duration",
            "email",
            "idn-email",
            "hostname",
            "idn-hostname",
            "ipv4",
            "ipv6",
            "uri",
            "uri-reference",
            "iri",
            "iri-reference",
            "uuid",
            "json-pointer",
            "relative-json-pointer",
            "regex",
        ],
    );
    properties.extend(texts(
        "pattern",
        &[
            r"^[a-z]{3}-\d{2,4}$",
            "^(foo|bar)+$",
            r"\w+@\w+\.com",
            "^#[0-9a-fA-F]{6}$",
            "^[^a]$",
            r"^(?:https?://)?[\w.-]+$",
        ],
    ));
    properties.extend([
        json!({"type": "string", "pattern": "^a?b*c+$", "minLength": 5, "example": "abbccc"}),
        json!({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]}),
        json!({"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}]}),
        json!({"oneOf": [
            {"type": "object", "properties": {"k": {"const": "x"}, "v": {"type": "integer"}}, "required": ["k", "v"]},
            {"type": "object", "properties": {"k": {"const": "y"}}, "required": ["k", "w"]},
        ]}),
        json!({"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 4}]}),
        json!({"type": "integer", "not": {"const": 0}, "nullable": true}),
        json!({"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": true, "minItems": 3}),
        json!({"type": "array", "items": {"type": "boolean"}, "uniqueItems": true, "minItems": 2}),
        json!({"type": "array", "items": {"type": "integer"}, "contains": {"const": 5}}),
        json!({"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 2}),
        json!({"type": "object", "patternProperties": {"^x-": {"type": "null"}}, "additionalProperties": false, "minProperties": 1}),
        json!({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}, "minProperties": 1}),
        json!({"type": "object", "properties": {"a": {}, "b": {"type": "string"}}, "required": ["a"], "dependentRequired": {"a": ["b"]}}),
        json!({"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {}}, "required": ["a"],
            "if": {"properties": {"a": {"const": "x"}}}, "then": {"required": ["b"]}, "else": {"maxProperties": 1}}),
    ]);
    for property in properties {
        let schema = json!({"type": "object", "properties": {"p": property}, "required": ["p"]});
        let options = jsonschema::options().should_validate_formats(true);
        let validator = options.build(&schema).unwrap();
        for seed in 0..40 {
            let made = arguments(&TestModel::new().seed(seed), schema.clone()).await;
            let made = made.unwrap_or_else(|error| panic!("{schema}: {error:?}"));
            assert!(validator.is_valid(&made), "{made} for {schema}");
        }
    }
}

// E7, B5
#[tokio::test]
async fn a_form_that_is_asked_for_is_kept() {
    let schema = json!({"type": "object", "properties": {"degrees": {"type": "number"}}, "required": ["degrees"]});
    let output = OutputSchema::new("weather", schema.clone());
    let request = asked("Go.").with_response_format(Some(ResponseFormat::JsonSchema(output)));

    let text = TestModel::new().chat(request).await.unwrap().message.text;
    assert!(
        accepts(&schema, &serde_json::from_str(&text).unwrap()),
        "{text}"
    );
}

// E4
#[tokio::test]
async fn it_answers_streamed_and_plain_alike() {
    let request = asked("Go.").with_tools(ToolList::new([greet::DEFINITION.clone()]));

    let plain = TestModel::new().chat(request.clone()).await.unwrap();
    assert_eq!(streamed(&TestModel::new(), request).await.unwrap(), plain);
}

#[tokio::test]
async fn arguments_fit_schemas_that_are_written_by_hand() {
    for schema in [
        json!({"type": "object"}),
        json!({"type": "object", "properties": {"a": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "integer", "multipleOf": 7, "minimum": 8}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"oneOf": [{"type": "integer"}, {"type": "number", "maximum": 5}]}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": false}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 2, "maxItems": 3}}, "required": ["a"]}),
        json!({"type": "object", "additionalProperties": {"type": "string", "minLength": 3}}),
        json!({"type": "object", "properties": {"node": {"$ref": "#/$defs/Node"}}, "required": ["node"], "additionalProperties": false,
            "$defs": {"Node": {"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}, "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}}, "required": ["name", "children"]}}}),
        json!({"type": "object", "properties": {"when": {"type": "string", "format": "date-time"}, "id": {"type": "string", "format": "uuid"}}, "required": ["when", "id"]}),
        json!({"type": "object", "properties": {"a": {"type": ["string", "null"], "default": 7}}, "required": ["a"]}),
    ] {
        for seed in 0..50 {
            let made = arguments(&TestModel::new().seed(seed), schema.clone()).await;
            let made = made.unwrap_or_else(|kind| panic!("{schema}: {kind:?}"));
            assert!(accepts(&schema, &made), "{schema} refuses {made}");
        }
    }
}

#[tokio::test]
async fn a_large_integer_is_written_as_one_and_an_unknown_format_is_any_text() {
    let schema = json!({
        "type": "object",
        "properties": {
            "large": {"type": "integer", "minimum": 9_007_199_254_740_993_u64},
            "small": {"type": "integer", "maximum": i64::MIN},
            "word": {"type": "string", "format": "password", "minLength": 3},
        },
        "required": ["large", "small", "word"],
    });

    let arguments = arguments(&TestModel::new(), schema).await.unwrap();

    assert!(
        arguments["large"].is_u64() && arguments["small"].is_i64(),
        "{arguments}"
    );
    assert!(
        arguments["word"]
            .as_str()
            .is_some_and(|word| word.len() >= 3)
    );
}

#[tokio::test]
async fn schemas_that_lead_back_to_themselves_in_many_ways_are_given_up_soon() {
    let back = json!({"$ref": "#/$defs/A"});
    let many = vec![back.clone(); 6];
    for a in [
        json!({"anyOf": many}),
        json!({"allOf": many}),
        json!({"type": "array", "prefixItems": many, "minItems": 6}),
        json!({"type": "object", "properties": {"a": back, "b": back, "c": back, "d": back}, "required": ["a", "b", "c", "d"]}),
        back.clone(),
    ] {
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["a"], "$defs": {"A": a}});
        let error = arguments(&TestModel::new(), schema).await.unwrap_err();
        assert_eq!(error, ModelErrorKind::Configuration);
    }
}

#[tokio::test]
async fn a_tool_made_from_a_schema_accepts_what_is_made() {
    let schema = json!({"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+$"}, "minItems": 1}}, "required": ["tags"]});
    let tool = FunctionTool::from_schema("tag", "Tags.", schema, |input: Value| async move {
        input["tags"].clone()
    });
    let agent = ReactAgent::builder("assistant", TestModel::new())
        .tools(tool.unwrap())
        .build()
        .unwrap();

    let output = agent.run("Go.").await.unwrap();
    assert!(!output.messages()[2].tool_results()[0].is_error());
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "null"})),
        Just(json!({})),
        (-50i64..50, 0i64..9).prop_map(
            |(low, more)| json!({"type": "integer", "minimum": low, "maximum": low + more})
        ),
        (-50i64..50).prop_map(|low| json!({"type": "number", "exclusiveMinimum": low})),
        (0u64..20, 0u64..9).prop_map(
            |(low, more)| json!({"type": "string", "minLength": low, "maxLength": low + more})
        ),
        proptest::collection::vec("[a-z]{1,4}", 1..4).prop_map(|words| json!({"enum": words})),
        "[a-z]{1,4}".prop_map(|word| json!({"const": word})),
    ]
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0u64..3, 0u64..4).prop_map(|(items, low, more)| json!({"type": "array", "items": items, "minItems": low, "maxItems": low + more})),
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|all| json!({"anyOf": all})),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"type": "array", "prefixItems": all})),
            object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let members = proptest::collection::btree_map("[a-z]{1,4}", (inner, any::<bool>()), 0..4);
    (members, any::<bool>()).prop_map(|(members, open)| {
        let required: Vec<&String> = members.iter().filter(|it| it.1.1).map(|it| it.0).collect();
        let properties: serde_json::Map<String, Value> = members.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": open})
    })
}

// E7
proptest! {
    #[test]
    fn every_value_made_of_a_schema_is_accepted_by_it(schema in object(schema()), seed: u64) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let made = runtime.block_on(arguments(&TestModel::new().seed(seed), schema.clone()));
        prop_assert!(made.is_ok(), "nothing was made of {schema}");
        let made = made.unwrap();
        prop_assert!(accepts(&schema, &made), "{schema} refuses {made}");
    }
}

#[derive(serde::Deserialize, ToolSchema)]
#[allow(dead_code)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle {
        radius: f64,
    },
    Group {
        parts: Vec<Shape>,
        name: Option<String>,
    },
    Empty,
}

#[tool]
async fn draw(shape: Shape, #[param(schemars)] ids: std::collections::BTreeMap<String, u16>) {
    drop((shape, ids));
}

#[tokio::test]
async fn what_is_made_of_derived_types_can_be_read_by_them() {
    for seed in 0..100 {
        let agent = ReactAgent::builder("assistant", TestModel::new().seed(seed))
            .tools(tools![draw, greet])
            .build()
            .unwrap();

        let output = agent.run("Go.").await.unwrap();
        for result in output.messages()[2].tool_results() {
            assert!(!result.is_error(), "{}", result.text());
        }
    }
}
