//! What must not be shown, where it hides: in causes, and in a JSON text inside of another.

use std::error::Error;
use std::{fmt, iter};

use agent_core::agent::{Hook, HookContext, HookFuture};
use agent_core::graph::State;
use agent_core::model::scripted::fails;
use agent_core::model::{ModelError, ModelErrorKind, ScriptedModel};
use agent_core::{BoxError, ReactAgent, ToolError};
use agent_tests::runs::result_texts;
use agent_tests::tools::{answers, tool};
use serde_json::json;

use super::{agent, model, pairs};

/// An error with a cause.
#[derive(Debug)]
struct Caused(&'static str, Option<Box<Self>>);

impl fmt::Display for Caused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Caused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.1.as_deref().map(|cause| cause as _)
    }
}

fn refused(last: &'static str) -> Caused {
    let cause = Caused("while asking", Some(Box::new(Caused(last, None))));
    Caused("no answer", Some(Box::new(cause)))
}

/// What the error and its causes say.
fn said(error: &(dyn Error + 'static)) -> Vec<String> {
    let chain = iter::successors(Some(error), |&error| error.source());
    chain.map(ToString::to_string).collect()
}

// TE-6
#[tokio::test]
async fn what_the_causes_of_an_error_say_is_masked() {
    let fails = tool("fails", (), async |(), _, _| {
        Err::<(), _>(ToolError::fatal(refused(
            "GET https://u:pw@api.test/?key=sk-live-9",
        )))
    });

    let agent = agent(&model(&["fails"]), fails).secret("sk-live-9");
    let error = agent.build().unwrap().run("Go").await.unwrap_err();

    assert_eq!(
        said(&error)[1..],
        [
            "no answer",
            "while asking",
            "GET https://***@api.test/?key=***"
        ]
    );
}

#[test]
fn user_and_password_of_a_url_are_masked_in_causes_without_an_agent() {
    let error = ToolError::failed(refused("GET https://u:pw@api.test/"));

    assert_eq!(said(&error)[2], "GET https://***@api.test/");
    assert!(error.downcast_ref::<Caused>().is_some());
}

#[test]
fn causes_that_hold_nothing_to_mask_are_those_of_the_tool() {
    let error = ToolError::failed(refused("HTTP 401"));

    let cause = error.source().unwrap();
    assert!(cause.downcast_ref::<Caused>().is_some(), "{cause:?}");
}

// case ex-18
#[tokio::test]
async fn a_secret_is_masked_in_a_json_text_inside_of_another() {
    const SECRET: &str = "pass\"word\\1";
    let tells = tool("tells", (), async |(), _, _| {
        let reply = json!({"password": SECRET}).to_string();
        json!({"status": 200, "body": reply}).to_string()
    });

    let agent = agent(&model(&["tells"]), tells).secret(SECRET);
    let run = agent.build().unwrap().run("Go").await.unwrap();

    let text = r#"{"status":200,"body":"{\"password\":\"***\"}"}"#;
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", text)]));
}

/// A hook that fails like this.
struct Fails(fn() -> BoxError);

impl Hook for Fails {
    fn name(&self) -> &str {
        "fails"
    }

    fn before_model<'a>(&'a self, _: &'a State, _: &'a HookContext) -> HookFuture<'a> {
        Box::pin(std::future::ready(Err((self.0)())))
    }
}

// B11, TE-6
#[tokio::test]
async fn what_the_error_of_a_hook_says_is_masked() {
    let agent = agent(&model(&["tells"]), answers("tells", "a")).secret("sk-live-9");
    let hook = Fails(|| Box::new(refused("postgres://u:pw@db with sk-live-9")));

    let error = agent.hook(hook).build().unwrap().run("Go").await;

    let said = said(&error.unwrap_err());
    assert_eq!(said[1..3], ["no answer", "while asking"]);
    assert_eq!(said[3..], ["postgres://***@db with ***"]);
}

// B11
#[tokio::test]
async fn an_error_of_a_hook_that_holds_nothing_to_mask_is_the_hooks_own() {
    let agent = agent(&model(&["tells"]), answers("tells", "a")).secret("sk-live-9");
    let hook = Fails(|| Box::new(refused("HTTP 401")));

    let error = agent.hook(hook).build().unwrap().run("Go").await;

    let error = error.unwrap_err();
    assert!(error.source().unwrap().downcast_ref::<Caused>().is_some());
}

// TE-6
#[tokio::test]
async fn what_the_error_of_a_model_says_is_masked() {
    let refusal = ModelError::new(ModelErrorKind::Auth, "no key sk-live-9")
        .with_source(refused("GET https://u:pw@api.test/"));
    let model = ScriptedModel::new([fails(refusal)]);

    let agent = ReactAgent::builder("assistant", model).secret("sk-live-9");
    let error = agent.build().unwrap().run("Go").await.unwrap_err();

    let said = said(&error);
    assert_eq!(said[1..4], ["no key ***", "no answer", "while asking"]);
    assert_eq!(said[4..], ["GET https://***@api.test/"]);
}
