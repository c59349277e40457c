//! The spans of runs inside tool calls.

use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::{ReactAgent, ToolContext, telemetry};
use agent_tests::runs::events;
use agent_tests::tools::{ClosureTool, tool};
use serde_json::json;
use tracing::Instrument as _;

use super::spans::{Seen, Spans};

/// Where a tool runs its agent.
#[derive(Clone, Copy, Debug)]
enum Place {
    Awaited,
    Streamed,
    /// In a task of its own.
    Spawned,
    /// Below a span of the tool.
    Below,
}

/// A tool that runs an agent of one reply in its call.
fn delegates(name: &'static str, place: Place) -> ClosureTool {
    tool(name, place, async move |place, _, context: ToolContext| {
        let agent = ReactAgent::builder("inner", ScriptedModel::new([says("Seen.")]));
        let run = agent.build().unwrap().run("Look.").within(&context);
        match place {
            Place::Awaited => drop(run.await.unwrap()),
            Place::Streamed => drop(events(run.stream()).await),
            Place::Spawned => drop(tokio::spawn(run.into_future()).await.unwrap().unwrap()),
            Place::Below => {
                let own = tracing::info_span!("own");
                drop(run.into_future().instrument(own).await.unwrap());
            }
        }
        "ok"
    })
}

// C14, D3
#[tokio::test]
async fn a_run_inside_a_tool_call_is_a_child_of_that_call() {
    let ways = [(false, false), (false, true), (true, false), (true, true)];
    for (is_parallel, streaming) in ways {
        let (spans, _guard) = Spans::kept();
        let turn = calls("awaited", json!({})).and_calls("streamed", json!({}));
        let turn = turn.and_calls("spawned", json!({}));
        let model = ScriptedModel::new([turn.and_calls("below", json!({})), says("Done.")]);
        let agent = ReactAgent::builder("assistant", model).tools([
            delegates("awaited", Place::Awaited),
            delegates("streamed", Place::Streamed),
            delegates("spawned", Place::Spawned),
            delegates("below", Place::Below),
        ]);
        let agent = agent.parallel_tool_execution(is_parallel).build().unwrap();

        match streaming {
            true => drop(events(agent.run("Go").stream()).await),
            false => drop(agent.run("Go").await.unwrap()),
        }

        let all = spans.0.lock().unwrap();
        let above = |span: &Seen| &all[usize::try_from(span.parent.unwrap()).unwrap() - 1];
        let runs = all.iter().filter(|span| span.name == "invoke_agent");
        let mut told: Vec<String> = runs
            .skip(1)
            .map(|run| match above(run) {
                call if call.name == "execute_tool" => call.fields[telemetry::TOOL_NAME].clone(),
                own => format!("{} {}", above(own).fields[telemetry::TOOL_NAME], own.name),
            })
            .collect();
        told.sort();
        assert_eq!(told, ["awaited", "below own", "spawned", "streamed"]);
        let inner = all
            .iter()
            .filter(|span| span.name == "chat" && span.parent != Some(1));
        assert!(inner.clone().all(|chat| above(chat).name == "invoke_agent"));
        assert_eq!(inner.count(), 4);
    }
}
