//! One after another, side by side, and in time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::ToolContext;
use agent_core::event::EventKind;
use agent_tests::runs::{ended, events, output, result_texts};
use agent_tests::tools::{Counter, answers, never, tool};
use tokio::sync::{Barrier, oneshot};
use tokio::time::{Instant, sleep};

use super::{agent, model, pairs, parallel};

const LIMIT: Duration = Duration::from_millis(100);

// C1, TN-2, tn.3
#[tokio::test(start_paused = true)]
async fn parallel_calls_run_at_the_same_time() {
    let meeting = Arc::new(Barrier::new(2));
    let meets = |name| {
        tool(name, Arc::clone(&meeting), async |meeting, _, _| {
            meeting.wait().await;
            "met"
        })
    };
    let model = model(&["left", "right"]);

    let run = parallel(&model, [meets("left"), meets("right")]);
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "met"), ("c2", "met")])
    );
}

// C1
#[tokio::test]
async fn there_may_be_any_number_of_slots() {
    let model = model(&["left", "right"]);

    let run = parallel(&model, [answers("left", "l"), answers("right", "r")]);
    let run = run
        .max_parallel_tools(usize::MAX)
        .build()
        .unwrap()
        .run("Go");

    assert_eq!(
        result_texts(run.await.unwrap().messages()),
        pairs(&[("c1", "l"), ("c2", "r")])
    );
}

// C1, TN-2
#[tokio::test(start_paused = true)]
async fn calls_run_one_after_another_unless_told_otherwise() {
    let running = Counter::default();
    let notes = |name| {
        tool(name, running.clone(), async |running, _, _| {
            let before = running.add();
            sleep(LIMIT).await;
            format!("{before}, then {}", running.get())
        })
    };
    let model = model(&["left", "right"]);

    let run = agent(&model, [notes("left"), notes("right")]);
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "0, then 1"), ("c2", "1, then 2")])
    );
}

// C1, TN-4, tn.13
#[tokio::test(start_paused = true)]
async fn no_more_calls_than_allowed_run_at_once() {
    for (limit, most) in [(Some(3), 3), (None, 5)] {
        let now_and_most = Arc::new(Mutex::new((0, 0)));
        let busy = tool("busy", Arc::clone(&now_and_most), async |counts, _, _| {
            {
                let mut counts = counts.lock().unwrap();
                counts.0 += 1;
                counts.1 = counts.1.max(counts.0);
            }
            sleep(LIMIT).await;
            counts.lock().unwrap().0 -= 1;
        });
        let model = model(&["busy"; 7]);

        let mut run = parallel(&model, [busy]);
        if let Some(limit) = limit {
            run = run.max_parallel_tools(limit);
        }
        run.build().unwrap().run("Go").await.unwrap();

        assert_eq!(*now_and_most.lock().unwrap(), (0, most));
    }
}

// C1, TN-4, case ex-03
#[tokio::test(start_paused = true)]
async fn results_stand_in_call_order_while_events_come_as_calls_end() {
    let takes = |name, milliseconds| {
        tool(name, milliseconds, async |milliseconds, _, _| {
            sleep(Duration::from_millis(milliseconds)).await;
        })
    };
    let model = model(&["slow", "middle", "fast"]);
    let tools = [takes("slow", 80), takes("middle", 40), takes("fast", 1)];

    let began = Instant::now();
    let (events, _) = events(parallel(&model, tools).build().unwrap().run("Go").stream()).await;

    assert_eq!(began.elapsed(), Duration::from_millis(80));
    assert_eq!(ended(&events), ["c3", "c2", "c1"]);
    assert_eq!(
        result_texts(output(&events).messages()),
        pairs(&[("c1", "Done"), ("c2", "Done"), ("c3", "Done")])
    );
}

// C1, case ex-04
#[tokio::test]
async fn one_tool_called_twice_runs_twice() {
    let runs = Counter::default();
    let lookup = tool("lookup", runs.clone(), async |runs, arguments, _| {
        runs.add();
        (arguments["k"].as_u64().unwrap() * 10).to_string()
    });
    let turn = super::Turn::default()
        .and_calls("lookup", super::json!({"k": 1}))
        .and_calls("lookup", super::json!({"k": 2}));
    let model = super::ScriptedModel::new([turn, super::says("done")]);

    let run = parallel(&model, [lookup])
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("call_1", "10"), ("call_2", "20")])
    );
    assert_eq!(runs.get(), 2);
}

// C2, C3, TN-3, TN-6, case ex-05
#[tokio::test(start_paused = true)]
async fn a_timed_out_call_leaves_its_siblings_alone() {
    let dropped = Counter::default();
    let hangs = tool("hangs", dropped.clone(), async |dropped, _, _| {
        let _guard = dropped.on_drop();
        std::future::pending::<()>().await;
    });
    let model = model(&["quick", "hangs"]);

    let began = Instant::now();
    let run = parallel(&model, [answers("quick", "ok"), hangs]).tool_execution_timeout(LIMIT);
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(began.elapsed(), LIMIT);
    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "ok"), ("c2", OVER_ALL)])
    );
    assert_eq!(dropped.get(), 1);
    assert_eq!(run.text(), "done");
}

/// What the model reads of a call that took longer than its agent allows.
const OVER_ALL: &str = "Error: timed out after 100 ms, the most that any tool call may take";

// C2
#[tokio::test(start_paused = true)]
async fn the_shorter_of_two_time_limits_counts() {
    let model = model(&["short", "long"]);
    let tools = [
        never("short").timeout(LIMIT),
        never("long").timeout(Duration::from_secs(900)),
    ];

    let run = agent(&model, tools).tool_execution_timeout(Duration::from_secs(2));
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[
            ("c1", "Error: timed out after 100 ms"),
            (
                "c2",
                "Error: timed out after 2 s, the most that any tool call may take"
            )
        ])
    );
}

// C2
#[tokio::test(start_paused = true)]
async fn the_smallest_of_three_time_limits_counts_and_is_named() {
    const BOTH: Duration = Duration::from_millis(200);
    let after = "Error: timed out after 100 ms";
    let run_is_over = "Error: timed out: the time of the whole run is over";
    for (of_tool, of_agent, of_run, told) in [
        (LIMIT, BOTH, BOTH, after),
        (BOTH, LIMIT, BOTH, OVER_ALL),
        (BOTH, BOTH, LIMIT, run_is_over),
        // Of two that are the same, the one that says more of this call.
        (LIMIT, LIMIT, LIMIT, after),
    ] {
        let began = Instant::now();
        let agent = agent(&model(&["never"]), never("never").timeout(of_tool));
        let agent = agent.tool_execution_timeout(of_agent).build().unwrap();
        let run = agent.run("Go").deadline(of_run).await.unwrap();

        assert_eq!(began.elapsed(), LIMIT);
        assert_eq!(result_texts(run.messages()), pairs(&[("c1", told)]));
    }
}

// C2
#[tokio::test(start_paused = true)]
async fn calls_that_the_end_of_the_run_kept_from_running_are_told_so() {
    let runs = Counter::default();
    let late = || {
        tool("late", runs.clone(), async |runs, _, _| {
            runs.add().to_string()
        })
    };
    for side_by_side in [false, true] {
        let agent = agent(&model(&["never", "late"]), [never("never"), late()])
            .parallel_tool_execution(side_by_side)
            .max_parallel_tools(1);
        let run = agent.build().unwrap().run("Go");
        let run = run.deadline(LIMIT).await.unwrap();

        assert_eq!(
            result_texts(run.messages()),
            pairs(&[
                ("c1", "Error: timed out: the time of the whole run is over"),
                ("c2", "Error: not run: the time of the whole run is over"),
            ])
        );
        assert_eq!(runs.get(), 0);
    }
}

// C2, CT-1
#[tokio::test(start_paused = true)]
async fn by_default_a_call_has_five_minutes() {
    let model = model(&["never"]);

    let run = agent(&model, never("never")).build().unwrap();
    let run = run.run("Go").await.unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[(
            "c1",
            "Error: timed out after 5 min, the most that any tool call may take"
        )])
    );
}

// C2
#[tokio::test(start_paused = true)]
async fn in_a_row_each_call_has_the_whole_time() {
    let takes = tool("takes", (), async |(), _, _| {
        sleep(LIMIT - Duration::from_millis(1)).await
    });
    let model = model(&["takes", "takes"]);

    let run = agent(&model, takes).tool_execution_timeout(LIMIT);
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "Done"), ("c2", "Done")])
    );
}

// C2, TN-5, TN-4, tn.14
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_slot_past_its_time_never_starts() {
    let runs = Counter::default();
    let late = tool("late", runs.clone(), async |runs, _, _| {
        runs.add().to_string()
    });
    let model = model(&["hangs", "late"]);

    let run = parallel(&model, [never("hangs"), late])
        .max_parallel_tools(1)
        .tool_execution_timeout(LIMIT);
    let (events, _) = events(run.build().unwrap().run("Go").stream()).await;

    assert_eq!(runs.get(), 0);
    assert_eq!(result_texts(output(&events).messages())[1].1, OVER_ALL);
    let started = |kind: &EventKind| matches!(kind, EventKind::ToolStarted { .. });
    assert_eq!(
        events.iter().filter(|event| started(&event.kind)).count(),
        1
    );
}

/// What a blocked thread waits for.
type Release = Arc<Mutex<Option<std::sync::mpsc::Receiver<()>>>>;

/// Blocks its thread until it is released.
#[agent_core::tool(register = false)]
fn blocks(context: &ToolContext) -> &'static str {
    let release = context.host::<Release>().unwrap();
    let waiting = release.lock().unwrap().take().unwrap();
    waiting.recv().map_or("given up", |()| "released")
}

// C5, case ex-07
#[tokio::test]
async fn a_blocking_tool_does_not_stall_a_runtime_of_one_thread() {
    let (release, waiting) = std::sync::mpsc::channel();
    let frees = tool("frees", release, async |release, _, _| {
        release.send(()).unwrap();
    });
    let model = model(&["blocks", "frees"]);

    let run = agent(&model, agent_core::tools![blocks])
        .tools(frees)
        .parallel_tool_execution(true)
        .host::<Release>(Arc::new(Mutex::new(Some(waiting))));
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "released"), ("c2", "Done")])
    );
}

// C2, C5, case ex-07
#[tokio::test]
async fn an_async_call_is_over_with_its_time_while_a_plain_one_blocks() {
    let (release, waiting) = std::sync::mpsc::channel();
    let hangs = never("hangs").timeout(Duration::from_millis(20));
    let model = model(&["blocks", "hangs"]);
    let run = agent(&model, agent_core::tools![blocks])
        .tools(hangs)
        .parallel_tool_execution(true)
        .host::<Release>(Arc::new(Mutex::new(Some(waiting))));
    let mut stream = run.build().unwrap().run("Go").stream();

    let mut ended = Vec::new();
    while let Some(event) = stream.next().await {
        if let EventKind::ToolFinished { result, .. } = event.unwrap().kind {
            ended.push(result.text());
            if result.call_id() == "c2" {
                release.send(()).unwrap();
            }
        }
    }

    assert_eq!(ended, ["Error: timed out after 20 ms", "released"]);
}

// C5
#[tokio::test]
async fn a_blocking_tool_runs_in_place_if_the_agent_is_told_so() {
    let (release, waiting) = std::sync::mpsc::channel();
    release.send(()).unwrap();
    let model = model(&["where_am_i"]);

    /// Tells its thread.
    #[agent_core::tool(register = false)]
    fn where_am_i() -> String {
        format!("{:?}", std::thread::current().id())
    }
    let run = agent(&model, agent_core::tools![where_am_i]).wrap_sync_tools_as_async(false);
    let run = run.build().unwrap().run("Go").await.unwrap();

    drop(waiting);
    assert_eq!(
        result_texts(run.messages())[0].1,
        format!("{:?}", std::thread::current().id())
    );
}

// B8
#[tokio::test]
async fn progress_comes_between_start_and_end_of_its_call() {
    let reports = tool("reports", (), async |(), _, context: ToolContext| {
        context.emit("half").await;
        context.emit("all").await;
    });
    let model = model(&["reports"]);

    let (events, _) = events(agent(&model, reports).build().unwrap().run("Go").stream()).await;

    let of_call = events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolStarted { call } => Some(format!("{} starts", call.id())),
        EventKind::ToolProgress {
            call_id,
            tool,
            value,
        } => Some(format!("{call_id} {tool} {value}")),
        EventKind::ToolFinished { result, .. } => Some(format!("{} ends", result.call_id())),
        _ => None,
    });
    assert_eq!(
        of_call.collect::<Vec<_>>(),
        [
            "c1 starts",
            r#"c1 reports "half""#,
            r#"c1 reports "all""#,
            "c1 ends"
        ]
    );
}

// B8
#[tokio::test]
async fn progress_is_seen_while_the_tool_still_runs() {
    let (release, waiting) = oneshot::channel::<()>();
    let waiting = Arc::new(Mutex::new(Some(waiting)));
    let reports = tool(
        "reports",
        waiting,
        async |waiting, _, context: ToolContext| {
            context.emit(1).await;
            let waiting = waiting.lock().unwrap().take().unwrap();
            waiting.await.map_or("given up", |()| "released")
        },
    );
    let model = model(&["reports"]);
    let mut stream = agent(&model, reports).build().unwrap().run("Go").stream();

    let mut release = Some(release);
    let mut last = String::new();
    while let Some(event) = stream.next().await {
        match event.unwrap().kind {
            EventKind::ToolProgress { .. } => release.take().unwrap().send(()).unwrap(),
            EventKind::ToolFinished { result, .. } => last = result.text(),
            _ => {}
        }
    }

    assert_eq!(last, "released");
}

// B8
#[tokio::test]
async fn what_a_tool_left_running_says_nothing_after_its_end() {
    let (speak, waiting) = oneshot::channel::<()>();
    let (said, heard) = oneshot::channel::<()>();
    let channels = Arc::new(Mutex::new(Some((waiting, said))));
    let leaves = tool(
        "leaves",
        channels,
        async |channels, _, context: ToolContext| {
            let (waiting, said) = channels.lock().unwrap().take().unwrap();
            tokio::spawn(async move {
                waiting.await.unwrap();
                context.emit("late").await;
                said.send(()).unwrap();
            });
        },
    );
    let model = model(&["leaves"]);
    let mut stream = agent(&model, leaves).build().unwrap().run("Go").stream();

    let (mut speak, mut heard) = (Some(speak), Some(heard));
    while let Some(event) = stream.next().await {
        match event.unwrap().kind {
            EventKind::ToolFinished { .. } => {
                speak.take().unwrap().send(()).unwrap();
                heard.take().unwrap().await.unwrap();
            }
            EventKind::ToolProgress { .. } => panic!("progress after the end"),
            _ => {}
        }
    }
}

// C2, TN-5
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_slot_is_told_when_its_time_is_over() {
    let (release, waiting) = oneshot::channel::<()>();
    let holds = tool(
        "holds",
        Arc::new(Mutex::new(Some(waiting))),
        async |waiting, _, _| {
            let waiting = waiting.lock().unwrap().take().unwrap();
            waiting.await.map_or("given up", |()| "released")
        },
    );
    let model = model(&["holds", "waits"]);
    let run = parallel(&model, [holds, answers("waits", "ran").timeout(LIMIT)]);
    let mut stream = run
        .max_parallel_tools(1)
        .build()
        .unwrap()
        .run("Go")
        .stream();

    let mut release = Some(release);
    let mut ended = Vec::new();
    while let Some(event) = stream.next().await {
        if let EventKind::ToolFinished { result, .. } = event.unwrap().kind {
            ended.push(result.text());
            if let Some(release) = release.take() {
                release.send(()).unwrap();
            }
        }
    }

    assert_eq!(ended, ["Error: timed out after 100 ms", "released"]);
}

// C2
#[tokio::test(start_paused = true)]
async fn a_call_whose_time_ran_out_behind_a_slow_reader_never_starts() {
    let floods = tool("floods", (), async |(), _, context: ToolContext| {
        for number in 0..200 {
            drop(context.emit(number));
        }
    });
    let runs = Counter::default();
    let counts = tool("counts", runs.clone(), async |runs, _, _| {
        runs.add();
    });
    let model = model(&["floods", "counts"]);
    let run = parallel(&model, [floods, counts.timeout(LIMIT)]);
    let mut stream = run.build().unwrap().run("Go").stream();

    let mut texts = Vec::new();
    while let Some(event) = stream.next().await {
        match event.unwrap().kind {
            EventKind::ToolStarted { call } if call.id() == "c1" => sleep(LIMIT * 2).await,
            EventKind::ToolFinished { result, .. } => texts.push(result.text()),
            _ => {}
        }
    }

    assert_eq!(texts, ["Done", "Error: timed out after 100 ms"]);
    assert_eq!(runs.get(), 0);
}
