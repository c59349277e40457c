//! An answer as a Rust value: the tools run first, then the answer is given in its form.
//!
//! ```sh
//! cargo run -q -p agent-examples --example structured_output
//! ```
//!
//! With `OPENAI_MODEL` set, and `OPENAI_BASE_URL` or `OPENAI_API_KEY`, a real model is asked;
//! without, a built-in one answers by script.
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;

use agent_core::agent::ModelRetry;
use agent_core::event::EventKind;
use agent_core::model::scripted::calls;
use agent_core::model::{ChatModel, OpenAi, ScriptedModel};
use agent_core::{ReactAgent, ToolSchema, tool, tools};
use serde::Deserialize;
use serde_json::{Value, json};

/// What to pack for a trip.
#[derive(Debug, Deserialize, ToolSchema)]
struct Packing {
    /// The city
    city: String,
    /// Whether it will rain
    rain: bool,
    /// Things to take along
    things: Vec<String>,
}

/// The weather of tomorrow in a city.
#[tool(effect = "pure")]
async fn forecast(
    /// The city
    city: &str,
) -> String {
    format!("{city}: 4 °C, light rain in the afternoon")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = ReactAgent::builder("packer", model()?)
        .system_prompt("Look at the forecast first, then say what to pack.")
        .tools(tools![forecast])
        .model_interceptor(ModelRetry::new())
        .output_type::<Packing>()
        .build()?;

    let mut run = agent.run("I travel to Oslo tomorrow.").stream();
    let mut shown = 0;
    while let Some(event) = run.next().await {
        match event?.kind {
            EventKind::ToolFinished { result, .. } if result.name() == "forecast" => {
                println!("forecast  {}", result.text());
            }
            EventKind::RunFinished(output) => {
                let packing: Packing = output.parse()?;
                let umbrella = if packing.rain { "yes" } else { "no" };
                println!("city      {}", packing.city);
                println!("umbrella  {umbrella}");
                println!("things    {}", packing.things.join(", "));
            }
            _ => {
                // What is there of the answer, while the model still writes it.
                let draft = run.partial::<Value>();
                let things = draft.as_ref().and_then(|it| it["things"].as_array());
                let count = things.map_or(0, Vec::len);
                if count > shown {
                    println!("so far    {count} things");
                    shown = count;
                }
            }
        }
    }
    Ok(())
}

fn model() -> Result<Arc<dyn ChatModel>, Box<dyn Error>> {
    if std::env::var_os("OPENAI_MODEL").is_some() {
        return Ok(Arc::new(OpenAi::from_env()?));
    }
    let things = ["rain coat", "warm jumper", "good shoes"];
    let packing = json!({"city": "Oslo", "rain": true, "things": things});
    Ok(Arc::new(ScriptedModel::new([
        calls("forecast", json!({"city": "Oslo"})),
        calls("final_answer", packing),
    ])))
}
