//! Extra arguments: told to the model, handed on, and not seen by the tool.

use std::sync::{Arc, Mutex};

use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::schema::Schemars;
use agent_core::tool::{ExtraArguments, FunctionTool, ToolSetError};
use agent_core::{Host, ReactAgent, ToolSchema, ToolSet, tool, tools};
use agent_tests::runs::results;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Deserialize, ToolSchema)]
struct Thought {
    /// Why this tool is called
    inner_thought: Option<String>,
    /// From 0 to 10
    confidence: u8,
}

/// Current weather.
#[tool(register = false, return_direct)]
async fn weather(
    city: String,
    #[expect(unused, reason = "asked for only")] db: Host<u8>,
) -> String {
    city
}

fn echo() -> ToolSet {
    let schema = json!({"properties": {"a": {"type": "integer"}}, "additionalProperties": false});
    let echo = FunctionTool::from_schema("echo", "Echo.", schema, async |all: Value| all);
    ToolSet::new(echo.expect("the schema is right")).expect("one tool is a set")
}

/// What a consumer saw, call by call.
type Seen = Arc<Mutex<Vec<(String, Thought, String)>>>;

fn watched(set: &ToolSet) -> (ToolSet, Seen) {
    let seen = Seen::default();
    let log = Arc::clone(&seen);
    let set = set.augment(move |extra: ExtraArguments<'_, Thought>| {
        let seen = (
            extra.definition.name().to_owned(),
            extra.value,
            extra.arguments.to_owned(),
        );
        log.lock().expect("nobody panics").push(seen);
    });
    (set.expect("the names differ"), seen)
}

/// The texts of the results of a run in which the model calls `echo` with these arguments.
async fn run(set: ToolSet, arguments: Value) -> Vec<(String, bool)> {
    let model = ScriptedModel::new([calls("echo", arguments), says("done")]);
    let agent = ReactAgent::builder("assistant", model).tools(set);
    let agent = agent.build().expect("the agent is right");
    let output = agent.run("Go").await.expect("the run ends");
    let results = results(output.messages()).into_iter();
    results
        .map(|result| (result.text(), result.is_error()))
        .collect()
}

// A16, AU-1
#[test]
fn the_model_is_told_the_extra_arguments() {
    let (set, _) = watched(&ToolSet::new(tools![weather]).unwrap());

    assert_eq!(
        set.get("weather").unwrap().definition().input_schema().text(),
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "inner_thought": {"type": ["string", "null"], "description": "Why this tool is called"},
                "confidence": {"type": "integer", "minimum": 0, "maximum": 255, "description": "From 0 to 10"},
            },
            "required": ["city", "confidence"],
            "additionalProperties": false,
        })
        .to_string()
    );
}

// A16, AU-1, au.1
#[tokio::test]
async fn they_are_handed_on_and_the_tool_does_not_see_them() {
    let (set, seen) = watched(&echo());
    let arguments =
        json!({"inner_thought": "It rains.", "a": 9_007_199_254_740_993_i64, "confidence": "7"});

    assert_eq!(
        run(set, arguments.clone()).await,
        [(r#"{"a":9007199254740993}"#.to_owned(), false)]
    );
    let thought = Thought {
        inner_thought: Some("It rains.".to_owned()),
        confidence: 7,
    };
    assert_eq!(
        *seen.lock().unwrap(),
        [("echo".to_owned(), thought, arguments.to_string())]
    );
}

// A16, AU-1
#[tokio::test]
async fn they_can_stay_in_the_call() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let open = json!({"properties": {"a": {"type": "integer"}}});
    let echo = FunctionTool::from_schema("echo", "Echo.", open, async |all: Value| all);
    let echo = ToolSet::new(echo.unwrap()).unwrap();
    let set = echo.augment_keeping(move |extra: ExtraArguments<'_, Thought>| {
        log.lock().unwrap().push(extra.value.confidence);
    });
    let arguments = json!({"a": 1, "confidence": 7});

    assert_eq!(
        run(set.unwrap(), arguments.clone()).await,
        [(arguments.to_string(), false)]
    );
    assert_eq!(*seen.lock().unwrap(), [7]);
}

// A16
#[tokio::test]
async fn ones_that_do_not_fit_are_told_to_the_model_and_nothing_runs() {
    for (arguments, expected) in [
        (
            json!({"a": 1}),
            "Error: argument `confidence` is missing: expected an integer from 0 to 255; for example: 1",
        ),
        (
            json!({"a": 1, "confidence": "high"}),
            "Error: argument `confidence` does not fit its type: expected an integer from 0 to 255, got \"high\"; for example: 1",
        ),
    ] {
        let (set, seen) = watched(&echo());

        assert_eq!(run(set, arguments).await, [(expected.to_owned(), true)]);
        assert!(seen.lock().unwrap().is_empty());
    }
}

// AU-2, au.1
#[test]
fn all_else_of_a_tool_stays() {
    let (set, _) = watched(&ToolSet::new(tools![weather]).unwrap());
    let tool = set.get("weather").unwrap();

    assert_eq!(tool.definition().description(), "Current weather.");
    assert_eq!(
        tool.definition().required_hosts(),
        weather::DEFINITION.required_hosts()
    );
    assert!(tool.metadata().is_return_direct());
    assert!(tool.metadata().location().is_some());
}

// A16
#[tokio::test]
async fn a_tool_can_be_augmented_twice_under_another_name() {
    #[derive(Deserialize, ToolSchema)]
    struct Step {
        step: u32,
    }
    let steps = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&steps);
    let (set, seen) = watched(&echo().prefix("x_").unwrap());
    let set = set
        .augment(move |extra: ExtraArguments<'_, Step>| {
            log.lock().unwrap().push(extra.value.step);
        })
        .unwrap()
        .rename("x_echo", "echo")
        .unwrap();

    let results = run(set, json!({"a": 1, "step": 3, "confidence": 1})).await;

    assert_eq!(results, [(r#"{"a":1}"#.to_owned(), false)]);
    assert_eq!(*steps.lock().unwrap(), [3]);
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[test]
fn a_name_that_the_tool_has_is_refused() {
    #[derive(Deserialize, ToolSchema)]
    struct City {
        #[expect(dead_code, reason = "only its name counts")]
        city: String,
    }

    let error = ToolSet::new(tools![weather])
        .unwrap()
        .augment(|_: ExtraArguments<'_, City>| ());

    assert_eq!(
        error.unwrap_err(),
        ToolSetError::Augment {
            name: "weather".to_owned(),
            problem: "it has an argument `city` of its own".to_owned(),
        }
    );
}

#[test]
fn what_has_no_properties_is_refused() {
    let error = echo()
        .augment(|_: ExtraArguments<'_, String>| ())
        .unwrap_err();

    assert_eq!(
        error.to_string(),
        "tool `echo` cannot have the extra arguments: they are not the properties of an object"
    );
}

#[test]
fn definitions_join_at_the_root() {
    #[derive(Deserialize, JsonSchema)]
    struct Mood {
        #[expect(dead_code, reason = "only its schema counts")]
        mood: Inner,
    }
    #[derive(Deserialize, JsonSchema)]
    enum Inner {
        Good,
        Bad,
    }
    let set = echo()
        .augment(|_: ExtraArguments<'_, Schemars<Mood>>| ())
        .unwrap();

    let schema = set.get("echo").unwrap().definition().input_schema().value();

    assert_eq!(
        schema["properties"]["mood"],
        json!({"$ref": "#/$defs/Inner"})
    );
    assert_eq!(schema["$defs"]["Inner"]["enum"], json!(["Good", "Bad"]));
}

// A16, TS-9
#[test]
fn a_definition_whose_name_another_has_is_renamed() {
    #[derive(Deserialize, JsonSchema)]
    struct Mood {
        #[expect(dead_code, reason = "only its schema counts")]
        mood: Inner,
        #[expect(dead_code, reason = "only its schema counts")]
        moods: Vec<Inner>,
    }
    #[derive(Deserialize, JsonSchema)]
    enum Inner {
        Good,
        Bad,
    }
    let own = json!({
        "type": "object",
        "$defs": {"Inner": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/Inner"}},
    });
    let tool = FunctionTool::from_schema("echo", "Echo.", own, async |all: Value| all).unwrap();
    let set = ToolSet::new(tool).unwrap();
    let set = set.augment(|_: ExtraArguments<'_, Schemars<Mood>>| ());

    let set = set.unwrap();
    let schema = set.get("echo").unwrap().definition().input_schema().value();

    assert_eq!(
        schema["properties"],
        json!({
            "a": {"$ref": "#/$defs/Inner"},
            "mood": {"$ref": "#/$defs/Inner_2"},
            "moods": {"type": "array", "items": {"$ref": "#/$defs/Inner_2"}},
        })
    );
    assert_eq!(schema["$defs"]["Inner"], json!({"type": "string"}));
    assert_eq!(schema["$defs"]["Inner_2"]["enum"], json!(["Good", "Bad"]));
}
