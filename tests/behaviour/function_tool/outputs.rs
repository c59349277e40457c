//! What a closure can give, and how it is shown.

use agent_core::message::{ContentPart, Image};
use agent_core::tool::{FunctionTool, InterruptRequest, Json, ToolErrorKind, ToolOutcome};
use agent_core::{BoxError, ToolError, ToolOutput};
use serde::Serialize;
use serde_json::{Value, json};

use super::{call, error, output};

#[derive(Debug, Serialize)]
struct Weather {
    degrees: i32,
}

#[tokio::test]
async fn what_serde_writes_is_json_and_text_is_text() {
    let tools = [
        (FunctionTool::new("a", "A.", async || ()), "Done"),
        (FunctionTool::new("a", "A.", async || "text"), "text"),
        (
            FunctionTool::new("a", "A.", async || "text".to_owned()),
            "text",
        ),
        (FunctionTool::new("a", "A.", async || 1.5), "1.5"),
        (FunctionTool::new("a", "A.", async || Some(1)), "1"),
        (FunctionTool::new("a", "A.", async || None::<u8>), "null"),
        (FunctionTool::new("a", "A.", async || vec![1, 2]), "[1,2]"),
        (FunctionTool::new("a", "A.", async || Value::Null), "null"),
        (
            FunctionTool::new("a", "A.", async || Weather { degrees: 4 }),
            r#"{"degrees":4}"#,
        ),
        (FunctionTool::new("a", "A.", async || Json("text")), "text"),
        (
            FunctionTool::new("a", "A.", async || ToolOutput::from_text("out")),
            "out",
        ),
    ];

    for (tool, expected) in tools {
        assert_eq!(output(&tool, "{}").await.text(), expected);
    }
}

#[tokio::test]
async fn the_ok_of_every_result_is_shown_like_its_value() {
    fn ok<T, E>(value: T) -> Result<T, E> {
        Ok(value)
    }
    let tools = [
        (
            FunctionTool::new("a", "A.", async || ok::<_, std::io::Error>(())),
            "Done",
        ),
        (
            FunctionTool::new("a", "A.", async || ok::<_, String>(())),
            "Done",
        ),
        (
            FunctionTool::new("a", "A.", async || ok::<_, BoxError>(())),
            "Done",
        ),
        (
            FunctionTool::new("a", "A.", async || ok::<_, ToolError>("text")),
            "text",
        ),
        (
            FunctionTool::new("a", "A.", async || ok::<_, String>("text")),
            "text",
        ),
        (
            FunctionTool::new("a", "A.", async || ok::<_, &str>(Some(1))),
            "1",
        ),
        (
            FunctionTool::new("a", "A.", async || ok::<_, String>(None::<u8>)),
            "null",
        ),
        (
            FunctionTool::new("a", "A.", async || {
                ok::<_, std::fmt::Error>(Weather { degrees: 4 })
            }),
            r#"{"degrees":4}"#,
        ),
        (
            FunctionTool::blocking("a", "A.", || ok::<_, ToolError>(Json(1))),
            "1",
        ),
    ];

    for (tool, expected) in tools {
        assert_eq!(output(&tool, "{}").await.text(), expected);
    }
}

#[tokio::test]
async fn the_error_of_every_result_fails_the_call() {
    #[derive(Debug, thiserror::Error)]
    #[error("no such city")]
    struct NoCity;
    let boxed = || -> BoxError { NoCity.into() };
    let tools = [
        FunctionTool::new("a", "A.", async || Err::<(), _>(NoCity)),
        FunctionTool::new("a", "A.", async || Err::<u8, _>("no such city".to_owned())),
        FunctionTool::new("a", "A.", async || Err::<u8, _>("no such city")),
        FunctionTool::new("a", "A.", move || async move {
            Err::<Weather, BoxError>(boxed())
        }),
        FunctionTool::new("a", "A.", async || Err::<Json<u8>, _>(NoCity)),
        FunctionTool::new("a", "A.", async || Err::<u8, _>(ToolError::failed(NoCity))),
        FunctionTool::blocking("a", "A.", || Err::<(), _>(NoCity)),
    ];

    for tool in tools {
        assert_eq!(error(&tool, "{}").await, "Error: no such city");
    }
}

#[tokio::test]
async fn a_tool_error_inside_is_kept() {
    let tool = FunctionTool::new("a", "A.", async || {
        Err::<(), BoxError>(ToolError::correctable("try Oslo").into())
    });

    let error = call(&tool, "{}").await.unwrap_err();

    assert_eq!(error.kind(), ToolErrorKind::Correctable);
    assert_eq!(error.model_text(), "Error: try Oslo");
}

#[tokio::test]
async fn an_image_and_a_pause_pass_as_they_are() {
    let image = Image::new("image/png", *b"png");
    let shown = image.clone();
    let picture = FunctionTool::new("a", "A.", move || {
        let image = shown.clone();
        async move { image }
    });
    let pause = FunctionTool::new("a", "A.", async || {
        Ok::<_, ToolError>(ToolOutcome::Interrupt(InterruptRequest::new("sure?")))
    });

    assert_eq!(
        output(&picture, "{}").await.content(),
        [ContentPart::Image(image)]
    );
    assert_eq!(
        call(&pause, "{}").await.unwrap(),
        ToolOutcome::Interrupt(InterruptRequest::new(json!("sure?")))
    );
}
