//! How the calls of one turn are run, and what the model reads of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod command;
mod direct;
mod early;
mod errors;
mod hostile;
mod panics;
mod places;
mod retry;
mod secrets;
mod sequential;
mod several;
mod sides;
mod state;
mod turn;

use agent_core::ReactAgent;
use agent_core::agent::ReactAgentBuilder;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{Turn, says};
use agent_core::tool::IntoTools;
use agent_tests::tools::ClosureTool;
use serde_json::json;

/// A turn that calls these tools without arguments, with the ids `c1`, `c2`, …
fn turn(names: &[&str]) -> Turn {
    let ids = (1..).map(|number| format!("c{number}"));
    names
        .iter()
        .zip(ids)
        .fold(Turn::default(), |turn, (name, id)| {
            turn.and_calls(*name, json!({})).with_id(id)
        })
}

/// A model that calls these tools in one turn and then says `done`.
fn model(names: &[&str]) -> ScriptedModel {
    ScriptedModel::new([turn(names), says("done")])
}

fn agent(model: &ScriptedModel, tools: impl IntoTools) -> ReactAgentBuilder {
    ReactAgent::builder("assistant", model.clone()).tools(tools)
}

/// An agent that runs calls side by side.
fn parallel<const N: usize>(model: &ScriptedModel, tools: [ClosureTool; N]) -> ReactAgentBuilder {
    agent(model, tools).parallel_tool_execution(true)
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(id, text): &(&str, &str)| ((*id).to_owned(), (*text).to_owned());
    pairs.iter().map(owned).collect()
}
