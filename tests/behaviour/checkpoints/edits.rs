//! Pauses behind nodes, and edits of the state of a thread while nobody runs on it.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use agent_core::graph::checkpoint::{CheckpointError, MemorySaver, Threads};
use agent_core::graph::{
    Answer, CompiledGraph, END, GraphEvent, NodeContext, NodeOutput, RunError, START, State,
    StateError, StateGraph, StateUpdate, StreamMode,
};
use agent_core::message::{AssistantMessage, MessageBody, ToolCall};
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says as model_says};
use agent_core::{BoxError, Message, Outcome, ReactAgent, ToolSet, tool, tools};
use futures_util::StreamExt as _;
use serde_json::json;

use super::threads::{graph, ids, log, logged, paused, refused, says};

/// `a`, `b`, and then what the state names: `c` or `d`.
fn choosing(saver: &MemorySaver) -> CompiledGraph {
    graph()
        .node("a", says)
        .node("b", async |_: State| {
            Ok::<_, StateError>(log("b").put("way", json!("d")))
        })
        .node("c", says)
        .node("d", says)
        .edge(START, "a")
        .edge("a", "b")
        .conditional_edges(
            "b",
            |state: &State| {
                let way = state.value("way").and_then(|way| way.as_str());
                way.unwrap_or_default().to_owned()
            },
            ["c", "d"],
        )
        .edge("c", END)
        .edge("d", END)
        .interrupt_after("b")
        .compile()
        .unwrap()
        .saver(saver.clone())
}

fn to_c() -> StateUpdate {
    StateUpdate::new().put("way", json!("c"))
}

#[tokio::test]
async fn a_run_pauses_behind_a_node_and_its_way_on_is_found_before() {
    // in.1, IR-1, IR-3
    let graph = choosing(&MemorySaver::new());

    let held = paused(graph.run(()).thread("t1")).await;
    assert_eq!((&*held[0].node, held[0].is_breakpoint), ("b", true));
    let state = graph.update_state("t1", to_c()).await.unwrap();
    assert_eq!(logged(&state), ["a", "b"]);
    let state = graph.resume("t1", []).await.unwrap();

    assert_eq!(logged(&state), ["a", "b", "d"]);
    assert_eq!(state.value("way"), Some(&json!("c")));
}

#[tokio::test]
async fn an_edit_as_a_node_finds_the_way_on_anew() {
    // in.2, IR-6, IR-7, IR-9, KS-21: `way` has no strategy
    let saver = MemorySaver::new();
    let graph = choosing(&saver);
    paused(graph.run(()).thread("t1")).await;

    graph.update_state("t1", to_c()).as_node("b").await.unwrap();
    let history = Threads::new(saver).history("t1", 1).await.unwrap();
    let state = graph.resume("t1", []).await.unwrap();

    assert_eq!(history[0].next, ["c"]);
    assert!(history[0].interrupts.is_empty());
    assert_eq!(logged(&state), ["a", "b", "c"]);
}

#[tokio::test]
async fn an_edit_as_the_start_begins_the_graph_anew() {
    let graph = choosing(&MemorySaver::new());
    paused(graph.run(()).thread("t1")).await;
    graph.resume("t1", []).await.unwrap();

    graph.update_state("t1", ()).as_node(START).await.unwrap();
    paused(graph.resume("t1", [])).await;
    let state = graph.resume("t1", []).await.unwrap();

    assert_eq!(logged(&state), ["a", "b", "d", "a", "b", "d"]);
}

#[tokio::test]
async fn a_node_may_pause_behind_itself_and_does_not_run_again() {
    // in.3, in.4, in.5, EX-3
    let graph = graph()
        .node("a", says)
        .node("b", async |state: State, context: NodeContext| {
            context.emit("chunk").await;
            let output = NodeOutput::new(log("b"));
            Ok::<_, BoxError>(match logged(&state).len() {
                1 => output.pause_after("look at it"),
                _ => output,
            })
        })
        .node("c", says)
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c")
        .edge("c", END)
        .compile()
        .unwrap()
        .saver(MemorySaver::new());

    let modes = [StreamMode::Custom, StreamMode::Updates];
    let events = graph.run(()).thread("t1").stream_modes(modes).stream();
    let told: Vec<String> = events
        .map(|event| match event.unwrap() {
            GraphEvent::Custom { value, .. } => value.to_string(),
            GraphEvent::Update { node, .. } => node.to_string(),
            GraphEvent::Interrupted { interrupts, state } => {
                assert_eq!(logged(&state), ["a", "b"]);
                interrupts[0].payload.to_string()
            }
            other => panic!("{other:?}"),
        })
        .collect()
        .await;
    assert_eq!(told, ["a", "\"chunk\"", "b", "\"look at it\""]);
    let state = graph.resume("t1", []).await.unwrap();
    assert_eq!(logged(&state), ["a", "b", "c"]);

    let state = graph.run(log("again")).thread("t1").await.unwrap();
    assert_eq!(logged(&state)[4..], ["a", "b", "c"], "it did not pause");
}

#[tokio::test]
async fn a_pause_behind_the_last_node_is_over_with_a_resume() {
    let graph = graph()
        .node("a", says)
        .edge(START, "a")
        .edge("a", END)
        .interrupt_after("a")
        .compile()
        .unwrap()
        .saver(MemorySaver::new());

    let held = paused(graph.run(()).thread("t1")).await;
    assert_eq!(held[0].key, "after");
    let error = refused(graph.run(()).thread("t1").await);
    assert!(matches!(error, CheckpointError::Pending { .. }));
    assert_eq!(logged(&graph.resume("t1", []).await.unwrap()), ["a"]);
    let error = refused(graph.resume("t1", []).await);
    assert!(matches!(error, CheckpointError::NothingToResume { .. }));
    paused(graph.run(()).thread("t1")).await;
}

#[tokio::test]
async fn a_run_pauses_behind_a_graph_inside_behind_its_nodes_and_in_branches() {
    // sg.4; SB-2 and sg.3, refused there, are met here
    let inner = graph()
        .node("x", says)
        .node("y", says)
        .edge(START, "x")
        .edge("x", "y")
        .edge("y", END)
        .interrupt_after("x");
    let graph = graph()
        .sub_graph("b", inner)
        .node("side", says)
        .node("c", says)
        .edge(START, "b")
        .edge(START, "side")
        .edge("b", "c")
        .edge("side", "c")
        .edge("c", END)
        .interrupt_after("b")
        .interrupt_after("side")
        .compile()
        .unwrap()
        .saver(MemorySaver::new());

    let held = paused(graph.run(()).thread("t1")).await;
    let places: Vec<&str> = held.iter().map(|held| &*held.node).collect();
    assert_eq!(places, ["__START__>0/b/x", "__START__>1/side"]);
    let held = paused(graph.resume("t1", [])).await;
    let places: Vec<&str> = held.iter().map(|held| &*held.node).collect();
    assert_eq!(places, ["__START__>0/b"]);
    let state = graph.resume("t1", []).await.unwrap();

    assert_eq!(logged(&state), ["x", "y", "side", "c"]);
}

#[tokio::test]
async fn a_node_in_a_loop_pauses_behind_each_of_its_runs() {
    let graph = graph()
        .node("a", says)
        .edge(START, "a")
        .conditional_edges(
            "a",
            |state: &State| match logged(state).len() {
                3 => END,
                _ => "a",
            },
            ["a", END],
        )
        .interrupt_before("a")
        .interrupt_after("a")
        .compile()
        .unwrap()
        .saver(MemorySaver::new());

    let mut keys = vec![paused(graph.run(()).thread("t1")).await[0].key.clone()];
    for _ in 0..5 {
        keys.push(paused(graph.resume("t1", [])).await[0].key.clone());
    }

    let state = graph.resume("t1", []).await.unwrap();
    assert_eq!(
        keys,
        ["before", "after", "before", "after", "before", "after"]
    );
    assert_eq!(logged(&state), ["a", "a", "a"]);
}

fn asking(saver: &MemorySaver) -> CompiledGraph {
    graph()
        .node("ask", async |state: State, context: NodeContext| {
            Ok::<_, BoxError>(match context.answer::<String>()? {
                None => NodeOutput::new(StateUpdate::new()).interrupt("Which?"),
                Some(answer) => NodeOutput::new(log(&format!("{:?} {answer}", logged(&state)))),
            })
        })
        .edge(START, "ask")
        .edge("ask", END)
        .compile()
        .unwrap()
        .saver(saver.clone())
}

#[tokio::test]
async fn what_waits_still_waits_after_an_edit_and_sees_it() {
    let graph = asking(&MemorySaver::new());
    let asked = paused(graph.run(()).thread("t1")).await;

    graph.update_state("t1", log("edited")).await.unwrap();
    let again = paused(graph.resume("t1", [])).await;
    let answer = Answer::new(&asked[0].id, "this");
    let state = graph.resume("t1", [answer]).await.unwrap();

    assert_eq!(again, asked);
    assert_eq!(logged(&state), ["edited", "[\"edited\"] this"]);
}

#[tokio::test]
async fn an_edit_at_an_earlier_checkpoint_makes_another_branch() {
    let saver = MemorySaver::new();
    let graph = choosing(&saver);
    paused(graph.run(()).thread("t1")).await;
    let first = ids(&saver, "t1").await;
    graph.resume("t1", []).await.unwrap();

    let behind_a = first[1].clone();
    graph
        .update_state("t1", log("edited"))
        .at(behind_a)
        .await
        .unwrap();
    paused(graph.resume("t1", [])).await;
    let state = graph.resume("t1", []).await.unwrap();

    assert_eq!(logged(&state), ["a", "edited", "b", "d"]);
    let kept = ids(&saver, "t1").await;
    assert!(first.iter().all(|id| kept.contains(id)));
}

#[tokio::test]
async fn an_edit_that_cannot_be_made_changes_nothing() {
    let saver = MemorySaver::new();
    let graph = choosing(&saver);
    let missing = refused(graph.update_state("t1", ()).await);
    assert!(matches!(missing, CheckpointError::ThreadNotFound { thread } if thread == "t1"));

    let mut run = graph.run(()).thread("t1").stream();
    run.next().await.unwrap().unwrap();
    let busy = refused(graph.update_state("t1", ()).await);
    assert!(busy.is_conflict());
    while let Some(event) = run.next().await {
        event.unwrap();
    }
    drop(run);
    let before = saver.bytes_written();
    let unknown = graph
        .update_state("t1", ())
        .as_node("typo")
        .await
        .unwrap_err();
    assert_eq!(unknown.to_string(), "the graph has no node `typo`");
    let nowhere = StateUpdate::new().put("way", json!("nowhere"));
    let lost = graph
        .update_state("t1", nowhere)
        .as_node("b")
        .await
        .unwrap_err();
    assert!(matches!(lost, RunError::UnknownRoute { .. }));
    let reserved = StateUpdate::new().put("messages", json!([]));
    let unfit = graph.update_state("t1", reserved).await.unwrap_err();
    assert!(matches!(unfit, RunError::Update { .. }));

    assert_eq!(saver.bytes_written(), before);
    assert_eq!(
        logged(&graph.resume("t1", []).await.unwrap()),
        ["a", "b", "d"]
    );
}

/// Pays a sum.
#[tool]
async fn pay(sum: u32) -> String {
    format!("paid {sum}")
}

fn paying(model: &ScriptedModel, saver: &MemorySaver) -> ReactAgent {
    ReactAgent::builder("assistant", model.clone())
        .tools(tools![pay])
        .saver(saver.clone())
        .approval(|_, _| true)
        .build()
        .unwrap()
}

fn wants_to_pay(call_id: &str) -> Message {
    let call = ToolCall::new(call_id, "pay", r#"{"sum":7}"#);
    let reply = AssistantMessage::new("", None, vec![call]);
    Message::new(MessageBody::Assistant(reply))
}

#[tokio::test]
async fn an_edit_opens_no_calls_but_as_the_model_whose_tools_then_run() {
    let model = ScriptedModel::new([model_says("Hello."), model_says("Paid.")]);
    let saver = MemorySaver::new();
    let agent = paying(&model, &saver);
    agent.run("Hi").thread("t1").await.unwrap();

    let error = agent
        .update_state("t1", wants_to_pay("c1"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the update of `__START__` does not fit the state"
    );
    let more = vec![Message::user("Pay 7."), wants_to_pay("c1")];
    let edit = agent.update_state("t1", more).as_node("model");
    assert!(!edit.await.unwrap().transcript().is_closed());
    let output = agent.resume("t1", []).await.unwrap();
    let Outcome::Interrupted(asked) = output.outcome() else {
        panic!("{:?}", output.outcome());
    };
    let approved = Answer::approve(&asked[0].id);
    let output = agent.resume("t1", [approved]).await.unwrap();

    assert_eq!(output.text(), "Paid.");
    let results: Vec<String> = output
        .messages()
        .iter()
        .flat_map(|it| it.tool_results())
        .map(|it| it.text())
        .collect();
    assert_eq!(results, ["paid 7"]);
}

#[tokio::test]
async fn an_edit_gives_a_call_that_waits_its_result_in_the_place_of_the_tools() {
    let model = ScriptedModel::new([
        calls("pay", json!({"sum": 7})).with_id("c1"),
        model_says("I see."),
    ]);
    let saver = MemorySaver::new();
    let agent = paying(&model, &saver);
    let output = agent.run("Pay 7.").thread("t1").await.unwrap();
    let call = output
        .state()
        .transcript()
        .open_calls()
        .next()
        .unwrap()
        .clone();

    let result = agent_core::message::ToolResult::ok(&call, vec!["paid elsewhere".into()]);
    let update = StateUpdate::new().answer(result);
    agent
        .update_state("t1", update)
        .as_node("tools")
        .await
        .unwrap();
    let output = agent.resume("t1", []).await.unwrap();

    assert_eq!(output.text(), "I see.");
    assert_eq!(model.requests()[1].last_tool_result(), "paid elsewhere");
}

#[tokio::test]
async fn a_thread_that_came_to_its_step_limit_goes_on() {
    // gr.20: the checkpoint is intact
    let graph = StateGraph::new()
        .node("count", async |state: State| {
            let count = state.value("count").and_then(|count| count.as_u64());
            let count = count.unwrap_or_default() + 1;
            Ok::<_, StateError>(StateUpdate::new().put("count", json!(count)))
        })
        .edge(START, "count")
        .conditional_edges(
            "count",
            |state: &State| match state.value("count").and_then(|count| count.as_u64()) {
                Some(12) => END,
                _ => "count",
            },
            ["count", END],
        )
        .compile()
        .unwrap()
        .saver(MemorySaver::new());

    let error = graph.run(()).thread("t1").step_limit(5).await.unwrap_err();
    assert!(matches!(&error, RunError::StepLimit { limit: 5, .. }));
    assert_eq!(error.state().value("count"), Some(&json!(5)));
    let error = graph.resume("t1", []).step_limit(5).await.unwrap_err();
    assert_eq!(error.state().value("count"), Some(&json!(10)));
    let state = graph.resume("t1", []).await.unwrap();
    assert_eq!(state.value("count"), Some(&json!(12)));
}

#[tokio::test]
async fn a_compiled_child_pauses_in_the_thread_of_its_parent() {
    // sg.6, sg.7, sg.10, SB-3: the saver of the child is not asked
    let own = MemorySaver::new();
    let child = graph()
        .node("ask", async |_: State, context: NodeContext| {
            let who = context
                .extensions()
                .get::<&str>()
                .copied()
                .unwrap_or_default();
            Ok::<_, BoxError>(match context.answer::<String>()? {
                None => NodeOutput::default().interrupt(format!("{who}?")),
                Some(answer) => NodeOutput::new(log(&format!("{answer} of {who}"))),
            })
        })
        .edge(START, "ask")
        .edge("ask", END)
        .compile()
        .unwrap()
        .saver(own.clone());
    let saver = MemorySaver::new();
    let graph = graph()
        .node("child", child)
        .node("after", async |state: State| {
            Ok::<_, StateError>(log(&format!("after {:?}", logged(&state))))
        })
        .edge(START, "child")
        .edge("child", "after")
        .edge("after", END)
        .compile()
        .unwrap()
        .saver(saver.clone());

    let asked = paused(graph.run(()).thread("t1").extension("Ada")).await;
    assert_eq!(
        (&*asked[0].node, &asked[0].payload),
        ("child/ask", &json!("Ada?"))
    );
    graph.update_state("t1", log("edited")).await.unwrap();
    let answer = Answer::new(&asked[0].id, "yes");
    let state = graph.resume("t1", [answer]).extension("Bob").await.unwrap();

    assert_eq!(
        logged(&state),
        ["edited", "yes of Bob", "after [\"edited\", \"yes of Bob\"]"]
    );
    assert_eq!((own.threads().len(), saver.threads().len()), (0, 1));
}

#[tokio::test]
async fn a_resolved_tool_that_waited_is_found_by_another_agent() {
    // hi.10
    let saver = MemorySaver::new();
    let model = ScriptedModel::new([
        calls("pay", json!({"sum": 7})).with_id("c1"),
        model_says("Paid."),
    ]);
    let agent = || {
        ReactAgent::builder("assistant", model.clone())
            .resolver(ToolSet::new(tools![pay]).unwrap())
            .saver(saver.clone())
            .approval(|_, _| true)
            .build()
            .unwrap()
    };
    let output = agent().run("Pay 7.").thread("t1").await.unwrap();
    let Outcome::Interrupted(asked) = output.outcome() else {
        panic!("{:?}", output.outcome());
    };

    let approved = Answer::approve(&asked[0].id);
    agent().resume("t1", [approved]).await.unwrap();

    assert_eq!(model.requests()[1].last_tool_result(), "paid 7");
}
