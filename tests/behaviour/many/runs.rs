//! Running them.

use std::sync::Arc;
use std::time::Duration;

use agent_core::agent::{AgentTool, Limits, ReactAgentBuilder};
use agent_core::graph::Answer;
use agent_core::graph::checkpoint::MemorySaver;
use agent_core::message::ToolCall;
use agent_core::model::scripted::{calls, says};
use agent_core::model::{ChatRequest, FinishReason, FunctionModel, ModelDelta, ScriptedModel};
use agent_core::tool::Effect;
use agent_core::{Outcome, ReactAgent};
use agent_tests::runs::results;
use agent_tests::saver::{Access, Watched};
use agent_tests::tools::{ClosureTool, Counter, answers, tool};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task;

use super::in_time;

/// An agent whose model makes so many calls of the tool, and is then done.
pub(super) fn agent(count: usize, tool: ClosureTool) -> ReactAgentBuilder {
    let model = FunctionModel::streaming(move |request: ChatRequest| {
        let is_told = request.messages().any(|it| !it.tool_results().is_empty());
        let count = if is_told { 0 } else { count };
        let text = Some(ModelDelta::Text("done".to_owned())).filter(|_| is_told);
        let pieces = (0..count).map(|index| ModelDelta::ToolCallFragment {
            index,
            id: format!("c{index}"),
            name: "f".to_owned(),
            arguments: "{}".to_owned(),
        });
        let calls = (0..count).map(|index| ToolCall::new(format!("c{index}"), "f", "{}"));
        let deltas = text.into_iter().chain(pieces);
        let deltas = deltas.chain(calls.map(ModelDelta::ToolCall));
        let deltas = deltas.chain([ModelDelta::Finished(FinishReason::Stop)]);
        futures_util::stream::iter(deltas.map(Ok))
    });
    let agent = ReactAgent::builder("assistant", model).tools([tool]);
    agent.limits(Limits::unlimited())
}

pub(super) fn done<T>(work: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    in_time(Duration::from_secs(8), || runtime.block_on(work))
}

fn run(agent: ReactAgentBuilder, count: usize) {
    let agent = agent.build().unwrap();

    let output = done(async { agent.run("Go").await.unwrap() });

    assert_eq!(output.text(), "done");
    assert_eq!(results(output.messages()).len(), count);
}

#[test]
fn one_after_another() {
    run(agent(120_000, answers("f", "ok")), 120_000);
}

#[test]
fn while_they_are_written() {
    let agent = agent(60_000, answers("f", "ok").effect(Effect::Pure));

    run(agent.eager_tool_start(true).streaming(true), 60_000);
}

/// Each is woken when it has waited, and some more than the runtime lets go on at once.
#[test]
fn side_by_side() {
    let waits = tool("f", (), async |(), _, _| {
        task::yield_now().await;
        for _ in 0..3 {
            task::consume_budget().await;
        }
        "ok"
    });
    let agent = agent(40_000, waits).parallel_tool_execution(true);

    run(agent.max_parallel_tools(40_000), 40_000);
}

/// Runs it until all its calls wait for approval; each is then given these arguments.
async fn paused(agent: &ReactAgent) -> Vec<Answer> {
    let paused = agent.run("Go").thread("t").await.unwrap();
    let Outcome::Interrupted(asked) = paused.outcome() else {
        panic!("{:?}", paused.outcome());
    };
    let edit = |(number, id): (usize, &str)| Answer::edit(id, json!({"a": number}));
    let ids = asked.iter().map(|asked| &*asked.id);
    ids.enumerate().map(edit).collect()
}

#[test]
fn approved_with_other_arguments() {
    let echo = tool("f", (), async |(), arguments: Value, _| {
        arguments.to_string()
    });
    let agent = agent(4_000, echo).approval(|_, _| true);
    let agent = agent.saver(MemorySaver::new()).build().unwrap();

    let output = done(async {
        let answers = paused(&agent).await;
        agent.resume("t", answers).await.unwrap()
    });

    assert_eq!(output.text(), "done");
    let results = results(output.messages());
    assert_eq!(results.len(), 4_000);
    assert_eq!(results[1234].text(), r#"{"a":1234}"#);
}

/// The program stops in the last of them.
#[test]
fn written_down_and_read_again() {
    let last = Arc::new(Notify::new());
    let begins = Arc::clone(&last);
    let stops = tool("f", begins, async |last: Arc<Notify>, arguments, _| {
        if arguments == json!({"a": 5_999}) {
            last.notify_one();
            task::yield_now().await;
        }
        "ok"
    });
    let agent = agent(6_000, stops).approval(|_, _| true);
    let agent = agent.saver(MemorySaver::new()).build().unwrap();

    let output = done(async {
        let answers = paused(&agent).await;
        tokio::select! {
            biased;
            () = last.notified() => {}
            _ = agent.resume("t", answers) => panic!("it went on"),
        }
        agent.resume("t", []).await.unwrap()
    });

    assert_eq!(output.text(), "done");
    assert_eq!(results(output.messages()).len(), 6_000);
}

/// They are calls of an agent inside of a call: an answer reads both threads once, whatever was
/// answered before.
#[tokio::test]
async fn approved_one_by_one_from_outside() {
    let inner = agent(10, answers("f", "ok")).approval(|_, _| true);
    let request = json!({"input": "Go."});
    let model = ScriptedModel::new([calls("assistant", request), says("All done.")]);
    let reads = Counter::default();
    let counted = reads.clone();
    let saver = Watched::new(move |access| {
        if access == Access::Load {
            counted.add();
        }
        true
    });
    let outer = ReactAgent::builder("outer", model).saver(saver);
    let outer = outer.tools(AgentTool::new(inner.build().unwrap()));
    let outer = outer.build().unwrap();

    let mut output = outer.run("Go.").thread("t").await.unwrap();
    let mut of_each = Vec::new();
    while let Outcome::Interrupted(asked) = output.outcome() {
        let (answer, before) = (Answer::approve(&asked[0].id), reads.get());
        output = outer.resume("t", [answer]).await.unwrap();
        of_each.push(reads.get() - before);
    }

    assert_eq!(output.text(), "All done.");
    assert_eq!(of_each, [2; 10]);
}
