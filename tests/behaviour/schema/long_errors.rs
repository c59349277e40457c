//! An error about arguments stays short and shows no secret, whatever a call holds.

#![allow(
    clippy::needless_pass_by_value,
    reason = "a tool owns what it is given"
)]

use std::collections::{BTreeSet, HashMap, HashSet};

use agent_core::tool::FunctionTool;
use agent_core::{ToolCallback, ToolContext, ToolSchema, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// What the model reads of a call that fails.
async fn error(tool: &dyn ToolCallback, arguments: &Value) -> String {
    let answer = tool
        .call(&arguments.to_string(), &ToolContext::default())
        .await;
    answer.expect_err("it does not fit").model_text()
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "no call gets here")]
struct Login {
    user: String,
    password: u8,
    pin_token: bool,
}

#[derive(Deserialize, ToolSchema)]
#[serde(try_from = "String")]
struct Never;

impl TryFrom<String> for Never {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Err(format!("no such thing: {text}"))
    }
}

#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "no call gets here")]
struct Folder {
    inside: HashMap<String, Folder>,
}

#[tool]
#[expect(unused_variables, reason = "no call gets here")]
fn log_in(#[param(schemars)] login: Login) {}

#[tool]
#[expect(unused_variables, reason = "no call gets here")]
fn find(what: Never) {}

#[tool]
#[expect(unused_variables, reason = "no call gets here")]
fn unlock(password: Never) {}

#[tool]
#[expect(unused_variables, reason = "no call gets here")]
fn count(counts: HashMap<String, u8>) {}

#[tool]
#[expect(unused_variables, reason = "no call gets here")]
fn list(folder: Folder) {}

#[tool]
#[expect(unused_variables, reason = "no call gets here")]
fn mark(password: bool) {}

#[tool]
fn pick(
    #[param(min_items = 2)] two: HashSet<u8>,
    #[param(max_items = 1)] one: BTreeSet<u8>,
) -> usize {
    two.len() + one.len()
}

// A10
#[tokio::test]
async fn what_a_type_says_of_a_long_value_is_shortened() {
    let long = "x".repeat(100_000);
    let tools = tools![log_in, find];

    for (tool, arguments) in [
        (
            &tools[0],
            json!({"login": {"user": 1, "password": 1, "pin_token": long}}),
        ),
        (&tools[0], json!({ "login": long })),
        (&tools[1], json!({ "what": long })),
    ] {
        let text = error(&**tool, &arguments).await;
        assert!(text.len() < 1_000, "{} bytes: {text:.300}", text.len());
    }
    let text = error(&*tools[1], &json!({ "what": long })).await;
    assert!(text.contains("no such thing: xxx"), "{text}");
    assert!(text.contains("xxx; for example"), "{text}");
}

// A10
#[tokio::test]
async fn a_long_key_is_shortened_and_stays_on_its_line() {
    let key = "k".repeat(100_000);
    let text = error(&*tools![count][0], &json!({"counts": { key: "many" }})).await;
    assert!(text.len() < 300, "{} bytes", text.len());

    let text = error(&*tools![count][0], &json!({"counts": {"a\nb": "many"}})).await;
    assert_eq!(
        text,
        "Error: argument `counts.a b` does not fit its type: expected an integer from 0 to 255, \
         got \"many\"; for example: 1",
    );
}

// A10
#[tokio::test]
async fn a_path_far_inside_is_shortened() {
    let mut folder = json!({"inside": 1});
    for _ in 0..50 {
        folder = json!({"inside": {"k".repeat(50): folder}});
    }
    let text = error(&*tools![list][0], &json!({ "folder": folder })).await;
    assert!(text.len() < 1_000, "{} bytes", text.len());
    assert!(text.contains(".inside` does not fit"), "{text}");
}

// A10
#[tokio::test]
async fn what_stands_under_a_secret_name_is_not_in_the_words_of_its_type() {
    for password in ["hunter2", "pi"] {
        let login = json!({"login": {"user": "ann", "password": password, "pin_token": true}});
        assert_eq!(
            error(&*tools![log_in][0], &login).await,
            "Error: argument `login` does not fit its type: invalid type: string ***, expected \
             u8; for example: {\"user\":\"text\",\"password\":1,\"pin_token\":true}",
        );
    }
    let text = error(&*tools![unlock][0], &json!({"password": "hunter2"})).await;
    assert!(text.contains("its type does not read it"), "{text}");

    let long = "hunter2 ".repeat(1_000);
    let text = error(&*tools![unlock][0], &json!({ "password": long })).await;
    assert!(!text.contains("hunter2"), "{text}");
}

// A10
#[tokio::test]
async fn a_number_under_a_secret_name_is_not_shown() {
    assert_eq!(
        error(&*tools![mark][0], &json!({"password": 1_234_567})).await,
        "Error: argument `password` does not fit its type: expected a bool, got a number that is \
         not shown; for example: true",
    );
}

// A10
#[tokio::test]
async fn arguments_that_are_validated_are_told_as_shortly_and_without_secrets() {
    let schema = json!({
        "type": "object",
        "properties": {"password": {"type": "string", "minLength": 20}},
        "additionalProperties": false,
    });
    let tool = FunctionTool::from_schema("tool", "A tool.", schema, async |input: Value| input)
        .expect("the schema is right");

    assert_eq!(
        error(&tool, &json!({"password": "hunter2"})).await,
        "Error: argument `password` does not fit its schema: it is shorter than 20 characters, \
         got a string that is not shown; for example: \"texttexttexttexttext\"",
    );
    let text = error(&tool, &json!({"k".repeat(100_000): 1})).await;
    assert!(text.len() < 1_000, "{} bytes", text.len());
}

// A9
#[tokio::test]
async fn of_a_set_each_item_counts_once() {
    let text = error(&*tools![pick][0], &json!({"two": [1, 1], "one": []})).await;
    assert!(text.contains("at least 2 items, got [1,1]"), "{text}");

    let fits = json!({"two": [1, 2, 2], "one": [3, 3]}).to_string();
    let answer = tools![pick][0].call(&fits, &ToolContext::default()).await;
    assert!(answer.is_ok(), "{answer:?}");
}
