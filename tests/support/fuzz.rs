//! What must hold for any bytes: run by the fuzz targets, and by a test on the files of
//! `tests/fixtures/fuzz`.

use agent_core::schema::{Dialect, Effect, without_optional_nulls};
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
