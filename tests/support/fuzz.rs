//! What must hold for any bytes: run by the fuzz targets, and by a test on the files of
//! `tests/fixtures/fuzz`.

use agent_core::message::ToolCall;
use agent_core::model::{ChatResponse, ModelError, anthropic, openai};
use agent_core::schema::{ChangeEffect, Dialect, without_optional_nulls};
use agent_core::tool::{ToolErrorKind, ToolOutcome};
use agent_core::{ToolContext, ToolSchema, tool};
use futures_util::FutureExt as _;
use serde::Deserialize;
use serde_json::Value;

/// The longest schema, as there are limits only to how it grows.
const LONGEST: usize = 64 * 1024;

/// Any JSON as the input schema of a tool, in every dialect.
///
/// # Panics
///
/// If a dialect breaks its own rules.
pub fn dialect(data: &[u8]) {
    let Ok(neutral) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    if data.len() > LONGEST {
        return;
    }
    for dialect in Dialect::ALL {
        let written = dialect.translate(&neutral);
        assert_eq!(written.text, written.schema.to_string(), "{dialect}");
        if dialect == Dialect::Neutral {
            assert_eq!(written.schema, neutral);
            continue;
        }
        let kind = written.schema["type"].as_str().map(str::to_lowercase);
        assert_eq!(
            kind.as_deref(),
            Some("object"),
            "{dialect}: {}",
            written.text
        );
        assert!(written.schema["properties"].is_object(), "{dialect}");
        let stopped = written
            .changes
            .iter()
            .any(|it| it.effect == ChangeEffect::NotStrict);
        assert_eq!(written.strict, dialect.is_strict() && !stopped, "{dialect}");
        if written.strict {
            assert_closed(&written.schema, dialect);
            // What is strict once stays so: nothing is left to do.
            assert!(
                dialect.translate(&written.schema).strict,
                "{dialect}: {}",
                written.text
            );
        }
    }
    let _ = without_optional_nulls(&neutral, neutral.clone());
}

/// Every schema that lists properties takes no others.
fn assert_closed(schema: &Value, dialect: Dialect) {
    let Some(node) = schema.as_object() else {
        return;
    };
    if node.contains_key("properties") {
        assert_eq!(
            node.get("additionalProperties"),
            Some(&Value::Bool(false)),
            "{dialect}: {schema}"
        );
    }
    for (keyword, value) in node {
        match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(members)) => {
                members.values().for_each(|it| assert_closed(it, dialect));
            }
            ("anyOf", Value::Array(branches)) => {
                branches.iter().for_each(|it| assert_closed(it, dialect));
            }
            ("items", value) => assert_closed(value, dialect),
            _ => {}
        }
    }
}

#[derive(Debug, Clone, Deserialize, ToolSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metric,
    Imperial,
}

#[derive(Debug, Clone, Deserialize, ToolSchema)]
#[expect(dead_code, reason = "read to be shown by `Debug`")]
struct Stop {
    city: String,
    #[param(minimum = 1, maximum = 14)]
    nights: u8,
    #[serde(default)]
    next: Option<Box<Stop>>,
}

/// Parameters of every kind.
#[tool(register = false)]
#[expect(clippy::too_many_arguments, reason = "one of each kind")]
async fn every_kind(
    #[param(min_length = 2, pattern = "^[A-Z]")] a: Option<String>,
    #[param(max_items = 3)] b: Option<Vec<Stop>>,
    c: Option<Unit>,
    #[param(exclusive_minimum = 0)] d: Option<f64>,
    e: Option<i64>,
    f: Option<std::collections::BTreeMap<String, (u8, bool)>>,
    g: Option<char>,
    #[param(default = 7)] h: u16,
    i: Option<Value>,
) -> String {
    format!("{a:?} {b:?} {c:?} {d:?} {e:?} {f:?} {g:?} {h} {i:?}")
}

/// Any text as the arguments of a call.
///
/// # Panics
///
/// If a repaired call is no object, or a call goes wrong in another way than by arguments
/// that do not fit.
pub fn arguments(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let call = ToolCall::new("c1", "every_kind", text);
    if call.invalid().is_none() {
        let value = call.arguments_value();
        assert!(
            value.is_some_and(|it| it.is_object()),
            "{}",
            call.arguments()
        );
    }
    let (tool, context) = (every_kind::callback(), ToolContext::default());
    for arguments in [text, call.arguments()] {
        match tool.call(arguments, &context).now_or_never() {
            Some(Ok(ToolOutcome::Done(_))) => {}
            Some(Err(error)) => {
                assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
                assert!(error.model_text().len() < 200_000, "{error}");
            }
            other => panic!("neither done nor refused: {other:?}"),
        }
    }
}

/// Any bytes in the middle of an event stream, cut by what stands before them.
///
/// # Panics
///
/// If the answer depends on how it was cut.
pub fn sse(data: &[u8]) {
    let (sizes, middle) = data.split_at(data.len().min(4));
    let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    let mut body = chunk(r#"{"content":"a"}"#).into_bytes();
    body.extend(middle);
    body.extend(b"\n\n");
    body.extend(chunk(r#"{"content":"b"}"#).bytes());
    body.extend(b"data: [DONE]\n\n");
    assert_cut_alike(&body, sizes, |pieces| openai::read_answer(pieces));
}

/// Any lines as the events of a chat-completions stream, or any bytes as the whole answer.
///
/// # Panics
///
/// If the answer depends on how it was cut, or a call of it is not sound.
pub fn openai_stream(data: &[u8]) {
    let (sizes, body) = data.split_at(data.len().min(4));
    assert_cut_alike(body, sizes, |pieces| openai::read_answer(pieces));
    assert_cut_alike(&events(body), sizes, |pieces| openai::read_answer(pieces));
}

/// The same for a Messages stream.
///
/// # Panics
///
/// As [`openai_stream`].
pub fn anthropic_stream(data: &[u8]) {
    let (sizes, body) = data.split_at(data.len().min(4));
    assert_cut_alike(body, sizes, |pieces| anthropic::read_answer(pieces));
    assert_cut_alike(&events(body), sizes, |pieces| {
        anthropic::read_answer(pieces)
    });
}

fn events(lines: &[u8]) -> Vec<u8> {
    let lines = lines.split(|byte| *byte == b'\n');
    lines
        .flat_map(|line| [b"data: ", line, b"\n\n"].concat())
        .collect()
}

fn assert_cut_alike(
    body: &[u8],
    sizes: &[u8],
    read: impl Fn(Vec<&[u8]>) -> Result<ChatResponse, ModelError>,
) {
    let pieces = cut(body, sizes);
    let whole = shown(read(vec![body]));
    assert_eq!(shown(read(pieces)), whole);
    assert_eq!(shown(read(body.chunks(1).collect())), whole);
}

/// The bytes in pieces of these sizes, over and over.
pub(crate) fn cut<'a>(bytes: &'a [u8], sizes: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = bytes;
    for size in sizes.iter().cycle().map(|size| usize::from(*size) + 1) {
        let (piece, behind) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = behind;
        if rest.is_empty() {
            break;
        }
    }
    pieces.push(rest);
    pieces
}

/// What an answer says, without the ids that were made up for it.
pub(crate) fn shown(answer: Result<ChatResponse, ModelError>) -> String {
    let response = match answer {
        Ok(response) => response,
        Err(error) => return format!("{:?} {error} {}", error.kind(), error.is_retryable()),
    };
    let message = &response.message;
    let mut ids = std::collections::HashSet::new();
    let calls = message.tool_calls.iter().map(|call| {
        assert!(!call.id().is_empty() && ids.insert(call.id()), "{call:?}");
        let is_object = call.arguments_value().is_some_and(|it| it.is_object());
        assert_eq!(is_object, call.invalid().is_none(), "{call:?}");
        format!("{} {} {:?}", call.name(), call.arguments(), call.invalid())
    });
    let calls: Vec<String> = calls.collect();
    format!(
        "{:?} {:?} {calls:?} {:?} {:?} {:?}",
        message.text, message.reasoning, message.opaque, response.finish_reason, response.usage
    )
}
