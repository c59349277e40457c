//! Requests to real models, forbidden: a binary of its own, as the switch is the process's.

use agent_core::ReactAgent;
use agent_core::model::{
    ChatOptions, ModelErrorKind, OpenAi, ScriptedModel, forbid_requests, scripted::says,
};
use agent_core::{AgentError, Outcome};

// E7
#[tokio::test]
async fn a_client_sends_nothing_once_requests_are_forbidden_and_a_script_answers_on() {
    // A port that nobody can listen on: what is sent all the same is another error.
    let client = OpenAi::builder()
        .base_url("http://127.0.0.1:1/v1")
        .model("gpt-test")
        .build()
        .unwrap();
    forbid_requests();

    for streaming in [true, false] {
        let agent = ReactAgent::builder("assistant", client.clone());
        let agent = agent.streaming(streaming).build().unwrap();
        let Err(AgentError::Model { source, .. }) = agent.run("Hi").await else {
            panic!("the run gave no error of the model");
        };
        assert_eq!(source.kind(), ModelErrorKind::RequestsForbidden);
        assert!(source.to_string().contains("`gpt-test`"), "{source}");
        assert!(!source.is_retryable());
    }
    let other = ReactAgent::builder("assistant", client.clone());
    let other = other.options(ChatOptions::new().model("gpt-other"));
    let Err(AgentError::Model { source, .. }) = other.build().unwrap().run("Hi").await else {
        panic!("the run gave no error of the model");
    };
    assert!(source.to_string().contains("`gpt-other`"), "{source}");
    let scripted = ReactAgent::builder("assistant", ScriptedModel::new([says("Hi.")]));
    let output = scripted.build().unwrap().run("Hi").await.unwrap();
    assert_eq!(output.outcome(), &Outcome::Finished);
}

// E7
#[test]
fn the_variable_forbids_requests_of_a_whole_test_run() {
    const ASKED: &str = "FORBIDDEN_BY_VARIABLE";
    if std::env::var_os(ASKED).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let client = OpenAi::builder()
            .base_url("http://127.0.0.1:1/v1")
            .model("m");
        let agent = ReactAgent::builder("assistant", client.build().unwrap());
        let error = runtime.block_on(agent.build().unwrap().run("Hi").into_future());
        let Err(AgentError::Model { source, .. }) = error else {
            panic!("the run gave no error of the model");
        };
        assert_eq!(source.kind(), ModelErrorKind::RequestsForbidden);
        return;
    }
    let test = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "the_variable_forbids_requests_of_a_whole_test_run",
        ])
        .env(ASKED, "1")
        .env("AGENT_FORBID_REQUESTS", "1")
        .output()
        .unwrap();
    assert!(
        test.status.success(),
        "{}",
        String::from_utf8_lossy(&test.stdout)
    );
}
