//! How what a tool returns is shown to a model.

use std::borrow::Cow;

use agent_core::__private as P;
use agent_core::message::{ContentPart, Image};
use agent_core::tool::{Json, ToolErrorKind, ToolOutcome};
use agent_core::{ToolError, ToolOutput};
use serde::Serialize;
use serde_json::json;

macro_rules! converted {
    ($value:expr) => {{
        use P::convert::*;
        let value = $value;
        (&&&&&&P::Probe::of(&value))
            .__agent_conversion()
            .convert(value)
    }};
}

fn done(outcome: Result<ToolOutcome, ToolError>) -> ToolOutput {
    match outcome {
        Ok(ToolOutcome::Done(output)) => output,
        other => panic!("not done: {other:?}"),
    }
}

#[derive(Serialize)]
struct Weather {
    degrees: i32,
}

#[derive(Debug)]
struct Stormy;

impl std::fmt::Display for Stormy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("too stormy")
    }
}

impl std::error::Error for Stormy {}

impl From<ToolError> for Stormy {
    fn from(_: ToolError) -> Self {
        Self
    }
}

type Answer<T> = Result<T, Stormy>;

fn hidden() -> impl Serialize {
    Weather { degrees: 4 }
}

#[test]
fn every_return_type_has_its_text() {
    let texts = [
        (converted!(()), "Done"),
        (converted!("text"), "text"),
        (converted!(String::from("3 strings")), "3 strings"),
        (converted!(Cow::Borrowed("cow")), "cow"),
        (converted!(Json("quoted")), "quoted"),
        (converted!(Json(Weather { degrees: 1 })), r#"{"degrees":1}"#),
        (converted!(Weather { degrees: 2 }), r#"{"degrees":2}"#),
        (
            converted!(Answer::Ok(Weather { degrees: 3 })),
            r#"{"degrees":3}"#,
        ),
        (converted!(hidden()), r#"{"degrees":4}"#),
        (converted!(Answer::Ok(hidden())), r#"{"degrees":4}"#),
        (converted!(Answer::Ok("text")), "text"),
        (converted!(Answer::Ok(())), "Done"),
        (converted!(Answer::Ok(7)), "7"),
        (
            converted!(Ok::<_, agent_core::BoxError>(vec![1, 2])),
            "[1,2]",
        ),
        (converted!(Ok::<_, String>(Some("text"))), "text"),
        (converted!(None::<String>), "null"),
        (converted!(None::<Weather>), "null"),
        (converted!(Some(Weather { degrees: 5 })), r#"{"degrees":5}"#),
        (converted!(Answer::Ok(None::<Weather>)), "null"),
        (converted!(Vec::<String>::new()), "[]"),
        (converted!(1.5), "1.5"),
        (converted!(true), "true"),
        (
            converted!(vec![ContentPart::from("a"), ContentPart::from("b")]),
            "a\nb",
        ),
        (converted!(ToolOutput::from_text("made")), "made"),
        (
            converted!(ToolOutcome::Done(ToolOutput::from_text("made"))),
            "made",
        ),
    ];

    for (outcome, expected) in texts {
        assert_eq!(done(outcome).text(), expected);
    }
}

#[test]
fn an_error_fails_the_call_and_a_tool_error_inside_is_kept() {
    let stormy = converted!(Answer::<Weather>::Err(Stormy)).unwrap_err();
    assert_eq!(stormy.kind(), ToolErrorKind::Failed);
    assert_eq!(stormy.model_text(), "Error: too stormy");
    assert!(stormy.downcast_ref::<Stormy>().is_some());

    let boxed: Result<String, agent_core::BoxError> =
        Err(ToolError::correctable("say a city").into());
    assert_eq!(
        converted!(boxed).unwrap_err().kind(),
        ToolErrorKind::Correctable
    );
    let plain: Result<Weather, ToolError> = Err(ToolError::cancelled());
    assert_eq!(
        converted!(plain).unwrap_err().kind(),
        ToolErrorKind::Cancelled
    );
}

#[test]
fn an_image_is_a_part_and_has_a_value() {
    let image = Image::new("image/png", vec![1, 2, 3]);
    let output = done(converted!(image.clone()));

    assert_eq!(output.content(), [ContentPart::Image(image)]);
    assert_eq!(
        output.value(),
        Some(json!({"mimeType": "image/png", "data": "AQID"}))
    );
}

#[test]
fn a_value_is_kept_beside_its_text() {
    assert_eq!(
        done(converted!(Weather { degrees: 1 })).value(),
        Some(json!({"degrees": 1}))
    );
    assert_eq!(done(converted!("42")).value(), None);
}

#[cfg(unix)]
#[test]
fn a_command_shows_its_code_and_both_streams() {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{ExitStatus, Output};
    let output = |code: i32, stdout: &[u8], stderr: &[u8]| Output {
        status: ExitStatus::from_raw(code << 8),
        stdout: stdout.to_vec(),
        stderr: stderr.to_vec(),
    };

    // ex-14
    assert_eq!(
        done(converted!(output(0, b"\x61\xff\x80\x62\n", b""))).text(),
        "exit code: 0\nstdout (not valid UTF-8, what could not be read is \u{fffd}):\na\u{fffd}\u{fffd}b"
    );
    // ex-15
    assert_eq!(
        done(converted!(output(3, b"\xc3\x28", b"warn"))).text(),
        "exit code: 3\nstdout (not valid UTF-8, what could not be read is \u{fffd}):\n\u{fffd}(\nstderr:\nwarn"
    );
}
