//! What reaches a run of a thread from outside, and what belongs to a thread beside itself.

#![allow(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::agent::{AgentTool, Answer, Limit, ModelInterceptor, ModelNext, SendError};
use agent_core::graph::CancellationToken;
use agent_core::graph::checkpoint::{CheckpointSaver, Durability, MemorySaver, Threads};
use agent_core::model::scripted::{calls, says};
use agent_core::model::{ChatRequest, ChatResponse, ModelError, ScriptedModel};
use agent_core::tool::{FunctionTool, InterruptRequest, ToolOutcome};
use agent_core::{BoxFuture, Outcome, ReactAgent, ToolContext, ToolError, ToolOutput, tool, tools};
use agent_tests::saver::{Access, Watched};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::agents::{asked, told};

/// Holds an agent that its own parts use; emptied at the end, as they hold each other.
type Slot = Arc<Mutex<Option<ReactAgent>>>;

fn agent_in(slot: &Slot) -> ReactAgent {
    slot.lock().unwrap().clone().unwrap()
}

/// Sends a message to its own run in its first call, and never ends then.
fn sends_and_hangs(slot: &Slot) -> FunctionTool {
    let slot = Arc::clone(slot);
    FunctionTool::new("send", "Sends.", move || {
        let agent = agent_in(&slot);
        async move {
            agent.send("t1", "One more thing.").await.unwrap();
            pending::<String>().await
        }
    })
}

/// Hangs in the call of the model that it is told.
#[derive(Clone)]
struct Hangs(usize, Arc<AtomicUsize>);

impl ModelInterceptor for Hangs {
    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        Box::pin(async move {
            if self.1.fetch_add(1, Ordering::SeqCst) == self.0 {
                pending::<()>().await;
            }
            next.run(request).await
        })
    }
}

/// Polls a run until nothing moves any more, and drops it.
async fn cut(run: agent_core::agent::RunRequest) {
    let mut events = Box::pin(run.into_future());
    for _ in 0..100 {
        assert!(futures_util::poll!(&mut events).is_pending());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_message_that_was_taken_is_read_also_if_the_process_dies_before() {
    for durability in [Durability::EachWrite, Durability::EachStep] {
        let slot = Slot::default();
        let model = ScriptedModel::new([calls("send", json!({})).with_id("c1"), says("Read.")]);
        let agent = ReactAgent::builder("a", model.clone())
            .tools(sends_and_hangs(&slot))
            .saver(MemorySaver::new())
            .durability(durability)
            .build()
            .unwrap();
        *slot.lock().unwrap() = Some(agent.clone());
        cut(agent.run("Go.").thread("t1")).await;
        slot.lock().unwrap().take();

        let next = agent.run("Are you there?").thread("t1").await.unwrap();

        let told = told(next.messages());
        assert_eq!(
            told[3..],
            [
                "User: One more thing.",
                "User: Are you there?",
                "Assistant: Read."
            ]
        );
    }
}

#[tokio::test]
async fn a_message_that_was_being_read_when_the_process_died_is_read_once() {
    // The model hangs with the message, and then, once that is over, with the next turn.
    for hangs_in in [1, 2] {
        let slot = Slot::default();
        let sends = Arc::clone(&slot);
        let send = FunctionTool::new("send", "Sends.", move || {
            let agent = agent_in(&sends);
            async move {
                agent
                    .send("t1", "One more thing.")
                    .await
                    .is_ok()
                    .to_string()
            }
        });
        let model = ScriptedModel::new([
            calls("send", json!({})).with_id("c1"),
            calls("look", json!({})).with_id("c2"),
            says("Done."),
        ]);
        let agent = ReactAgent::builder("a", model.clone())
            .tools(send)
            .tools(tools![look])
            .model_interceptor(Hangs(hangs_in, Arc::default()))
            .saver(MemorySaver::new())
            .build()
            .unwrap();
        *slot.lock().unwrap() = Some(agent.clone());
        cut(agent.run("Go.").thread("t1")).await;
        slot.lock().unwrap().take();

        let ended = agent.resume("t1", []).await.unwrap();

        assert_eq!(
            told(ended.messages()),
            [
                "User: Go.",
                "Assistant: ",
                "c1=true",
                "User: One more thing.",
                "Assistant: ",
                "c2=nothing",
                "Assistant: Done.",
            ]
        );
    }
}

/// Looks.
#[tool]
async fn look() -> &'static str {
    "nothing"
}

#[tokio::test]
async fn whoever_has_the_saver_reaches_the_run() {
    let saver = MemorySaver::new();
    let other = ReactAgent::builder("other", ScriptedModel::new([]))
        .saver(saver.clone())
        .build()
        .unwrap();
    let stranger = ReactAgent::builder("stranger", ScriptedModel::new([]))
        .saver(MemorySaver::new())
        .build()
        .unwrap();
    let reach = FunctionTool::new("reach", "Reaches.", move || {
        let (other, stranger) = (other.clone(), stranger.clone());
        async move {
            let far = stranger.send("t1", "Not heard.").await.unwrap_err();
            assert!(matches!(far, SendError::NotRunning { .. }));
            assert!(!stranger.interrupt("t1"));
            other.send("t1", "Heard.").await.unwrap();
            other.interrupt("t1").to_string()
        }
    });
    let model = ScriptedModel::new([calls("reach", json!({})).with_id("c1"), says("Done.")]);
    let agent = ReactAgent::builder("a", model)
        .tools(reach)
        .saver(saver)
        .build()
        .unwrap();

    let stopped = agent.run("Go.").thread("t1").await.unwrap();
    assert!(matches!(stopped.outcome(), Outcome::Interrupted(_)));
    let ended = agent.resume("t1", []).await.unwrap();

    assert_eq!(
        told(ended.messages())[2..],
        ["c1=true", "User: Heard.", "Assistant: Done."]
    );
}

/// Pays a sum.
#[tool]
async fn pay(sum: u32) -> String {
    format!("paid {sum}")
}

/// A boss that lets a clerk pay, who asks first.
fn boss(saver: &MemorySaver) -> ReactAgent {
    let outer = ScriptedModel::new([
        calls("clerk", json!({"input": "Pay."})).with_id("o1"),
        says("Outer done."),
        says("Outer done."),
    ]);
    boss_of(outer, saver)
}

fn boss_of(outer: ScriptedModel, saver: &MemorySaver) -> ReactAgent {
    let inner = ScriptedModel::new([calls("pay", json!({"sum": 1})), says("Inner done.")]);
    let clerk = ReactAgent::builder("clerk", inner)
        .tools(tools![pay])
        .approval(|_, _| true)
        .build()
        .unwrap();
    ReactAgent::builder("boss", outer)
        .tools(AgentTool::new(clerk))
        .saver(saver.clone())
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_time_to_open_its_thread_is_the_runs_own() {
    let limit = Duration::from_secs(20);
    let model = ScriptedModel::new([calls("wait", json!({}))]);
    let waits = FunctionTool::new("wait", "Waits.", pending::<()>);
    let saver = Watched::new(|_| true).reading_for(limit / 2);
    let agent = ReactAgent::builder("a", model).tools(waits).saver(saver);
    let began = Instant::now();

    let run = agent.build().unwrap().run("Go.").thread("t1");
    let output = run.deadline(limit).await.unwrap();

    let over = Outcome::LimitReached(Limit::Deadline);
    assert_eq!((output.outcome(), began.elapsed()), (&over, limit));
}

#[tokio::test(start_paused = true)]
async fn a_run_whose_store_hangs_ends_as_it_is_cancelled_and_in_its_time() {
    let model = ScriptedModel::new([]);
    let agent =
        ReactAgent::builder("a", model).saver(Watched::new(|access| access != Access::Lock));
    let agent = agent.build().unwrap();
    let limit = Duration::from_secs(5);
    let began = Instant::now();

    let output = agent.run("Go.").thread("t1").deadline(limit).await.unwrap();

    let over = Outcome::LimitReached(Limit::Deadline);
    assert_eq!((output.outcome(), began.elapsed()), (&over, limit));
    let token = CancellationToken::new();
    let run = agent.resume("t1", []).cancel_token(token.clone());
    let (output, ()) = tokio::join!(run, async { token.cancel() });
    assert_eq!(output.unwrap().outcome(), &Outcome::Cancelled);
}

#[tokio::test]
async fn a_run_whose_thread_is_busy_may_succeed_later() {
    let saver = MemorySaver::new();
    let model = ScriptedModel::new([says("Done.")]);
    let agent = ReactAgent::builder("a", model).saver(saver.clone());
    let agent = agent.build().unwrap();
    let held = saver.lock("t1").await.unwrap();

    let error = agent.run("Go.").thread("t1").await.unwrap_err();

    assert!(error.is_retryable(), "{error:?}");
    drop(held);
    agent.run("Go.").thread("t1").await.unwrap();
}

#[tokio::test]
async fn the_threads_of_nested_agents_go_with_the_thread_around_them() {
    let saver = MemorySaver::new();
    boss(&saver).run("Pay.").thread("t1").await.unwrap();
    boss(&saver).run("Pay.").thread("t10").await.unwrap();
    let threads = Threads::new(saver.clone());
    assert_eq!(saver.threads().len(), 4);
    assert_eq!(threads.names("t1", None, 10).await.unwrap().len(), 4);

    assert!(threads.delete("t1").await.unwrap());

    let left = saver.threads();
    assert_eq!((left.len(), &*left[0]), (2, "t10"));
    assert!(left[1].starts_with("t10\u{241f}"));
    assert!(!threads.delete("t1").await.unwrap());
}

#[tokio::test]
async fn a_fork_takes_along_the_nested_agent_that_waits() {
    let saver = MemorySaver::new();
    let boss = boss(&saver);
    let waiting = asked(&boss.run("Pay.").thread("t1").await.unwrap());
    let threads = Threads::new(saver.clone());

    threads.fork("t1", None, "fork").await.unwrap();
    let first = boss
        .resume("fork", [Answer::approve(&waiting[0].id)])
        .await
        .unwrap();

    assert_eq!(told(first.messages())[2], "o1=Inner done.");
    let again = asked(&boss.resume("t1", []).await.unwrap());
    assert_eq!(again[0].id, waiting[0].id, "it still waits there");
}

#[tokio::test]
async fn a_fork_into_a_thread_that_is_there_leaves_nothing_behind() {
    let saver = MemorySaver::new();
    boss(&saver).run("Pay.").thread("t1").await.unwrap();
    boss(&saver).run("Pay.").thread("there").await.unwrap();
    let before = saver.threads();

    let refused = Threads::new(saver.clone()).fork("t1", None, "there").await;

    assert!(refused.unwrap_err().is_conflict());
    assert_eq!(saver.threads(), before);
}

#[tokio::test]
async fn an_agent_in_a_call_has_its_thread_however_long_the_names_are() {
    for (thread, call) in [(1_024, 1), (1, 3_000)] {
        let (thread, call) = ("t".repeat(thread), "c".repeat(call));
        let saver = MemorySaver::new();
        let outer = ScriptedModel::new([
            calls("clerk", json!({"input": "Pay."})).with_id(call),
            says("Outer done."),
        ]);
        let boss = boss_of(outer, &saver);
        let waiting = asked(&boss.run("Pay.").thread(&*thread).await.unwrap());

        let answers = [Answer::approve(&waiting[0].id)];
        let output = boss.resume(&*thread, answers).await.unwrap();

        assert!(told(output.messages())[2].ends_with("=Inner done."));
        assert!(saver.threads()[1].len() < 2_000);
        assert!(Threads::new(saver).delete(&thread).await.unwrap());
    }
}

#[tokio::test]
async fn a_tool_that_asks_twice_finds_its_answers_by_name() {
    let book = FunctionTool::new(
        "book",
        "Books.",
        |_: Nothing, context: ToolContext| async move {
            let ask = |name, text| {
                Ok::<_, ToolError>(ToolOutcome::Interrupt(InterruptRequest::named(name, text)))
            };
            let Some(guests) = context.answer_to::<u8>("guests")? else {
                return ask("guests", "How many?");
            };
            let Some(hour) = context.answer_to::<u8>("hour")? else {
                return ask("hour", "When?");
            };
            assert_eq!(context.answer::<u8>()?, Some(hour), "the last one");
            assert_eq!(context.answer_to::<Value>("name")?, None);
            let text = format!("{guests} at {hour}");
            Ok(ToolOutcome::Done(ToolOutput::from_text(text)))
        },
    );
    let model = ScriptedModel::new([calls("book", json!({})).with_id("c1"), says("Done.")]);
    let agent = ReactAgent::builder("a", model)
        .tools(book)
        .saver(MemorySaver::new())
        .build()
        .unwrap();

    let first = asked(&agent.run("Go.").thread("t1").await.unwrap());
    let answer = Answer::new(&first[0].id, 4);
    let second = asked(&agent.resume("t1", [answer]).await.unwrap());
    assert_eq!(second[0].request.payload, "When?");
    assert_ne!(second[0].id, first[0].id);
    let answer = Answer::new(&second[0].id, 7);
    let ended = agent.resume("t1", [answer]).await.unwrap();

    assert_eq!(told(ended.messages())[2], "c1=4 at 7");
}

#[derive(serde::Deserialize, serde::Serialize, agent_core::ToolSchema)]
struct Nothing {}

/// Counts how often it runs.
fn counts(runs: &Arc<AtomicUsize>) -> FunctionTool {
    let runs = Arc::clone(runs);
    FunctionTool::new("count", "Counts.", move || {
        let run = runs.fetch_add(1, Ordering::SeqCst);
        async move { run.to_string() }
    })
}

#[tokio::test]
async fn what_a_run_from_an_earlier_checkpoint_wrote_down_is_found_there() {
    // A run that goes back is cut off between the end of its call and its step.
    let saver = MemorySaver::new();
    let runs = Arc::new(AtomicUsize::new(0));
    let hangs = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&hangs);
    let hang = FunctionTool::new("hang", "Hangs the second time.", move || {
        let run = seen.fetch_add(1, Ordering::SeqCst);
        async move {
            if run == 1 {
                pending::<()>().await;
            }
            "went on"
        }
    });
    let model = ScriptedModel::new([
        calls("count", json!({}))
            .with_id("c1")
            .and_calls("hang", json!({}))
            .with_id("c2"),
        says("Once."),
        says("Twice."),
    ]);
    let agent = ReactAgent::builder("a", model)
        .tools(counts(&runs))
        .tools(hang)
        .parallel_tool_execution(true)
        .saver(saver.clone())
        .build()
        .unwrap();
    agent.run("Go.").thread("t1").await.unwrap();
    let threads = Threads::new(saver.clone());
    let history = threads.history("t1", 10).await.unwrap();
    let before_tools = history.iter().find(|it| it.next == ["tools"]).unwrap();

    cut(agent.resume("t1", []).at(before_tools.id.clone())).await;
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    let ended = agent.resume("t1", []).await.unwrap();

    let results = &told(ended.messages())[2];
    assert!(
        results.starts_with("c1=1 c2=Error: outcome unknown"),
        "{results}"
    );
    assert_eq!(
        runs.load(Ordering::SeqCst),
        2,
        "the call that ended did not run again"
    );
    let kept = saver.list("t1", None, 100).await.unwrap();
    assert!(
        history
            .iter()
            .all(|it| kept.iter().any(|kept| kept.id == it.id))
    );
}
