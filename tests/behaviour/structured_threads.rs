//! Answers of a form on threads: after a pause, beside messages that come meanwhile, and with
//! tries that were made before the run stopped.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::sync::{Arc, Mutex};

use agent_core::agent::{Answer, OutputMode, ReactAgentBuilder};
use agent_core::graph::checkpoint::MemorySaver;
use agent_core::message::Role;
use agent_core::model::scripted::{Turn, calls, fails, says};
use agent_core::model::{ModelError, ModelErrorKind, ScriptedModel};
use agent_core::tool::{FunctionTool, InterruptRequest, ToolOutcome};
use agent_core::{
    AgentError, Outcome, ReactAgent, ToolContext, ToolError, ToolOutput, ToolSchema, tool, tools,
};
use serde::Deserialize;
use serde_json::json;

#[derive(Debug, PartialEq, Deserialize, ToolSchema)]
struct Weather {
    city: String,
    degrees: f64,
}

const OSLO: &str = r#"{"city":"Oslo","degrees":4.5}"#;

/// Asks which city is meant.
#[tool]
async fn which(context: &ToolContext) -> Result<ToolOutcome, ToolError> {
    Ok(match context.answer::<String>()? {
        None => ToolOutcome::Interrupt(InterruptRequest::new("Which city?")),
        Some(city) => ToolOutcome::Done(ToolOutput::from_text(city)),
    })
}

fn agent(model: &ScriptedModel, mode: OutputMode) -> ReactAgentBuilder {
    ReactAgent::builder("a", model.clone())
        .output_type::<Weather>()
        .output_mode(mode)
        .saver(MemorySaver::new())
}

/// What the model gives by this mode.
fn gives(mode: OutputMode, text: &str) -> Turn {
    match mode {
        OutputMode::Tool => calls("final_answer", serde_json::from_str(text).unwrap()),
        _ => says(text),
    }
}

const MODES: [OutputMode; 3] = [OutputMode::Native, OutputMode::Tool, OutputMode::Prompted];

#[tokio::test]
async fn tries_before_a_run_stopped_count_when_it_goes_on() {
    for mode in MODES {
        for with_tools in [false, true] {
            let bad = || gives(mode, r#"{"city":1}"#);
            let down = fails(ModelError::new(ModelErrorKind::Timeout, "slow"));
            let mut turns = vec![bad(), down, bad(), bad(), gives(mode, OSLO)];
            let is_asked_first = with_tools && mode != OutputMode::Tool;
            if is_asked_first {
                // An answer that came before the form was asked for is no try.
                turns.insert(0, says("Cold."));
            }
            let model = ScriptedModel::new(turns);
            let mut agent = agent(&model, mode);
            if with_tools {
                agent = agent.tools(tools![which]);
            }
            let agent = agent.build().unwrap();

            let stopped = agent.run("Oslo?").thread("t").await.unwrap_err();
            assert!(matches!(stopped, AgentError::Model { .. }), "{mode:?}");
            let error = agent.resume("t", []).await.unwrap_err();

            assert!(
                matches!(error, AgentError::InvalidOutput { .. }),
                "{mode:?}: {error}"
            );
            let asked = 4 + usize::from(is_asked_first);
            assert_eq!(model.requests().len(), asked, "{mode:?} {with_tools}");
        }
    }
}

#[tokio::test]
async fn the_next_message_of_a_thread_has_all_its_tries() {
    for mode in MODES {
        let bad = || gives(mode, r#"{"city":1}"#);
        let turns = [bad(), bad(), bad(), bad(), bad(), gives(mode, OSLO)];
        let model = ScriptedModel::new(turns);
        let agent = agent(&model, mode).build().unwrap();

        let error = agent.run("Oslo?").thread("t").await.unwrap_err();
        assert!(matches!(error, AgentError::InvalidOutput { .. }));
        let output = agent.run("Again, please.").thread("t").await.unwrap();

        assert_eq!(output.parse::<Weather>().unwrap().city, "Oslo", "{mode:?}");
    }
}

#[tokio::test]
async fn the_form_is_asked_for_after_a_pause() {
    for mode in MODES {
        let mut turns = vec![calls("which", json!({})).with_id("c1")];
        if mode != OutputMode::Tool {
            turns.push(says("It is 4.5 degrees."));
        }
        turns.push(gives(mode, OSLO));
        let model = ScriptedModel::new(turns);
        let agent = agent(&model, mode).tools(tools![which]).build().unwrap();

        let paused = agent.run("How cold?").thread("t").await.unwrap();
        let Outcome::Interrupted(waiting) = paused.outcome() else {
            panic!("{:?}", paused.outcome());
        };
        let ended = agent.resume("t", [Answer::new(&waiting[0].id, "Oslo")]);
        let ended = ended.await.unwrap();

        assert_eq!(ended.outcome(), &Outcome::Finished, "{mode:?}");
        assert_eq!(ended.parse::<Weather>().unwrap().degrees, 4.5);
    }
}

#[tokio::test]
async fn a_message_that_comes_meanwhile_is_read_before_the_answer_is_given() {
    for mode in MODES {
        let slot: Arc<Mutex<Option<ReactAgent>>> = Arc::default();
        let sends = Arc::clone(&slot);
        let look = FunctionTool::new("look", "Looks.", move || {
            let agent = sends.lock().unwrap().clone().unwrap();
            async move { agent.send("t", "I mean Oslo.").await.is_ok() }
        });
        let mut turns = vec![calls("look", json!({})).with_id("c1")];
        if mode != OutputMode::Tool {
            turns.push(says("It is 4.5 degrees."));
        }
        turns.push(gives(mode, OSLO));
        let model = ScriptedModel::new(turns);
        let agent = agent(&model, mode).tools(look).build().unwrap();
        *slot.lock().unwrap() = Some(agent.clone());

        let output = agent.run("How cold?").thread("t").await.unwrap();

        assert_eq!(output.parse::<Weather>().unwrap().city, "Oslo", "{mode:?}");
        let requests = model.requests();
        let read = requests[1].messages().last().unwrap();
        assert_eq!((read.role(), &*read.text()), (Role::User, "I mean Oslo."));
        slot.lock().unwrap().take();
    }
}
