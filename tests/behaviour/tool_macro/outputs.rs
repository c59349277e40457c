//! Every kind of return type.

use std::borrow::Cow;
use std::fmt;

use agent_core::message::{ContentPart, Image};
use agent_core::schema::Base64;
use agent_core::tool::{InterruptRequest, Json, ToolErrorKind, ToolOutcome};
use agent_core::{BoxError, IntoToolOutput, ToolError, ToolOutput, tool, tools};
use serde::Serialize;
use serde_json::json;

use super::{called, told};

#[derive(Serialize)]
struct Weather {
    degrees: i8,
}

#[derive(Debug)]
struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is broken")
    }
}

impl std::error::Error for Broken {}

type Res<T> = Result<T, Broken>;

struct Celsius(f64);

impl IntoToolOutput for Celsius {
    fn into_tool_output(self) -> Result<ToolOutcome, ToolError> {
        format!("{} °C", self.0).into_tool_output()
    }
}

#[tool]
async fn unit() {}
#[tool]
async fn text() -> &'static str {
    "a"
}
#[tool]
async fn string() -> String {
    "b".to_owned()
}
#[tool]
async fn cow() -> Cow<'static, str> {
    "c".into()
}
#[tool]
async fn serialized() -> Weather {
    Weather { degrees: 3 }
}
#[tool]
async fn wrapped() -> Json<Vec<u8>> {
    Json(vec![1])
}
#[tool]
async fn bytes() -> Base64 {
    Base64(b"hi".to_vec())
}
#[tool]
async fn parts() -> Vec<ContentPart> {
    vec!["d".into(), "e".into()]
}
#[tool]
async fn output() -> ToolOutput {
    ToolOutput::from_text("f")
}
#[tool]
async fn outcome() -> ToolOutcome {
    ToolOutcome::Interrupt(InterruptRequest::new("sure?"))
}
#[tool]
async fn command() -> std::io::Result<std::process::Output> {
    std::process::Command::new("true").output()
}
#[tool]
async fn some() -> Option<Weather> {
    Some(Weather { degrees: -3 })
}
#[tool]
async fn none() -> Option<&'static str> {
    None
}
#[tool]
async fn number() -> Res<f64> {
    Ok(0.5)
}
#[tool]
async fn result_of_text() -> Res<&'static str> {
    Ok("g")
}
#[tool]
async fn own() -> Result<Celsius, BoxError> {
    Ok(Celsius(21.5))
}
#[tool]
async fn opaque() -> impl Serialize {
    [1, 2]
}
#[tool]
fn blocking() -> Res<Weather> {
    Ok(Weather { degrees: 0 })
}

// A10
// pitfall: return types are told by their spelling
#[tokio::test]
async fn every_return_type_has_its_text() {
    let cases = [
        (unit::callback(), "Done"),
        (text::callback(), "a"),
        (string::callback(), "b"),
        (cow::callback(), "c"),
        (serialized::callback(), r#"{"degrees":3}"#),
        (wrapped::callback(), "[1]"),
        (bytes::callback(), "aGk="),
        (parts::callback(), "d\ne"),
        (output::callback(), "f"),
        (outcome::callback(), r#"asked: "sure?""#),
        (command::callback(), "exit code: 0"),
        (some::callback(), r#"{"degrees":-3}"#),
        (none::callback(), "null"),
        (number::callback(), "0.5"),
        (result_of_text::callback(), "g"),
        (own::callback(), "21.5 °C"),
        (opaque::callback(), "[1,2]"),
        (blocking::callback(), r#"{"degrees":0}"#),
    ];

    for (tool, expected) in cases {
        let name = tool.definition().name().to_owned();
        assert_eq!(told(tool, "").await, expected, "{name}");
    }
}

#[tool]
async fn picture() -> Image {
    Image::new("image/png", [1_u8, 2, 3])
}

// A10
#[tokio::test]
async fn an_image_is_a_part_and_a_value() {
    let Ok(ToolOutcome::Done(output)) = called(picture::callback(), "").await else {
        panic!("no output");
    };

    assert!(matches!(output.content(), [ContentPart::Image(_)]));
    assert_eq!(
        output.value(),
        Some(json!({"mimeType": "image/png", "data": "AQID"}))
    );
}

#[tool]
async fn breaks() -> Res<Weather> {
    Err(Broken)
}
#[tool]
fn breaks_in_place() -> Res<String> {
    Err(Broken)
}
#[tool]
async fn helps() -> Result<Weather, BoxError> {
    Err(ToolError::correctable("try `Oslo`").into())
}

// A10
#[tokio::test]
async fn an_error_is_told_by_its_display() {
    for tool in tools![breaks, breaks_in_place] {
        let error = called(tool, "").await.unwrap_err();

        assert_eq!(error.model_text(), "Error: it is broken");
        assert!(error.downcast_ref::<Broken>().is_some());
    }
    let error = called(helps::callback(), "").await.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Correctable);
}
