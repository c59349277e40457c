//! A real model server: the form of what it answers, never its words.
//!
//! Runs when `AGENT_TEST_LLAMA_URL` names a llama.cpp server (`tests/servers/llama-server.sh`
//! prints its URL); without it the tests say that they are skipped.
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::io::{self, Write as _};

use agent_core::agent::{Limits, OutputMode};
use agent_core::event::EventKind;
use agent_core::model::{Anthropic, ChatModel, ChatOptions, FinishReason, OpenAi, ToolChoice};
use agent_core::{AgentError, Outcome, ReactAgent, RunOutput, tool, tools};

/// Get the current weather of a city.
#[tool]
async fn weather(
    /// Name of the city.
    city: &str,
) -> String {
    format!("{city}: 4 °C and light rain")
}

/// Get the price of a company's stock.
#[tool]
async fn stock(
    /// Name of the company.
    company: &str,
) -> String {
    format!("{company}: 131.40")
}

/// Get the latest news about a topic.
#[tool]
async fn news(
    /// What the news should be about.
    topic: &str,
) -> String {
    format!("{topic}: nothing new")
}

/// The server's URL, or a line that says why there is none.
fn url() -> Option<String> {
    let Ok(url) = std::env::var("AGENT_TEST_LLAMA_URL") else {
        // Past the test's captured output, so that it is seen although the test passes.
        let _ = writeln!(io::stderr(), "skipped: AGENT_TEST_LLAMA_URL is not set");
        return None;
    };
    Some(url)
}

fn model() -> Option<OpenAi> {
    let model = OpenAi::builder().base_url(format!("{}/v1", url()?));
    Some(model.model("smollm2").build().unwrap())
}

/// The same by the server's Messages endpoint.
fn messages_model() -> Option<Anthropic> {
    let model = Anthropic::builder().base_url(url()?).model("smollm2");
    Some(model.build().unwrap())
}

fn assistant(model: impl ChatModel + 'static) -> ReactAgent {
    ReactAgent::builder("assistant", model)
        .system_prompt("Use the tools, then answer briefly.")
        .tools(tools![weather, stock, news])
        .parallel_tool_execution(true)
        .options(ChatOptions::new().temperature(0.0).max_output_tokens(120))
        .limits(Limits::new().model_calls(3))
        .build()
        .unwrap()
}

/// What holds for every run, whatever the model says.
fn assert_sound(output: &RunOutput) {
    assert!(
        matches!(
            output.outcome(),
            Outcome::Finished | Outcome::LimitReached(_)
        ),
        "{output:?}"
    );
    assert!(output.state().transcript().is_closed());
    assert!(
        output.usage().input_tokens > 0 && output.usage().output_tokens > 0,
        "{output:?}"
    );
    for (position, message) in output.messages().iter().enumerate() {
        let calls: Vec<&str> = message.tool_calls().iter().map(|call| call.id()).collect();
        if !calls.is_empty() {
            let results = output.messages()[position + 1].tool_results();
            let answered: Vec<&str> = results.iter().map(|result| result.call_id()).collect();
            assert_eq!(answered, calls);
        }
    }
}

const QUESTION: &str = "What is the weather in Oslo, the stock of Acme and the news about trains?";

async fn ends_soundly_streamed(model: impl ChatModel + 'static) {
    let mut events = assistant(model).run(QUESTION).stream();
    let mut text = String::new();
    let mut last = None;
    while let Some(event) = events.next().await {
        match event.unwrap().kind {
            EventKind::TextDelta(delta) => text.push_str(&delta),
            EventKind::ModelFinished { message, .. } => {
                assert_eq!(std::mem::take(&mut text), message.text());
            }
            EventKind::RunFinished(output) => last = Some(output),
            _ => {}
        }
    }

    assert_sound(&last.unwrap());
}

#[tokio::test]
async fn the_quickstart_agent_ends_soundly_streamed() {
    let Some(model) = model() else { return };
    ends_soundly_streamed(model).await;
}

#[tokio::test]
async fn the_quickstart_agent_ends_soundly_streamed_by_messages() {
    let Some(model) = messages_model() else {
        return;
    };
    ends_soundly_streamed(model).await;
}

async fn ends_soundly_plain(model: impl ChatModel + 'static) {
    let output = assistant(model)
        .run(QUESTION)
        .streaming(false)
        .await
        .unwrap();

    assert_sound(&output);
}

#[tokio::test]
async fn the_quickstart_agent_ends_soundly_plain() {
    let Some(model) = model() else { return };
    ends_soundly_plain(model).await;
}

#[tokio::test]
async fn the_quickstart_agent_ends_soundly_plain_by_messages() {
    let Some(model) = messages_model() else {
        return;
    };
    ends_soundly_plain(model).await;
}

async fn must_call_weather(model: impl ChatModel + 'static, streaming: bool) {
    let agent = ReactAgent::builder("caller", model)
        .tools(tools![weather])
        .limits(Limits::new().model_calls(1))
        .options(
            ChatOptions::new()
                .temperature(0.0)
                .max_output_tokens(120)
                .tool_choice(ToolChoice::Required),
        )
        .build()
        .unwrap();

    let output = agent
        .run("How is the weather in Oslo?")
        .streaming(streaming)
        .await
        .unwrap();

    assert_sound(&output);
    let called: Vec<&str> = output
        .messages()
        .iter()
        .flat_map(|message| message.tool_calls())
        .map(|call| call.name())
        .collect();
    assert!(
        !called.is_empty() && called.iter().all(|name| *name == "weather"),
        "{called:?}"
    );
}

#[tokio::test]
async fn a_forced_call_runs_the_tool_streamed() {
    let Some(model) = model() else { return };
    must_call_weather(model, true).await;
}

#[tokio::test]
async fn a_forced_call_runs_the_tool_plain() {
    let Some(model) = model() else { return };
    must_call_weather(model, false).await;
}

#[tokio::test]
async fn a_forced_call_runs_the_tool_streamed_by_messages() {
    let Some(model) = messages_model() else {
        return;
    };
    must_call_weather(model, true).await;
}

#[tokio::test]
async fn a_forced_call_runs_the_tool_plain_by_messages() {
    let Some(model) = messages_model() else {
        return;
    };
    must_call_weather(model, false).await;
}

#[derive(Debug, serde::Deserialize, agent_core::ToolSchema)]
struct City {
    /// Name of the city
    #[expect(dead_code, reason = "what a small model writes here says nothing")]
    name: String,
    /// A number from 0 to 100
    #[expect(dead_code, reason = "as the name")]
    size: u8,
}

async fn gives_a_city(mode: OutputMode, streaming: bool) {
    let Some(model) = model() else { return };
    let agent = ReactAgent::builder("caller", model)
        .options(ChatOptions::new().temperature(0.0).max_output_tokens(60))
        .output_type::<City>()
        .output_retries(0)
        .output_mode(mode)
        .build()
        .unwrap();

    let run = agent.run("Name a city, for example Oslo, of size 7.");
    match run.streaming(streaming).await {
        Ok(output) => {
            output.parse::<City>().unwrap();
        }
        // A small model may not stop within its tokens; nothing else keeps its text from fitting.
        Err(AgentError::InvalidOutput { output, .. }) => {
            let is_cut = output.finish_reason() == Some(&FinishReason::Length);
            assert!(is_cut || mode == OutputMode::Tool, "{output:?}");
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn text_held_to_a_schema_by_the_server_is_read_streamed() {
    gives_a_city(OutputMode::Native, true).await;
}

#[tokio::test]
async fn text_held_to_a_schema_by_the_server_is_read_plain() {
    gives_a_city(OutputMode::Native, false).await;
}

#[tokio::test]
async fn a_forced_call_gives_the_answer() {
    gives_a_city(OutputMode::Tool, true).await;
}
