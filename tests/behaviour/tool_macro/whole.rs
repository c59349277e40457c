//! `#[tool(args)]`: one parameter is the whole input. And what is said of the output.

#![allow(clippy::needless_pass_by_value, reason = "a tool owns its arguments")]

use std::collections::BTreeMap;

use agent_core::schema::Dialect;
use agent_core::tool::{InputSchema, IntoTools, Json, ToolErrorKind, ToolOutcome};
use agent_core::{Host, ToolContext, ToolDefinition, ToolSchema, ToolSet, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{called, told};

/// What to show.
#[derive(Debug, Serialize, Deserialize, ToolSchema)]
struct Page {
    /// Which one
    page: u8,
    #[serde(default)]
    words: Vec<String>,
}

/// Shows a page.
#[tool(args)]
async fn show(page: Page, context: &ToolContext) -> String {
    format!("{} {:?} {}", page.page, page.words, context.attempt())
}

// A4, sc-07
#[tokio::test]
async fn a_struct_can_be_the_whole_input() {
    const TEXT: Option<&str> = show::DEFINITION.input_schema().const_text();

    assert_eq!(
        TEXT,
        Some(concat!(
            r#"{"type":"object","properties":{"page":{"type":"integer","minimum":0,"maximum":255,"#,
            r#""description":"Which one"},"words":{"type":"array","items":{"type":"string"}}},"#,
            r#""required":["page"],"additionalProperties":false}"#,
        ))
    );
    assert_eq!(show::DEFINITION.description(), "Shows a page.");
    assert_eq!(told(show::callback(), r#"{"page":3}"#).await, "3 [] 1");
}

#[tool(args)]
fn show_borrowed(page: &Chosen) -> u8 {
    page.page
}

#[derive(Clone, Deserialize, ToolSchema)]
struct Chosen {
    page: u8,
}

// A5
#[tokio::test]
async fn the_whole_input_may_be_borrowed_and_its_faults_are_told() {
    assert_eq!(told(show_borrowed::callback(), r#"{"page":3}"#).await, "3");

    for arguments in ["", "null", "{}", r#"{"page":"x"}"#, "[3]"] {
        let error = called(show_borrowed::callback(), arguments)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}");
    }
}

#[derive(Deserialize, ToolSchema)]
struct Folder {
    name: String,
    folders: Vec<Folder>,
}

#[tool(args)]
fn count_folders(folder: Folder) -> usize {
    fn count(folder: &Folder) -> usize {
        1 + folder.folders.iter().map(count).sum::<usize>()
    }
    assert!(!folder.name.is_empty());
    count(&folder)
}

// A7
#[tokio::test]
async fn a_type_that_holds_itself_can_be_the_whole_input() {
    let schema = count_folders::DEFINITION.input_schema().value();

    assert_eq!(schema["type"], "object");
    assert_eq!(
        schema["properties"]["folders"]["items"]["$ref"],
        "#/$defs/Folder"
    );
    assert_eq!(schema["$defs"]["Folder"]["type"], "object");
    let arguments = r#"{"name":"a","folders":[{"name":"b","folders":[]}]}"#;
    assert_eq!(told(count_folders::callback(), arguments).await, "2");
}

#[derive(Deserialize, JsonSchema)]
struct Described {
    words: Vec<String>,
}

#[tool(args, schemars)]
fn find_described(filter: Described) -> usize {
    filter.words.len()
}

#[tool(args)]
fn find_so_described(#[param(schemars)] filter: Described) -> usize {
    filter.words.len()
}

// A9
#[tokio::test]
async fn the_whole_input_may_be_described_by_schemars() {
    for tool in tools![find_described, find_so_described] {
        let schema = tool.definition().input_schema().value();

        assert_eq!(schema["type"], "object");
        assert_eq!(schema["required"], json!(["words"]));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(told(tool, r#"{"words":["a"]}"#).await, "1");
    }
}

#[tool(args)]
fn label(labels: BTreeMap<String, u8>, host: Host<u8>) -> usize {
    let _ = host;
    labels.len()
}

#[test]
fn the_whole_input_may_be_a_map() {
    assert_eq!(
        label::DEFINITION.input_schema().value(),
        json!({"type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 255}})
    );
    assert_eq!(label::DEFINITION.required_hosts().len(), 1);
    assert!(ToolSet::new(tools![label, show, find_described]).is_ok());
}

/// A command.
#[derive(Deserialize, ToolSchema)]
#[serde(tag = "action")]
enum Cmd {
    Open { path: String },
    Close,
}

#[tool(args)]
fn command(command: Cmd) -> String {
    match command {
        Cmd::Open { path } => path,
        Cmd::Close => "closed".to_owned(),
    }
}

// sc-14, A4
#[tokio::test]
async fn a_tagged_enum_can_be_the_whole_input() {
    let neutral = command::DEFINITION.input_schema().value();
    assert_eq!(neutral["type"], "object");
    assert_eq!(neutral["anyOf"].as_array().map(Vec::len), Some(2));
    for dialect in Dialect::ALL {
        if dialect == Dialect::Neutral {
            continue;
        }
        let written = dialect.translate(&neutral).schema;
        for keyword in ["oneOf", "anyOf", "allOf", "enum", "not"] {
            assert_eq!(written.get(keyword), None, "{dialect}");
        }
        let kind = written["type"].as_str().map(str::to_lowercase);
        assert_eq!(kind.as_deref(), Some("object"), "{dialect}");
        assert_eq!(
            written["properties"]["action"]["enum"],
            json!(["Close", "Open"]),
            "{dialect}"
        );
    }
    // A strict provider must give every property: what the variant has not is null.
    for (arguments, result) in [
        (r#"{"action":"Open","path":"x"}"#, "x"),
        (r#"{"action":"Close"}"#, "closed"),
        (r#"{"action":"Close","path":null}"#, "closed"),
    ] {
        assert_eq!(told(command::callback(), arguments).await, result);
    }
    for (arguments, fault) in [
        (r#"{"action":"Open"}"#, "argument `path` is missing"),
        (r#"{"action":"Shut"}"#, r#"one of "Close", "Open""#),
        ("{}", "argument `action` is missing"),
    ] {
        let error = called(command::callback(), arguments).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
        assert!(error.to_string().contains(fault), "{error}");
    }
}

struct Library;

#[tool]
impl Library {
    #[tool(args)]
    #[allow(clippy::unused_self)]
    fn look_up(&self, page: Page) -> Page {
        page
    }
}

// A13
#[tokio::test]
async fn a_method_may_take_its_whole_input_at_once() {
    let tool = Library.into_tools().swap_remove(0);

    assert_eq!(
        told(tool, r#"{"page":3}"#).await,
        r#"{"page":3,"words":[]}"#
    );
}

#[tool(open)]
fn lenient(page: u8) -> u8 {
    page
}

#[tool(open, schemars)]
fn lenient_at_run_time(page: u8) -> u8 {
    page
}

#[tool(open, args)]
fn lenient_whole(page: Page) -> u8 {
    page.page
}

// A4, js.9, js.21 at the root: `true` says what nothing at all would
#[tokio::test]
async fn an_open_tool_allows_other_properties() {
    for tool in tools![lenient, lenient_at_run_time, lenient_whole] {
        let schema = tool.definition().input_schema().value();
        assert_eq!(schema["additionalProperties"], true);
        assert_eq!(told(tool, r#"{"page":3,"more":4}"#).await, "3");
    }
    let text = lenient::DEFINITION.input_schema().const_text();
    assert!(text.is_some_and(|text| text.ends_with(r#""additionalProperties":true}"#)));
}

type Res<T> = Result<T, std::fmt::Error>;

#[tool]
fn page() -> Page {
    Page {
        page: 1,
        words: Vec::new(),
    }
}
#[tool]
async fn page_or_error() -> Res<Page> {
    Ok(page())
}
#[tool]
fn maybe_page() -> Option<Page> {
    Some(page())
}
#[tool]
fn page_as_json() -> Res<Json<Page>> {
    Ok(Json(page()))
}
#[tool]
fn pages() -> Vec<Page> {
    vec![page()]
}
#[tool]
fn number() -> Res<Option<f64>> {
    Ok(Some(0.5))
}
#[tool]
fn text() -> String {
    String::new()
}
#[tool]
fn borrowed(of: &str) -> &str {
    of
}
#[tool]
fn nothing() {}
#[tool]
fn unit() -> Res<()> {
    Ok(())
}
#[tool]
fn opaque() -> impl Serialize {
    1
}
#[tool]
fn without_schema() -> Option<serde_json::Map<String, serde_json::Value>> {
    None
}

fn output(definition: &ToolDefinition) -> Option<serde_json::Value> {
    definition.output_schema().map(InputSchema::value)
}

// A10
#[test]
fn a_return_type_with_a_schema_is_the_schema_of_the_output() {
    let page = output(page::DEFINITION).unwrap();
    assert_eq!(page["properties"]["page"]["description"], "Which one");
    assert_eq!(output(page_or_error::DEFINITION).as_ref(), Some(&page));
    assert_eq!(output(page_as_json::DEFINITION).as_ref(), Some(&page));
    let maybe = output(maybe_page::DEFINITION).unwrap();
    assert_eq!(maybe["type"], json!(["object", "null"]));
    assert_eq!(
        output(pages::DEFINITION).unwrap()["items"]["type"],
        "object"
    );
    assert_eq!(
        output(number::DEFINITION),
        Some(json!({"type": ["number", "null"]}))
    );
}

// A10
#[test]
fn text_and_what_has_no_schema_have_no_schema_of_the_output() {
    for tool in tools![text, borrowed, nothing, unit, opaque] {
        assert!(tool.definition().output_schema().is_none());
    }
    assert!(without_schema::DEFINITION.output_schema().is_some());
}

// A10
#[tokio::test]
async fn the_value_is_kept_beside_the_text() {
    for tool in tools![page, page_or_error, maybe_page, page_as_json] {
        let ToolOutcome::Done(output) = called(tool, "").await.unwrap() else {
            panic!("a page is no question");
        };
        assert_eq!(output.text(), r#"{"page":1,"words":[]}"#);
        assert_eq!(output.value(), Some(json!({"page": 1, "words": []})));
    }
}
