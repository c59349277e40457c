//! Tools that go wrong where nobody looks: in a drop, in a queue, in a callback.

use std::sync::mpsc;
use std::time::Duration;

use agent_core::graph::{CancellationToken, KeyStrategy};
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::tool::CancelGuard;
use agent_core::{AgentError, Outcome, ReactAgent, ToolContext, ToolError, tools};
use agent_tests::runs::{result_texts, results};
use agent_tests::tools::{Counter, answers, tool};
use serde_json::json;

use super::panics::PanicsOnDrop;
use super::{agent, model, pairs, parallel};

// C11
#[tokio::test(start_paused = true)]
async fn a_panic_while_a_timed_out_tool_is_dropped_stays_in_its_call() {
    let model = model(&["slow", "ok"]);
    let slow = tool("slow", (), async |(), _, _| {
        let _panics = PanicsOnDrop;
        std::future::pending::<()>().await;
    });

    let run = parallel(
        &model,
        [slow.timeout(Duration::from_millis(100)), answers("ok", "b")],
    )
    .build()
    .unwrap()
    .run("Go")
    .await
    .unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "Error: timed out after 100 ms"), ("c2", "b")])
    );
}

// C11
#[tokio::test]
async fn a_panic_whose_payload_panics_stays_in_its_call() {
    let model = model(&["panics", "ok"]);
    let panics = tool("panics", (), async |(), _, _| {
        std::panic::panic_any(PanicsOnDrop);
        #[expect(unreachable_code, reason = "what the tool would give")]
        ()
    });

    let run = parallel(&model, [panics, answers("ok", "b")])
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "Error: the tool panicked"), ("c2", "b")])
    );
}

// C4
#[tokio::test(start_paused = true)]
async fn a_callback_may_own_the_guard_of_another() {
    let waits = tool("waits", (), async |(), _, context: ToolContext| {
        let inner: CancelGuard = context.on_cancel(|| ());
        let outer = context.on_cancel(move || drop(inner));
        drop(outer);
        "free"
    });
    let model = model(&["waits"]);

    let run = agent(&model, waits)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(result_texts(run.messages()), pairs(&[("c1", "free")]));
}

// C4, CT-5, ct.4
#[tokio::test]
async fn a_tool_that_returns_an_error_is_not_told_to_stop() {
    let fired = Counter::default();
    let fails = tool(
        "fails",
        fired.clone(),
        async |fired, _, context: ToolContext| {
            let guard = context.on_cancel(move || _ = fired.add());
            // Outlives the call, as a background task of the tool may.
            std::mem::forget(guard);
            Err::<(), _>(ToolError::correctable("no such city"))
        },
    );
    let model = model(&["fails"]);

    agent(&model, fails)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(fired.get(), 0);
}

/// Holds the only thread of the pool until it is let go.
#[agent_core::tool(register = false)]
fn holds_the_pool(context: &ToolContext) -> &'static str {
    let (held, free) = context.host::<Hold>().unwrap();
    held.send(()).unwrap();
    free.lock().unwrap().recv().unwrap();
    "held"
}

/// Counts that it ran.
#[agent_core::tool(register = false, timeout = "50ms")]
fn waits_for_a_thread(context: &ToolContext) -> &'static str {
    context.host::<Counter>().unwrap().add();
    "ran"
}

type Hold = (mpsc::Sender<()>, std::sync::Mutex<mpsc::Receiver<()>>);

// C1, C4, TN-5, tn.14: a call that was told to be over must not begin afterwards
#[test]
fn a_blocking_call_that_was_over_before_it_had_a_thread_never_runs() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(1)
        .build()
        .unwrap();
    let ran = Counter::default();
    let (held, is_held) = mpsc::channel();
    let (free, wait) = mpsc::channel();
    let agent = parallel(&model(&["holds_the_pool", "waits_for_a_thread"]), [])
        .tools(tools![holds_the_pool, waits_for_a_thread])
        .host::<Hold>((held, std::sync::Mutex::new(wait)))
        .host(ran.clone())
        .build()
        .unwrap();

    let token = CancellationToken::new();
    let late = runtime.block_on(async {
        let run = agent.run("Go").cancel_token(token.clone());
        let mut stream = run.stream();
        let mut late = None;
        while let Some(event) = stream.next().await {
            match event.unwrap().kind {
                agent_core::event::EventKind::ToolFinished { result, .. }
                    if result.call_id() == "c2" =>
                {
                    late = Some(result);
                    free.send(()).unwrap();
                }
                _ => {}
            }
        }
        late.unwrap()
    });
    is_held.recv().unwrap();
    // Waits for everything that the pool still holds.
    drop(runtime);

    assert_eq!(late.text(), "Error: timed out after 50 ms");
    assert_eq!(ran.get(), 0);
}

// C10
#[tokio::test]
async fn an_update_that_does_not_fit_ends_the_run_and_keeps_what_was_done() {
    let writes = tool("writes", (), async |(), _, context: ToolContext| {
        context.update("totals", "no object")?;
        Ok::<_, ToolError>("wrote")
    });
    let starts = tool("starts", (), async |(), _, context: ToolContext| {
        context.update("totals", json!({"a": 1}))?;
        Ok::<_, ToolError>("started")
    });
    let model = ScriptedModel::new([
        calls("starts", json!({})).with_id("c1"),
        calls("writes", json!({})).with_id("c2"),
    ]);
    let agent = agent(&model, [starts, writes])
        .key("totals", KeyStrategy::Merge)
        .build()
        .unwrap();

    let error = agent.run("Go").await.unwrap_err();

    let AgentError::Graph { output, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(output.outcome(), &Outcome::Failed);
    assert!(output.state().transcript().is_closed());
    let results = results(output.messages());
    assert_eq!(results.len(), 2);
    assert_eq!(results[0].text(), "started");
}

// E5
#[tokio::test]
async fn calls_of_one_id_in_two_turns_have_two_idempotency_keys() {
    let keyed = tool("keyed", (), async |(), _, context: ToolContext| {
        context.idempotency_key()
    });
    let model = ScriptedModel::new([
        calls("keyed", json!({})).with_id("call_0"),
        calls("keyed", json!({})).with_id("call_0"),
        says("done"),
    ]);

    let run = agent(&model, keyed).build().unwrap().run("Go").await;

    let keys = results(run.unwrap().messages());
    assert_ne!(keys[0].text(), keys[1].text());
}

#[tokio::test]
async fn the_longest_duration_is_no_limit() {
    let model = model(&["ok"]);
    let agent = agent(&model, answers("ok", "a").timeout(Duration::MAX))
        .tool_execution_timeout(Duration::MAX)
        .build()
        .unwrap();

    let run = agent.run("Go").deadline(Duration::MAX).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::Finished);
}

#[tokio::test]
async fn a_name_without_end_is_told_shortened() {
    let name = "x".repeat(100_000);
    let model = ScriptedModel::new([calls(&name, json!({})).with_id("c1"), says("done")]);

    let run = agent(&model, answers("ok", "a"))
        .build()
        .unwrap()
        .run("Go")
        .await;

    let text = &result_texts(run.unwrap().messages())[0].1;
    assert!(text.len() < 300, "{}", text.len());
    assert!(
        text.contains(&format!("`{}…`; the tools are `ok`", "x".repeat(64))),
        "{text}"
    );
}

#[test]
fn the_answer_cannot_be_written_over_the_history() {
    let builder = ReactAgent::builder("assistant", ScriptedModel::new([])).output_key("messages");

    let error = builder.build().unwrap_err();

    assert!(
        error
            .to_string()
            .contains("`output_key` cannot be `messages`"),
        "{error}"
    );
}
