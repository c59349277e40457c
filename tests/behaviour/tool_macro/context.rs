//! Parameters the model does not give.

use agent_core::graph::CancellationToken;
use agent_core::tool::{ParamKind, ToolErrorKind, ToolParam};
use agent_core::{Host, ToolContext, ToolError, tool};
use serde_json::value::RawValue;

use super::{called, told};

/// The number of the try, from the context.
struct Attempt(u32);

impl ToolParam for Attempt {
    const KIND: ParamKind = ParamKind::Context;

    fn take(_: Option<&RawValue>, context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self(context.attempt()))
    }
}

type Try = Attempt;

#[tool]
async fn tries(attempt: Attempt, again: Try) -> u32 {
    attempt.0 + again.0
}

// A5
// pitfall: a context is told by its name
#[tokio::test]
async fn a_users_own_context_is_found_by_its_trait() {
    assert_eq!(
        tries::DEFINITION.input_schema().text(),
        r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#
    );
    assert_eq!(told(tries::callback(), r#"{"attempt":5}"#).await, "2");
}

struct Db;

#[tool]
async fn query(db: Host<Db>, sql: &str) -> String {
    let _: &Db = &db;
    sql.to_owned()
}

// A5, TE-4
#[tokio::test]
async fn a_missing_host_value_ends_the_call() {
    let error = called(query::callback(), r#"{"sql":"x"}"#)
        .await
        .unwrap_err();

    assert_eq!(error.kind(), ToolErrorKind::Fatal);
    assert!(error.to_string().contains("Db"), "{error}");
    assert_eq!(query::DEFINITION.required_hosts().len(), 1);
}

#[tool]
async fn stops(token: CancellationToken, reason: &str, context: &ToolContext) -> String {
    token.cancel();
    format!("{reason}: {}", context.cancellation().is_cancelled())
}

// A5
#[tokio::test]
async fn a_token_is_that_of_the_call() {
    let schema = stops::DEFINITION.input_schema().value();

    assert_eq!(schema["required"], serde_json::json!(["reason"]));
    assert_eq!(
        told(stops::callback(), r#"{"reason":"late","token":1}"#).await,
        "late: true"
    );
}
