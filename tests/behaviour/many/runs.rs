//! Running them.

use std::time::Duration;

use agent_core::ReactAgent;
use agent_core::agent::{Limits, ReactAgentBuilder};
use agent_core::message::ToolCall;
use agent_core::model::{ChatRequest, FinishReason, FunctionModel, ModelDelta};
use agent_core::tool::Effect;
use agent_tests::runs::results;
use agent_tests::tools::{ClosureTool, answers, tool};
use tokio::task;

use super::in_time;

/// An agent whose model makes so many calls of the tool, and is then done.
fn agent(count: usize, tool: ClosureTool) -> ReactAgentBuilder {
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

fn run(agent: ReactAgentBuilder, count: usize) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().unwrap();
    let agent = agent.build().unwrap();

    let output = in_time(Duration::from_secs(8), || {
        runtime.block_on(async { agent.run("Go").await.unwrap() })
    });

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
