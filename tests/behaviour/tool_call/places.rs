//! Where calls run, how many of one tool at once, and what they leave behind.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::graph::CancellationToken;
use agent_core::{Outcome, ReactAgent, ToolContext, tools};
use agent_tests::runs::result_texts;
use agent_tests::tools::{ClosureTool, Counter, answers, never, tool};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Barrier;

use super::{agent, model, pairs, parallel, turn};

fn runtime(name: &'static str) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    let builder = builder.worker_threads(1).max_blocking_threads(1);
    builder.thread_name(name).enable_all().build().unwrap()
}

fn thread() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

fn where_it_runs() -> ClosureTool {
    tool("place", (), async |(), _, _| thread())
}

/// Tells the thread it blocks.
#[agent_core::tool(register = false)]
fn blocking_place() -> String {
    thread()
}

async fn place(agent: &ReactAgent, of_run: Option<Handle>) -> String {
    let mut run = agent.run("Go");
    if let Some(runtime) = of_run {
        run = run.runtime(runtime);
    }
    result_texts(run.await.unwrap().messages()).remove(0).1
}

// C16, TN-19
#[test]
fn where_a_tool_runs_is_said_per_tool_per_run_and_per_agent() {
    let (of_agent, of_run, of_tool) = (runtime("of-agent"), runtime("of-run"), runtime("of-tool"));
    let main = Builder::new_current_thread().enable_all().build().unwrap();
    let build = |tool: bool| {
        let agent = agent(&model(&["place"]), where_it_runs()).runtime(of_agent.handle().clone());
        let agent = match tool {
            true => agent.runtime_of("place", of_tool.handle().clone()),
            false => agent,
        };
        agent.build().unwrap()
    };

    main.block_on(async {
        let own = agent(&model(&["place"]), where_it_runs()).build().unwrap();
        assert_eq!(place(&own, None).await, thread());
        assert_eq!(place(&build(false), None).await, "of-agent");
        let run = of_run.handle();
        assert_eq!(place(&build(false), Some(run.clone())).await, "of-run");
        assert_eq!(place(&build(true), Some(run.clone())).await, "of-tool");
        let blocking = agent(&model(&["blocking_place"]), tools![blocking_place]);
        let blocking = blocking.runtime(of_agent.handle().clone()).build().unwrap();
        assert_eq!(place(&blocking, None).await, "of-agent");
    });
}

// C16, C11, C3
#[test]
fn on_another_runtime_a_call_ends_as_it_would_on_its_own() {
    let other = runtime("other");
    let panics = tool("panics", (), async |(), _, _| -> () { panic!("a bug") });
    let hangs = never("hangs").timeout(Duration::from_millis(20));
    let agent = parallel(
        &model(&["panics", "hangs", "ok"]),
        [panics, hangs, answers("ok", "a")],
    )
    .runtime(other.handle().clone())
    .build()
    .unwrap();
    let main = Builder::new_current_thread().enable_all().build().unwrap();

    let run = main.block_on(agent.run("Go").into_future()).unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[
            ("c1", "Error: the tool panicked"),
            ("c2", "Error: timed out after 20 ms"),
            ("c3", "a"),
        ])
    );
}

// C16, C4
#[test]
fn on_another_runtime_a_cancelled_call_is_dropped() {
    let other = runtime("other");
    let (began, dropped) = (CancellationToken::new(), Counter::default());
    let shared = (began.clone(), dropped.clone());
    let hangs = tool("hangs", shared, async |(began, dropped), _, _| {
        let _guard = dropped.on_drop();
        began.cancel();
        std::future::pending::<()>().await;
    });
    let agent = agent(&model(&["hangs"]), hangs).runtime(other.handle().clone());
    let agent = agent.build().unwrap();
    let main = Builder::new_current_thread().enable_all().build().unwrap();

    // The run is cancelled once the tool has begun.
    let run = agent.run("Go").cancel_token(began).into_future();
    let run = main.block_on(run).unwrap();
    // Waits until the other runtime has let go of what was dropped.
    drop(other);

    assert_eq!(run.outcome(), &Outcome::Cancelled);
    assert_eq!(dropped.get(), 1);
}

#[test]
fn a_runtime_that_has_shut_down_is_an_error_of_the_call() {
    let other = runtime("other");
    let agent = agent(&model(&["ok"]), answers("ok", "a")).runtime(other.handle().clone());
    let agent = agent.build().unwrap();
    drop(other);
    let main = Builder::new_current_thread().enable_all().build().unwrap();

    let run = main.block_on(agent.run("Go").into_future()).unwrap();

    let text = "Error: the runtime that the tool was to run on has shut down";
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", text)]));
}

// C16, TN-20, tn.12: each blocking call has the pool's only thread in turn
#[test]
fn a_pool_of_one_thread_runs_many_blocking_calls() {
    let pool = runtime("pool");
    let names = ["blocking_place"; 8];
    let agent = parallel(&model(&names), []).tools(tools![blocking_place]);
    let agent = agent.runtime(pool.handle().clone()).build().unwrap();
    let main = Builder::new_current_thread().enable_all().build().unwrap();

    let run = main.block_on(agent.run("Go").into_future()).unwrap();

    let results = result_texts(run.messages());
    assert_eq!(results.len(), 8);
    assert!(
        results.iter().all(|(_, text)| text == "pool"),
        "{results:?}"
    );
}

#[tokio::test]
async fn a_runtime_for_a_tool_that_is_not_there_is_refused() {
    let agent = agent(&model(&[]), answers("ok", "a")).runtime_of("okay", Handle::current());

    let error = agent.build().unwrap_err();

    let text = "`runtime_of` names the tool `okay`, which the agent has not";
    assert!(error.to_string().contains(text), "{error}");
}

// C1
#[tokio::test(start_paused = true)]
async fn a_tool_can_limit_how_many_of_its_calls_run_at_once() {
    let running = Arc::new(Mutex::new((0_u32, 0_u32)));
    let limited = tool("limited", Arc::clone(&running), async |running, _, _| {
        {
            let mut now = running.lock().unwrap();
            now.0 += 1;
            now.1 = now.1.max(now.0);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
        running.lock().unwrap().0 -= 1;
        "ran"
    });
    let model = agent_core::model::ScriptedModel::new([
        turn(&["limited"; 6]),
        turn(&["limited"; 6]),
        agent_core::model::scripted::says("done"),
        agent_core::model::scripted::says("done"),
    ]);
    let agent = parallel(&model, [limited.max_parallel(2)]).max_parallel_tools(6);
    let agent = agent.build().unwrap();

    // Over all runs of the agent, and for each call.
    let (one, two) = tokio::join!(agent.run("Go"), agent.run("Go"));

    assert_eq!(result_texts(one.unwrap().messages()).len(), 6);
    assert_eq!(result_texts(two.unwrap().messages()).len(), 6);
    assert_eq!(*running.lock().unwrap(), (0, 2));
}

// C1: who waits for a busy tool takes no slot from others
#[tokio::test]
async fn a_call_that_waits_for_its_tool_lets_others_run() {
    let meet = Arc::new(Barrier::new(2));
    let limited = tool(
        "limited",
        (Arc::clone(&meet), Counter::default()),
        async |(meet, ran), _, _| {
            if ran.add() == 0 {
                meet.wait().await;
            }
            "ran"
        },
    );
    let other = tool("other", meet, async |meet, _, _| {
        meet.wait().await;
        "met"
    });
    let model = model(&["limited", "limited", "other"]);
    let agent = parallel(&model, [limited.max_parallel(1), other]).max_parallel_tools(2);

    let run = agent.build().unwrap().run("Go").await.unwrap();

    let texts = pairs(&[("c1", "ran"), ("c2", "ran"), ("c3", "met")]);
    assert_eq!(result_texts(run.messages()), texts);
}

/// Blocks until it is let go, whatever its time.
#[agent_core::tool(register = false, timeout = "20ms")]
fn stays(context: &ToolContext) {
    let go = context.host::<Mutex<Receiver<()>>>().unwrap();
    go.lock().unwrap().recv().unwrap();
}

// C2, TN-6, tn.14
#[tokio::test]
async fn a_blocking_tool_left_behind_keeps_no_slot() {
    for side_by_side in [false, true] {
        let (let_go, go) = channel::<()>();
        let agent = agent(&model(&["stays", "next"]), tools![stays])
            .tools(answers("next", "ran"))
            .host(Mutex::new(go))
            .parallel_tool_execution(side_by_side)
            .max_parallel_tools(1)
            .build()
            .unwrap();

        let run = agent.run("Go").await.unwrap();
        let_go.send(()).unwrap();

        assert_eq!(
            result_texts(run.messages()),
            pairs(&[("c1", "Error: timed out after 20 ms"), ("c2", "ran")])
        );
    }
}

/// What a tool tells of its beginning and its end, and what it waits for between them.
struct Doors {
    began: CancellationToken,
    go: Mutex<Receiver<()>>,
    ended: Sender<()>,
}

/// Blocks until it is let go, whatever its token says.
#[agent_core::tool(register = false)]
fn does_not_listen(context: &ToolContext) -> Result<&'static str, agent_core::ToolError> {
    let Doors { began, go, ended } = context.host::<Doors>().unwrap();
    began.cancel();
    go.lock().unwrap().recv().unwrap();
    context.update("late", true)?;
    ended.send(()).unwrap();
    Ok("late")
}

// C4, TN-6, CT-9, cc.2: leftover work is counted and never touches the state
#[tokio::test]
async fn a_blocking_tool_left_behind_is_counted_until_it_ends() {
    let (let_go, go) = channel();
    let (ended, has_ended) = channel();
    let began = CancellationToken::new();
    let doors = Doors {
        began: began.clone(),
        go: Mutex::new(go),
        ended,
    };
    let agent = agent(&model(&["does_not_listen"]), tools![does_not_listen])
        .host(doors)
        .build()
        .unwrap();

    // The run is cancelled once the tool has its thread.
    let run = agent.run("Go").cancel_token(began).await.unwrap();

    let text = "Error: cancelled while it ran; it may have run in part";
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", text)]));
    assert_eq!(agent.leftover_calls(), 1);
    let_go.send(()).unwrap();
    tokio::task::spawn_blocking(move || has_ended.recv().unwrap())
        .await
        .unwrap();
    while agent.leftover_calls() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(run.state().value("late"), None);
}
