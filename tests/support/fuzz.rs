//! What must hold for any bytes: run by the fuzz targets, and by a test on the files of
//! `tests/fixtures/fuzz`.

use agent_core::message::ToolCall;
use agent_core::schema::{Dialect, Effect, without_optional_nulls};
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
            .any(|it| it.effect == Effect::NotStrict);
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
    if call.invalid.is_none() {
        let value = call.arguments_value();
        assert!(value.is_some_and(|it| it.is_object()), "{}", call.arguments);
    }
    let (tool, context) = (every_kind::callback(), ToolContext::default());
    for arguments in [text, &call.arguments] {
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
