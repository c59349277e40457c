//! Tools that run alone, and tools that bring a limit of calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::agent::{Limit, Limits, OnLimit};
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::tool::ToolMetadata;
use agent_core::{Outcome, tool, tools};
use agent_tests::runs::{result_texts, results};
use agent_tests::tools::{ClosureTool, Counter, answers, never, tool as closure};
use serde_json::json;
use tokio::time::sleep;

use super::{agent, model, pairs, parallel};

type Log = Arc<Mutex<Vec<String>>>;

const STEP: Duration = Duration::from_secs(1);

/// A tool that notes when it starts and ends, and takes this many steps.
fn notes(name: &'static str, log: &Log, steps: u32) -> ClosureTool {
    let shared = (name, Arc::clone(log), steps);
    closure(name, shared, async |(name, log, steps), _, _| {
        log.lock().unwrap().push(format!("+{name}"));
        sleep(STEP * steps).await;
        log.lock().unwrap().push(format!("-{name}"));
        name
    })
}

// C1
#[tokio::test(start_paused = true)]
async fn a_sequential_tool_is_a_barrier_among_parallel_calls() {
    let log = Log::default();
    let tools = [
        notes("a", &log, 3),
        notes("b", &log, 1),
        notes("alone", &log, 1).sequential(),
        notes("c", &log, 2),
        notes("d", &log, 1),
    ];
    let model = model(&["a", "b", "alone", "c", "d"]);

    let run = parallel(&model, tools).build().unwrap().run("Go").await;

    let order = [
        "+a", "+b", "-b", "-a", "+alone", "-alone", "+c", "+d", "-d", "-c",
    ];
    assert_eq!(*log.lock().unwrap(), order);
    let results = result_texts(run.unwrap().messages());
    assert_eq!(
        results,
        pairs(&[
            ("c1", "a"),
            ("c2", "b"),
            ("c3", "alone"),
            ("c4", "c"),
            ("c5", "d")
        ])
    );
}

// C1
#[tokio::test(start_paused = true)]
async fn two_sequential_calls_never_meet() {
    let log = Log::default();
    let model = model(&["alone", "alone"]);

    let run = parallel(&model, [notes("alone", &log, 1).sequential()]);
    run.build().unwrap().run("Go").await.unwrap();

    let order = ["+alone", "-alone", "+alone", "-alone"];
    assert_eq!(*log.lock().unwrap(), order);
}

// C2
#[tokio::test(start_paused = true)]
async fn the_clock_of_a_call_behind_a_barrier_starts_with_the_turn() {
    let log = Log::default();
    let tools = [
        notes("alone", &log, 3).sequential(),
        notes("late", &log, 1).timeout(2 * STEP),
        notes("in-time", &log, 1).timeout(5 * STEP),
    ];
    let model = model(&["alone", "late", "in-time"]);

    let run = parallel(&model, tools).build().unwrap().run("Go").await;

    assert_eq!(
        result_texts(run.unwrap().messages()),
        pairs(&[
            ("c1", "alone"),
            ("c2", "Error: timed out after 2 s"),
            ("c3", "in-time")
        ])
    );
    assert!(!log.lock().unwrap().contains(&"+late".to_owned()));
}

// C1
#[tokio::test(start_paused = true)]
async fn a_barrier_that_fails_the_run_lets_nothing_after_it_start() {
    let started = Counter::default();
    let fails = closure("fails", (), async |(), _, _| {
        Err::<(), _>(agent_core::ToolError::fatal("broken"))
    });
    let counts = closure("counts", started.clone(), async |started, _, _| {
        started.add();
    });
    let model = model(&["fails", "counts"]);

    let run = parallel(&model, [fails.sequential(), counts]);
    let run = run.build().unwrap().run("Go").await;

    assert!(run.is_err());
    assert_eq!(started.get(), 0);
}

// C4
#[tokio::test(start_paused = true)]
async fn a_barrier_that_hangs_is_cut_by_its_own_limit() {
    let tools = [never("alone").sequential().timeout(STEP), answers("b", "b")];
    let model = model(&["alone", "b"]);

    let run = parallel(&model, tools).build().unwrap().run("Go").await;

    assert_eq!(
        result_texts(run.unwrap().messages()),
        pairs(&[("c1", "Error: timed out after 1 s"), ("c2", "b")])
    );
}

fn three_steps() -> ScriptedModel {
    let step = || calls("step", json!({}));
    ScriptedModel::new([step(), step(), step(), says("done")])
}

async fn texts(tool: ClosureTool, limits: Limits) -> Vec<String> {
    let agent = agent(&three_steps(), tool).limits(limits.on_limit(OnLimit::ErrorResult));
    let run = agent.build().unwrap().run("Go").await.unwrap();
    let results = results(run.messages());
    results.iter().map(|result| result.text()).collect()
}

const OVER: &str = "Error: not run: the limit of calls of `step` is reached";

// C12
#[tokio::test]
async fn a_tools_own_limit_holds_beside_the_agents() {
    let tool = || answers("step", "ok").max_calls(2);

    assert_eq!(texts(tool(), Limits::new()).await, ["ok", "ok", OVER]);
    let smaller = Limits::new().calls_of("step", 1);
    assert_eq!(texts(tool(), smaller).await, ["ok", OVER, OVER]);
    let larger = Limits::new().calls_of("step", None);
    assert_eq!(texts(tool(), larger).await, ["ok", "ok", OVER]);
}

// C12
#[tokio::test]
async fn a_tools_own_limit_ends_the_run_like_any_other() {
    let agent = agent(&three_steps(), answers("step", "ok").max_calls(1));

    let run = agent.build().unwrap().run("Go").await.unwrap();

    let limit = Limit::ToolCallsOf("step".to_owned());
    assert_eq!(run.outcome(), &Outcome::LimitReached(limit));
}

#[tool(sequential, max_calls = 3, strict, register = false)]
async fn with_every_wish() {}

#[tool(sequential = false, strict = false, register = false)]
async fn with_no_wish() {}

#[test]
fn the_keys_of_a_tool_are_its_metadata() {
    let read = |metadata: &ToolMetadata| {
        (
            metadata.is_sequential(),
            metadata.call_limit(),
            metadata.is_strict(),
        )
    };
    let all = tools![with_every_wish, with_no_wish];

    assert_eq!(read(all[0].metadata()), (true, Some(3), true));
    assert_eq!(read(all[1].metadata()), (false, None, false));
}
