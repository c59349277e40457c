//! A closure's tool in an agent's run: whatever it does, the call has one right result.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{Turn, calls, says};
use agent_core::tool::FunctionTool;
use agent_core::{ReactAgent, RunOutput, ToolContext};
use agent_tests::runs::{result_texts, results};
use serde_json::{Value, json};

use super::City;

async fn run(tool: FunctionTool, turn: Turn) -> RunOutput {
    let model = ScriptedModel::new([turn, says("done")]);
    let agent = ReactAgent::builder("assistant", model).tools(tool);
    agent.build().unwrap().run("Go").await.unwrap()
}

/// The one result of a run that calls the tool once, and whether it is an error.
async fn result(tool: FunctionTool, arguments: Value) -> (String, bool) {
    let output = run(tool, calls("tool", arguments)).await;
    assert_eq!(output.text(), "done");
    let results = results(output.messages());
    assert_eq!(results.len(), 1);
    (results[0].text(), results[0].is_error())
}

#[tokio::test]
async fn a_closure_answers() {
    let tool = FunctionTool::new(
        "tool",
        "A tool.",
        async |city: City, context: ToolContext| {
            format!("{} by {}", city.city, context.tool_name())
        },
    );

    assert_eq!(
        result(tool, json!({"city": "Oslo"})).await,
        ("Oslo by tool".to_owned(), false)
    );
}

#[expect(clippy::panic, reason = "the tool panics")]
#[tokio::test]
async fn a_closure_that_panics_is_an_error_the_model_reads() {
    let when_called = FunctionTool::new("tool", "A tool.", || -> std::future::Ready<()> {
        panic!("secret of the closure")
    });
    let when_polled = FunctionTool::new("tool", "A tool.", async || -> () {
        panic!("secret of the future")
    });
    let blocking = FunctionTool::blocking("tool", "A tool.", || -> () {
        panic!("secret of the thread")
    });

    for tool in [when_called, when_polled, blocking] {
        assert_eq!(
            result(tool, json!({})).await,
            ("Error: the tool panicked".to_owned(), true)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_closure_that_hangs_is_over_with_its_time() {
    let tool = FunctionTool::new("tool", "A tool.", async || {
        std::future::pending::<()>().await;
    })
    .timeout(Duration::from_millis(100));

    assert_eq!(
        result(tool, json!({})).await,
        ("Error: timed out after 100 ms".to_owned(), true)
    );
}

#[tokio::test]
async fn a_plain_closure_that_hangs_is_over_with_its_time() {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let tool = FunctionTool::blocking("tool", "A tool.", move || {
        let _ = wait.lock().map(|wait| wait.recv());
    })
    .timeout(Duration::from_millis(10));

    let result = result(tool, json!({})).await;
    drop(release);

    assert_eq!(result, ("Error: timed out after 10 ms".to_owned(), true));
}

#[tokio::test]
async fn a_wrong_input_is_an_error_the_model_reads_and_the_closure_does_not_run() {
    let ran = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&ran);
    let tool = FunctionTool::blocking("tool", "A tool.", move |_: City| {
        *counted.lock().unwrap() += 1;
    });

    assert_eq!(
        result(tool, json!({"city": ["Oslo"]})).await,
        (
            "Error: argument `city` does not fit its type: expected a string, got [\"Oslo\"]; for example: \"text\""
                .to_owned(),
            true
        )
    );
    assert_eq!(*ran.lock().unwrap(), 0);
}

#[tokio::test]
async fn calls_of_one_turn_share_the_closure() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let tool = FunctionTool::new("tool", "A tool.", move |city: City| {
        let log = Arc::clone(&log);
        async move {
            log.lock().unwrap().push(city.city.clone());
            city.city
        }
    });
    let turn = calls("tool", json!({"city": "Oslo"}))
        .with_id("c1")
        .and_calls("tool", json!({"city": "Rome"}))
        .with_id("c2");

    let output = run(tool, turn).await;

    assert_eq!(*seen.lock().unwrap(), ["Oslo", "Rome"]);
    assert_eq!(
        result_texts(output.messages()),
        [
            ("c1".to_owned(), "Oslo".to_owned()),
            ("c2".to_owned(), "Rome".to_owned())
        ]
    );
}
