//! Answers that their reader cannot use, and steps that fail after a right one: the question can
//! be answered again until the step that read its answer is written down.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agent_core::agent::{
    AgentTool, Answer, Hook, HookAction, HookContext, HookFuture, HookPosition, InDoubt,
    InterruptKind, ReactAgentBuilder, ToolRetry,
};
use agent_core::graph::checkpoint::{CheckpointError, CheckpointSaver, MemorySaver};
use agent_core::graph::{
    AnswerError, CompiledGraph, END, NodeContext, NodeOutput, RunError, START, State, StateUpdate,
};
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::tool::{Effect, FunctionTool, InterruptRequest, ToolOutcome};
use agent_core::{BoxError, ReactAgent, ToolContext, ToolError, ToolOutput, tool, tools};
use serde_json::json;

use super::agents::{Nothing, asked, cut_while, refused as agent_refused, told};
use super::threads::{graph, ids, log, logged, paused, refused, says as step};

/// True if the error names the interrupt, and says what came and what was expected.
fn is_unfit(error: &CheckpointError, id: &str) -> bool {
    let CheckpointError::InvalidAnswer { id: of, source } = error else {
        return false;
    };
    let text = source.to_string();
    of == id && text.contains("\"nan\"") && text.contains("expected u8")
}

/// `age` asks for a number.
fn asking() -> CompiledGraph {
    graph()
        .node("age", async |_: State, context: NodeContext| {
            Ok::<_, BoxError>(match context.answer::<u8>()? {
                None => NodeOutput::default().interrupt("Age?"),
                Some(age) => NodeOutput::new(log(&age.to_string())),
            })
        })
        .edge(START, "age")
        .edge("age", END)
        .compile()
        .unwrap()
}

#[tokio::test]
async fn an_answer_that_a_node_cannot_read_is_replaced_by_another() {
    let graph = asking().saver(MemorySaver::new());
    let id = paused(graph.run(()).thread("t1")).await[0].id.clone();

    let error = refused(graph.resume("t1", [Answer::new(&id, "nan")]).await);
    assert!(is_unfit(&error, &id), "{error:?}");
    // It is the last answer until there is another.
    let error = refused(graph.resume("t1", []).await);
    assert!(is_unfit(&error, &id), "{error:?}");
    let state = graph.resume("t1", [Answer::new(&id, 7)]).await.unwrap();
    assert_eq!(logged(&state), ["7"]);
    let error = refused(graph.resume("t1", [Answer::new(&id, 8)]).await);
    assert!(matches!(error, CheckpointError::AlreadyAnswered { .. }));
}

#[tokio::test]
async fn an_unfit_answer_is_replaced_at_the_checkpoint_of_its_pause() {
    let saver = MemorySaver::new();
    let graph = asking().saver(saver.clone());
    let id = paused(graph.run(()).thread("t1")).await[0].id.clone();
    let pause = ids(&saver, "t1").await.pop().unwrap();
    for _ in 0..2 {
        let wrong = graph.resume("t1", [Answer::new(&id, "nan")]);
        assert!(is_unfit(&refused(wrong.at(pause.clone()).await), &id));
    }

    let right = graph.resume("t1", [Answer::new(&id, 7)]);
    assert_eq!(logged(&right.at(pause).await.unwrap()), ["7"]);
}

#[tokio::test]
async fn an_unfit_answer_is_replaced_after_an_edit_of_the_state() {
    let graph = asking().saver(MemorySaver::new());
    let id = paused(graph.run(()).thread("t1")).await[0].id.clone();
    let wrong = graph.resume("t1", [Answer::new(&id, "nan")]);
    assert!(is_unfit(&refused(wrong.await), &id));
    graph.update_state("t1", log("edited")).await.unwrap();

    let state = graph.resume("t1", [Answer::new(&id, 7)]).await.unwrap();

    assert_eq!(logged(&state), ["edited", "7"]);
}

#[derive(Debug, thiserror::Error)]
#[error("no age")]
struct NoAge(#[source] AnswerError);

#[tokio::test]
async fn an_unfit_answer_is_found_in_an_error_of_the_nodes_own() {
    let graph = graph()
        .node("age", async |_: State, context: NodeContext| {
            Ok::<_, NoAge>(match context.answer_to::<u8>("age").map_err(NoAge)? {
                None => NodeOutput::default().ask("age", "Age?"),
                Some(age) => NodeOutput::new(log(&age.to_string())),
            })
        })
        .edge(START, "age")
        .edge("age", END)
        .compile()
        .unwrap()
        .saver(MemorySaver::new());
    let id = paused(graph.run(()).thread("t1")).await[0].id.clone();

    let error = refused(graph.resume("t1", [Answer::new(&id, "nan")]).await);

    assert!(is_unfit(&error, &id), "{error:?}");
}

#[tokio::test]
async fn of_branches_only_the_one_that_did_not_end_takes_another_answer() {
    let ask = async |_: State, context: NodeContext| {
        Ok::<_, BoxError>(match context.answer::<u8>()? {
            None => NodeOutput::default().interrupt("?"),
            Some(answer) => NodeOutput::new(log(&format!("{}{answer}", context.node()))),
        })
    };
    let graph = graph()
        .node("a", ask)
        .node("b", ask)
        .node("end", step)
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "end")
        .edge("b", "end")
        .edge("end", END)
        .fan_out(START, agent_core::graph::FanOut::all().finish_all())
        .compile()
        .unwrap()
        .saver(MemorySaver::new());
    let waiting = paused(graph.run(()).thread("t1")).await;
    let (a, b) = (&waiting[0].id, &waiting[1].id);
    let answers = [Answer::new(a, 1), Answer::new(b, "nan")];
    assert!(is_unfit(&refused(graph.resume("t1", answers).await), b));

    let error = refused(graph.resume("t1", [Answer::new(a, 2)]).await);
    assert!(matches!(error, CheckpointError::AlreadyAnswered { id, .. } if id == *a));
    let state = graph.resume("t1", [Answer::new(b, 3)]).await.unwrap();
    assert_eq!(logged(&state), ["a1", "b3", "end"]);
}

#[tokio::test]
async fn a_node_that_fails_or_panics_after_a_right_answer_runs_again_with_it_or_another() {
    for panics in [false, true] {
        let runs = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&runs);
        let graph = graph()
            .node("age", move |_: State, context: NodeContext| {
                let counts = Arc::clone(&counts);
                async move {
                    let Some(age) = context.answer::<u8>()? else {
                        return Ok(NodeOutput::default().interrupt("Age?"));
                    };
                    let run = counts.fetch_add(1, Ordering::SeqCst);
                    assert!(run >= 2 || !panics, "not yet");
                    match run < 2 {
                        true => Err(BoxError::from("not yet")),
                        false => Ok(NodeOutput::new(log(&age.to_string()))),
                    }
                }
            })
            .edge(START, "age")
            .edge("age", END)
            .compile()
            .unwrap()
            .saver(MemorySaver::new());
        for (thread, answer, given) in [("t1", None, "7"), ("t2", Some(8), "8")] {
            runs.store(0, Ordering::SeqCst);
            let id = paused(graph.run(()).thread(thread)).await[0].id.clone();
            let first = graph.resume(thread, [Answer::new(&id, 7)]).await;
            assert!(matches!(
                first,
                Err(RunError::Node { .. } | RunError::Panicked { .. })
            ));
            assert!(graph.resume(thread, []).await.is_err());

            let answer = answer.map(|answer| Answer::new(&id, answer));
            let state = graph.resume(thread, answer).await.unwrap();

            assert_eq!(logged(&state), [given]);
            let error = refused(graph.resume(thread, [Answer::new(&id, 9)]).await);
            assert!(matches!(error, CheckpointError::AlreadyAnswered { .. }));
        }
    }
}

/// A hook that asks for a number before the agent begins.
struct AgeOf;

impl Hook for AgeOf {
    fn name(&self) -> &str {
        "age"
    }

    fn positions(&self) -> &[HookPosition] {
        &[HookPosition::BeforeAgent]
    }

    fn before_agent<'a>(&'a self, _: &'a State, context: &'a HookContext) -> HookFuture<'a> {
        Box::pin(async move {
            Ok(match context.answer::<u8>()? {
                None => HookAction::Interrupt(json!("Age?")),
                Some(age) => HookAction::Update(StateUpdate::new().put("age", json!(age))),
            })
        })
    }
}

#[tokio::test]
async fn an_answer_that_a_hook_cannot_read_is_replaced_by_another() {
    let agent = ReactAgent::builder("a", ScriptedModel::new([says("Done.")])).hook(AgeOf);
    let agent = agent.saver(MemorySaver::new()).build().unwrap();
    let id = asked(&agent.run("Go.").thread("t1").await.unwrap())[0]
        .id
        .clone();

    let error = agent_refused(agent.resume("t1", [Answer::new(&id, "nan")]).await);
    assert!(is_unfit(&error, &id), "{error:?}");
    let ended = agent.resume("t1", [Answer::new(&id, 7)]).await.unwrap();
    assert_eq!(ended.state().value("age"), Some(&json!(7)));
    let error = agent_refused(agent.resume("t1", [Answer::new(&id, 8)]).await);
    assert!(matches!(error, CheckpointError::AlreadyAnswered { .. }));
}

/// Asks for a number.
#[tool(effect = "once")]
async fn age(context: &ToolContext) -> Result<ToolOutcome, ToolError> {
    Ok(match context.answer::<u8>()? {
        None => ToolOutcome::Interrupt(InterruptRequest::new("Age?")),
        Some(age) => ToolOutcome::Done(ToolOutput::from_text(format!("age {age}"))),
    })
}

fn two_ages(saver: &(impl CheckpointSaver + Clone + 'static)) -> ReactAgentBuilder {
    let two = calls("age", json!({})).with_id("c1");
    let two = two.and_calls("age", json!({})).with_id("c2");
    let model = ScriptedModel::new([two, says("Done.")]);
    ReactAgent::builder("a", model)
        .tools(tools![age])
        .saver(saver.clone())
}

#[tokio::test]
async fn an_answer_that_a_tool_cannot_read_is_replaced_by_another() {
    for is_parallel in [false, true] {
        let agent = two_ages(&MemorySaver::new()).parallel_tool_execution(is_parallel);
        let agent = agent.build().unwrap();
        let waiting = asked(&agent.run("Go.").thread("t1").await.unwrap());
        let (first, second) = (&waiting[0].id, &waiting[1].id);
        let answers = [Answer::new(first, "nan"), Answer::new(second, 2)];

        let error = agent_refused(agent.resume("t1", answers).await);
        assert!(is_unfit(&error, first), "{error:?}");
        // The other call has ended.
        let error = agent_refused(agent.resume("t1", [Answer::new(second, 3)]).await);
        assert!(matches!(&error, CheckpointError::AlreadyAnswered { id, .. } if id == second));
        let ended = agent.resume("t1", [Answer::new(first, 1)]).await.unwrap();
        // The model never heard of it.
        assert_eq!(told(ended.messages())[2], "c1=age 1 c2=age 2");
        let error = agent_refused(agent.resume("t1", [Answer::new(first, 4)]).await);
        assert!(matches!(error, CheckpointError::AlreadyAnswered { .. }));
    }
}

#[tokio::test]
async fn a_call_whose_answer_its_tool_could_not_read_is_not_told_as_one_that_may_have_run() {
    let agent = two_ages(&MemorySaver::new()).build().unwrap();
    let waiting = asked(&agent.run("Go.").thread("t1").await.unwrap());
    let answers = [
        Answer::new(&waiting[0].id, "nan"),
        Answer::new(&waiting[1].id, 2),
    ];
    let error = agent_refused(agent.resume("t1", answers).await);
    assert!(is_unfit(&error, &waiting[0].id), "{error:?}");

    let ended = agent.run("Never mind.").thread("t1").await.unwrap();

    let unread = "c1=Error: not run: the run before was cut off";
    assert_eq!(told(ended.messages())[2], format!("{unread} c2=age 2"));
}

#[tokio::test]
async fn an_answer_that_a_nested_agents_tool_cannot_read_is_told_by_the_outer_id() {
    let inner = ScriptedModel::new([calls("age", json!({})).with_id("i1"), says("Seven.")]);
    let inner = ReactAgent::builder("inner", inner).tools(tools![age]);
    let inner = AgentTool::new(inner.description("Asks.").build().unwrap());
    let outer = ScriptedModel::new([
        calls("inner", json!({"input": "Ask."})).with_id("c1"),
        says("Done."),
    ]);
    let agent = ReactAgent::builder("outer", outer).tools(inner);
    let agent = agent.saver(MemorySaver::new()).build().unwrap();
    let id = asked(&agent.run("Go.").thread("t1").await.unwrap())[0]
        .id
        .clone();

    let error = agent_refused(agent.resume("t1", [Answer::new(&id, "nan")]).await);
    assert!(is_unfit(&error, &id), "{error:?}");
    let ended = agent.resume("t1", [Answer::new(&id, 7)]).await.unwrap();
    assert_eq!(told(ended.messages())[2], "c1=Seven.");
}

#[tokio::test]
async fn a_secret_in_an_unfit_answer_is_masked() {
    let agent = two_ages(&MemorySaver::new())
        .secret("hunter2-hunter2")
        .hook(AgeOf);
    let agent = agent.build().unwrap();
    let shown = |error: CheckpointError| error.source().unwrap().to_string();
    let wrong = |id: &str| [Answer::new(id, "hunter2-hunter2")];
    let of_hook = asked(&agent.run("Go.").thread("t1").await.unwrap())[0]
        .id
        .clone();

    let text = shown(agent_refused(agent.resume("t1", wrong(&of_hook)).await));
    assert!(text.contains("***") && !text.contains("hunter2"), "{text}");
    let waiting = agent.resume("t1", [Answer::new(&of_hook, 1)]).await;
    let ids: Vec<String> = asked(&waiting.unwrap())
        .into_iter()
        .map(|it| it.id)
        .collect();
    let answers = [
        Answer::new(&ids[0], "hunter2-hunter2"),
        Answer::new(&ids[1], 2),
    ];
    let text = shown(agent_refused(agent.resume("t1", answers).await));
    assert!(text.contains("***") && !text.contains("hunter2"), "{text}");
}

/// Never ends.
#[tool(effect = "once", approval)]
async fn pays() -> String {
    std::future::pending().await
}

#[tokio::test]
async fn an_approval_holds_for_one_run_of_its_call_also_if_that_was_cut_off() {
    for (in_doubt, decision) in [
        (InDoubt::Tell, json!({"decision": "approve"})),
        (InDoubt::Ask, json!({"decision": "edit", "arguments": {}})),
    ] {
        let model = ScriptedModel::new([calls("pays", json!({})).with_id("c1"), says("Done.")]);
        let agent = ReactAgent::builder("a", model).tools(tools![pays]);
        let agent = agent.saver(MemorySaver::new()).in_doubt(in_doubt);
        let agent = agent.build().unwrap();
        let id = asked(&agent.run("Pay.").thread("t1").await.unwrap())[0]
            .id
            .clone();
        let decided = agent.resume("t1", [Answer::new(&id, decision)]);
        cut_while(decided, "pays").await;

        let error = agent_refused(agent.resume("t1", [Answer::reject(&id, "no")]).await);
        assert!(matches!(error, CheckpointError::AlreadyAnswered { .. }));
        let resumed = agent.resume("t1", []).await.unwrap();
        if in_doubt == InDoubt::Tell {
            assert!(told(resumed.messages())[2].contains("outcome unknown"));
            continue;
        }
        let waiting = asked(&resumed);
        assert_eq!(waiting[0].kind, InterruptKind::InDoubt);
        // Once more, and cut off once more.
        let again = agent.resume("t1", [Answer::approve(&waiting[0].id)]);
        cut_while(again, "pays").await;
        let waiting = asked(&agent.resume("t1", []).await.unwrap());
        assert_eq!(waiting[0].kind, InterruptKind::InDoubt);
        let answer = Answer::respond(&waiting[0].id, "it was done");
        let ended = agent.resume("t1", [answer]).await.unwrap();
        assert_eq!(told(ended.messages())[2], "c1=it was done");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_cannot_read_its_answer_is_not_tried_again_with_it() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&runs);
    let age = FunctionTool::new("age", "Asks.", move |_: Nothing, context: ToolContext| {
        counts.fetch_add(1, Ordering::SeqCst);
        async move {
            Ok::<_, ToolError>(match context.answer::<u8>()? {
                None => ToolOutcome::Interrupt(InterruptRequest::new("Age?")),
                Some(_) => ToolOutcome::Done(ToolOutput::from_text("ok")),
            })
        }
    });
    let model = ScriptedModel::new([calls("age", json!({})).with_id("c1"), says("Done.")]);
    let agent = ReactAgent::builder("a", model)
        .tools(age.effect(Effect::Pure))
        .tool_retry(ToolRetry::new());
    let agent = agent.saver(MemorySaver::new()).build().unwrap();
    let id = asked(&agent.run("Go.").thread("t1").await.unwrap())[0]
        .id
        .clone();

    let error = agent_refused(agent.resume("t1", [Answer::new(&id, "nan")]).await);

    assert!(is_unfit(&error, &id), "{error:?}");
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}
