//! Code of others that panics again while its panic, or what it left, is dropped, and code that
//! panics beside a tool.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::time::Duration;

use agent_core::agent::{ErrorPolicy, Hook, HookContext, HookFuture};
use agent_core::event::EventKind;
use agent_core::graph::{KeyStrategy, State};
use agent_core::message::ToolCall;
use agent_core::{AgentError, Outcome, ToolContext, ToolError};
use agent_tests::runs::result_texts;
use agent_tests::tools::{Counter, answers, tool};

use super::{agent, model, pairs, parallel};

/// Panics when it is dropped.
#[derive(Debug)]
pub(super) struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in a drop");
        }
    }
}

impl std::fmt::Display for PanicsOnDrop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no disk")
    }
}

impl std::error::Error for PanicsOnDrop {}

// C4, C11, CT-4
#[tokio::test(start_paused = true)]
async fn a_callback_whose_panic_panics_again_keeps_no_other_from_running() {
    let fired = Counter::default();
    let waits = tool(
        "waits",
        fired.clone(),
        async |fired, _, context: ToolContext| {
            let _guards = (
                context.on_cancel(|| panic_any(PanicsOnDrop)),
                context.on_cancel(move || _ = fired.add()),
            );
            std::future::pending::<()>().await;
        },
    );

    let waits = waits.timeout(Duration::from_millis(100));
    let agent = agent(&model(&["waits"]), waits).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    let text = "Error: timed out after 100 ms";
    assert_eq!(result_texts(run.messages()), pairs(&[("c1", text)]));
    assert_eq!(fired.get(), 1);
}

// C4, C11
#[tokio::test]
async fn dropping_the_run_drops_every_tool_though_others_panic_then() {
    let (began, dropped, told) = (Counter::default(), Counter::default(), Counter::default());
    let panics = tool("panics", began.clone(), async |began, _, _| {
        let _panics = PanicsOnDrop;
        began.add();
        std::future::pending::<()>().await;
    });
    let shared = (began.clone(), dropped.clone(), told.clone());
    let waits = tool(
        "waits",
        shared,
        async |(began, dropped, told), _, context: ToolContext| {
            let _guards = (dropped.on_drop(), context.on_cancel(move || _ = told.add()));
            began.add();
            std::future::pending::<()>().await;
        },
    );
    let agent = parallel(
        &model(&["waits", "panics", "panics", "waits"]),
        [panics, waits],
    );
    let mut stream = agent.build().unwrap().run("Go").stream();
    while began.get() < 4 {
        tokio::select! {
            _ = stream.next() => {}
            () = tokio::task::yield_now() => {}
        }
    }

    let is_calm = catch_unwind(AssertUnwindSafe(|| drop(stream))).is_ok();

    assert_eq!((is_calm, dropped.get(), told.get()), (true, 2, 2));
}

// C10, C11
#[tokio::test]
async fn an_error_that_panics_when_it_is_dropped_is_told_like_any_other() {
    for side_by_side in [false, true] {
        let fails = tool("fails", (), async |(), _, _| Err::<(), _>(PanicsOnDrop));
        let agent = agent(&model(&["ok", "fails", "ok"]), [answers("ok", "a"), fails]);

        let agent = agent.parallel_tool_execution(side_by_side).build().unwrap();
        let run = agent.run("Go").await.unwrap();

        assert_eq!(
            result_texts(run.messages()),
            pairs(&[("c1", "a"), ("c2", "Error: no disk"), ("c3", "a")])
        );
    }
}

/// A hook that panics with what panics again, and a hook that cannot say who needs approval.
struct Panics(bool);

impl Hook for Panics {
    fn name(&self) -> &str {
        "panics"
    }

    fn before_model<'a>(&'a self, _: &'a State, _: &'a HookContext) -> HookFuture<'a> {
        Box::pin(async {
            match self.0 {
                true => panic_any(PanicsOnDrop),
                false => Ok(agent_core::agent::HookAction::Continue),
            }
        })
    }

    fn approval(&self, _: &ToolCall, _: &State) -> Option<String> {
        panic!("nobody knows")
    }
}

// B11
#[tokio::test]
async fn a_hook_whose_panic_panics_again_ends_the_run_as_any_panic() {
    let agent = agent(&model(&["ok"]), answers("ok", "a"));

    let agent = agent.hook(Panics(true)).build().unwrap();
    let error = agent.run("Go").await.unwrap_err();

    assert!(matches!(error, AgentError::Graph { .. }), "{error:?}");
    assert_eq!(error.output().unwrap().messages().len(), 1);
}

// B11, E1
#[tokio::test]
async fn where_the_question_who_needs_approval_panics_a_person_is_asked() {
    let of_agent = |_: &ToolCall, _: &State| -> bool { panic!("nobody knows") };
    let plain = || agent(&model(&["ok"]), answers("ok", "a"));
    for agent in [plain().hook(Panics(false)), plain().approval(of_agent)] {
        let run = agent.build().unwrap().run("Go").await.unwrap();

        let Outcome::Interrupted(asked) = run.outcome() else {
            panic!("{run:?}");
        };
        assert_eq!((&*asked[0].call_id, asked.len()), ("c1", 1));
    }
}

// TE-6, C10
#[tokio::test]
async fn an_error_policy_that_panics_ends_the_run_with_the_error() {
    for side_by_side in [false, true] {
        let fails = tool("fails", (), async |(), _, _| {
            tokio::task::yield_now().await;
            Err::<(), _>(ToolError::failed("no disk"))
        });
        let policy = ErrorPolicy::custom(|_, _| panic!("the policy"));
        let agent = agent(&model(&["ok", "fails"]), [answers("ok", "a"), fails]);

        let agent = agent.error_policy(policy);
        let agent = agent.parallel_tool_execution(side_by_side).build().unwrap();
        let error = agent.run("Go").await.unwrap_err();

        let AgentError::Tool { source, output, .. } = error else {
            panic!("{error:?}");
        };
        assert_eq!(source.to_string(), "no disk");
        let texts = [("c1", "a"), ("c2", "Error: the run ended with this call")];
        assert_eq!(result_texts(output.messages()), pairs(&texts));
    }
}

// C10, TN-7
#[tokio::test]
async fn results_stand_in_the_history_where_the_update_of_their_turn_does_not_fit() {
    let writes = |name| {
        tool(name, (), async |(), _, context: ToolContext| {
            context.update("total", 1)?;
            Ok::<_, ToolError>("wrote")
        })
    };
    let strategy = KeyStrategy::custom(|_, _| panic!("the strategy"));
    for side_by_side in [false, true] {
        let tools = [answers("ok", "a"), writes("writes")];
        let agent = agent(&model(&["ok", "writes", "ok"]), tools).key("total", strategy.clone());

        let agent = agent.parallel_tool_execution(side_by_side).build().unwrap();
        let mut ended = 0;
        let mut stream = agent.run("Go").stream();
        let error = loop {
            match stream.next().await.unwrap() {
                Ok(event) => {
                    ended += i32::from(matches!(event.kind, EventKind::ToolFinished { .. }))
                }
                Err(error) => break error,
            }
        };

        assert!(matches!(error, AgentError::Graph { .. }), "{error:?}");
        let output = error.output().unwrap();
        let texts = [("c1", "a"), ("c2", "wrote"), ("c3", "a")];
        assert_eq!(result_texts(output.messages()), pairs(&texts));
        assert_eq!((ended, output.state().value("total")), (3, None));
    }
}
