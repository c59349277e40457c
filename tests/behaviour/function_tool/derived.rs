//! Inputs of derived types.

use agent_core::tool::{ExtraArguments, FunctionTool};
use agent_core::{ToolCallback, ToolSchema, ToolSet};
use serde::Deserialize;
use serde_json::json;

use super::{error, output};

#[tokio::test]
async fn a_type_that_holds_itself() {
    #[derive(Deserialize, ToolSchema)]
    struct Node {
        /// Its name
        name: String,
        children: Vec<Node>,
    }
    let tool = FunctionTool::new("tree", "A tree.", async |root: Node| {
        format!("{} {}", root.name, root.children.len())
    });

    let schema = tool.definition().input_schema().value();
    // sc-07, sc-09
    assert_eq!(schema["type"], "object");
    assert_eq!(
        schema["properties"]["children"],
        json!({"type": "array", "items": {"$ref": "#/$defs/Node"}})
    );
    assert_eq!(
        schema["$defs"]["Node"]["required"],
        json!(["name", "children"])
    );
    assert_eq!(
        output(
            &tool,
            r#"{"name": "a", "children": [{"name": "b", "children": []}]}"#
        )
        .await
        .text(),
        "a 1"
    );
    let error = error(&tool, r#"{"name": "a", "children": [{"name": "b"}]}"#).await;
    assert!(error.contains("children"), "{error}");
    assert!(ToolSet::new(tool).is_ok());
}

// sc-14
#[tokio::test]
async fn a_choice_of_objects_is_an_object() {
    #[derive(Deserialize, ToolSchema)]
    #[serde(tag = "action", rename_all = "lowercase")]
    enum Command {
        Open { path: String },
        Close,
    }
    let tool = FunctionTool::new(
        "command",
        "A command.",
        async |command: Command| match command {
            Command::Open { path } => path,
            Command::Close => "closed".to_owned(),
        },
    );

    let schema = tool.definition().input_schema().value();
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["anyOf"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        output(&tool, r#"{"action": "open", "path": "x"}"#)
            .await
            .text(),
        "x"
    );
    assert_eq!(
        output(&tool, r#"{"action": "close"}"#).await.text(),
        "closed"
    );
    let error = error(&tool, r#"{"action": "open"}"#).await;
    assert!(error.contains("path"), "{error}");
    assert!(ToolSet::new(tool).is_ok());
}

#[tokio::test]
async fn a_generic_type_with_flattened_fields() {
    #[derive(Deserialize, ToolSchema)]
    struct Page<T> {
        #[serde(flatten)]
        filter: T,
        #[serde(default)]
        page: usize,
    }
    #[derive(Deserialize, ToolSchema)]
    struct Words {
        words: Vec<String>,
    }
    let tool = FunctionTool::new("find", "Finds.", async |page: Page<Words>| {
        page.filter.words.len() + page.page
    });

    assert_eq!(
        tool.definition().input_schema().text(),
        r#"{"type":"object","properties":{"words":{"type":"array","items":{"type":"string"}},"page":{"type":"integer","minimum":0}},"required":["words"],"additionalProperties":false}"#
    );
    assert_eq!(
        output(&tool, r#"{"words": ["a"], "page": 2}"#).await.text(),
        "3"
    );
    assert!(ToolSet::new(tool).is_ok());
}

// A16
#[test]
fn a_choice_of_objects_takes_no_extra_arguments() {
    #[derive(Deserialize, ToolSchema)]
    #[serde(tag = "action")]
    enum Command {
        Open {
            #[expect(dead_code, reason = "only its schema counts")]
            wide: bool,
        },
        Close,
    }
    #[derive(Deserialize, ToolSchema)]
    struct Reason {
        #[expect(dead_code, reason = "only its schema counts")]
        reason: String,
    }
    let tool = FunctionTool::new("door", "A door.", async |_: Command| ());

    let error = ToolSet::new(tool)
        .unwrap()
        .augment(|_: ExtraArguments<'_, Reason>| ());

    assert_eq!(
        error.unwrap_err().to_string(),
        "tool `door` cannot have the extra arguments: its input is put together of several objects"
    );
}
