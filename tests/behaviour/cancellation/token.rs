//! The token of a call, and the callbacks on it.

use std::sync::mpsc;

use agent_core::graph::CancellationToken;
use agent_core::model::scripted::calls;
use agent_core::tool::ToolErrorKind;
use agent_core::{Outcome, ToolContext};
use agent_tests::runs::result_texts;
use agent_tests::tools::{Counter, answers, tool};
use serde_json::json;

use super::{SOON, agent, two_calls};

// C4, CT-3, ct.1
#[tokio::test]
async fn a_callback_runs_once_from_wherever_and_however_often_the_run_is_cancelled() {
    let (fired, token) = (Counter::default(), CancellationToken::new());
    let shared = (fired.clone(), token.clone());
    let waits = tool(
        "waits",
        shared,
        async |(fired, token), _, context: ToolContext| {
            let _guard = context.on_cancel(move || _ = fired.add());
            let threads: Vec<_> = (0..10)
                .map(|_| {
                    let token = token.clone();
                    std::thread::spawn(move || {
                        token.cancel();
                        token.cancel();
                    })
                })
                .collect();
            threads.into_iter().for_each(|t| t.join().unwrap());
            std::future::pending::<()>().await;
        },
    );

    let agent = agent(calls("waits", json!({})), [waits]);
    let run = agent.run("Go").cancel_token(token).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::Cancelled);
    assert_eq!(fired.get(), 1);
}

// C4, CT-3, ct.2, ct.6
#[tokio::test(start_paused = true)]
async fn a_callback_on_a_call_that_is_over_runs_at_once_and_once() {
    let (keep, kept) = mpsc::channel();
    let hangs = tool("hangs", keep, async |keep, _, context: ToolContext| {
        keep.send(context).unwrap();
        std::future::pending::<()>().await;
    });
    let agent = agent(calls("hangs", json!({})), [hangs.timeout(SOON)]);
    agent.run("Go").await.unwrap();
    let context = kept.recv().unwrap();
    let fired = Counter::default();
    let counted = fired.clone();

    let guard = context.on_cancel(move || _ = counted.add());

    assert_eq!(fired.get(), 1);
    context.cancellation().cancel();
    drop(guard);
    assert_eq!(fired.get(), 1);
    let error = context.check_cancelled().unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Cancelled);
}

// C3, C4, TN-6, tn.11
#[tokio::test(start_paused = true)]
async fn only_the_call_that_is_over_its_time_is_told_to_stop() {
    let (keep, kept) = mpsc::channel();
    let lends = |name, hangs| {
        let shared = (keep.clone(), hangs);
        tool(
            name,
            shared,
            async |(keep, hangs), _, context: ToolContext| {
                keep.send(context).unwrap();
                if hangs {
                    std::future::pending::<()>().await;
                }
                "quick"
            },
        )
    };
    let tools = [lends("quick", false), lends("slow", true).timeout(SOON)];

    let run = agent(two_calls("quick", "slow"), tools).run("Go").await;

    let texts = result_texts(run.unwrap().messages());
    assert_eq!(texts[0].1, "quick");
    assert_eq!(texts[1].1, "Error: timed out after 100 ms");
    let contexts: Vec<ToolContext> = kept.try_iter().collect();
    let told = contexts.iter();
    let told = told.map(|call| (call.tool_name(), call.cancellation().is_cancelled()));
    assert_eq!(told.collect::<Vec<_>>(), [("quick", false), ("slow", true)]);
}

// C4, CT-5: down to the call, never up from it
#[tokio::test]
async fn a_call_that_cancels_itself_ends_alone() {
    let stops = tool("stops", (), async |(), _, context: ToolContext| {
        context.cancellation().cancel();
        std::future::pending::<()>().await;
    });
    let tools = [stops, answers("other", "o")];

    let run = agent(two_calls("stops", "other"), tools).run("Go").await;

    let run = run.unwrap();
    let texts = result_texts(run.messages());
    assert_eq!((&*texts[0].1, &*texts[1].1), ("Error: cancelled", "o"));
    assert_eq!((run.outcome(), run.text()), (&Outcome::Finished, "done"));
}

// CT-2, ct.5
#[test]
fn a_call_outside_of_a_run_is_never_cancelled() {
    let context = ToolContext::default();
    let fired = Counter::default();
    let counted = fired.clone();

    let guard = context.on_cancel(move || _ = counted.add());
    context.check_cancelled().unwrap();
    drop((guard, context.clone(), context));

    assert_eq!(fired.get(), 0);
}
