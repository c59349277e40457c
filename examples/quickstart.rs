//! Three tools answer one question, all at once.
//!
//! ```sh
//! cargo run -q -p agent-examples --example quickstart               # about 3 s
//! cargo run -q -p agent-examples --example quickstart -- --serial   # about 7.5 s
//! ```
//!
//! Without the variables `OPENAI_BASE_URL`, `OPENAI_MODEL` and `OPENAI_API_KEY` a built-in
//! model answers by script; with them, the server they name.

use std::env;
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use agent_core::agent::{BuildError, Limits};
use agent_core::model::scripted::{calls, says};
use agent_core::model::{ChatModel, OpenAi, ScriptedModel};
use agent_core::{ReactAgent, tool, tools};
use agent_examples::{report, terminal::Terminal};
use serde_json::json;
use tokio::time::sleep;

/// Get the current weather of a city.
#[tool]
async fn weather(
    /// Name of the city, for example "Oslo".
    city: &str,
) -> String {
    sleep(Duration::from_millis(2000)).await;
    format!("{city}: 4 °C and light rain")
}

/// Get the price of a company's stock.
#[tool]
async fn stock(
    /// Name of the company, for example "Acme".
    company: &str,
) -> String {
    sleep(Duration::from_millis(2500)).await;
    format!("{company}: 131.40, up 2 % since yesterday")
}

/// Get the latest news about a topic.
#[tool]
async fn news(
    /// What the news should be about, in a few words.
    topic: &str,
) -> String {
    sleep(Duration::from_millis(3000)).await;
    format!("{topic}: one to the airport every 20 minutes today")
}

fn agent(model: impl ChatModel + 'static, parallel: bool) -> Result<ReactAgent, BuildError> {
    ReactAgent::builder("assistant", model)
        .system_prompt("Use the tools, then answer briefly.")
        .tools(tools![weather, stock, news])
        .parallel_tool_execution(parallel)
        // A small model may call the same tool again and again.
        .limits(Limits::default().model_calls(10))
        .build()
}

const QUESTION: &str = "What is the weather in Oslo, the stock of Acme and the news about trains?";

async fn run() -> Result<(), Box<dyn Error>> {
    let parallel = match env::args().nth(1).as_deref() {
        None => true,
        Some("--serial") => false,
        Some(other) => return Err(format!("unknown argument `{other}`; try `--serial`").into()),
    };
    let mut terminal = Terminal::new();

    // A key alone names no server, and many have one set for other programs.
    let model: Arc<dyn ChatModel> = if is_set("OPENAI_BASE_URL") || is_set("OPENAI_MODEL") {
        Arc::new(OpenAi::from_env()?)
    } else {
        terminal.note(match is_set("OPENAI_API_KEY") {
            true => "OPENAI_MODEL is not set: a built-in model answers by script.",
            false => "No OPENAI_* variable is set: a built-in model answers by script.",
        })?;
        Arc::new(scripted())
    };

    terminal.question(QUESTION)?;
    let mut events = agent(model, parallel)?.run(QUESTION).stream();
    terminal.show(&mut events).await?;
    terminal.timeline()?;
    Ok(())
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.to_string_lossy().trim().is_empty())
}

/// What a model could have answered: three calls in one turn, then the answer.
fn scripted() -> ScriptedModel {
    let pace = Duration::from_millis(30);
    ScriptedModel::new([
        calls("weather", json!({"city": "Oslo"}))
            .and_calls("stock", json!({"company": "Acme"}))
            .and_calls("news", json!({"topic": "trains"}))
            .and_says("Let me look at all three.")
            .paced(pace),
        says(
            "Take an umbrella: it is 4 °C with light rain in Oslo. Acme's stock stands at 131.40, \
             up 2 %. A train to the airport leaves every 20 minutes.",
        )
        .paced(pace),
    ])
}

#[tokio::main]
async fn main() -> ExitCode {
    report::exit_code(run().await)
}
