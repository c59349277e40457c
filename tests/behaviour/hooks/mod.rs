//! What runs before and after the agent and its model calls.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod routes;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::agent::{
    BuildFault, Hook, HookAction, HookContext, HookFuture, HookPosition, Jump, Limit, Limits,
    OnLimit, ReactAgentBuilder, ToolInterceptor, ToolNext, ToolRequest,
};
use agent_core::graph::{CancellationToken, KeyStrategy, State, StateUpdate};
use agent_core::message::ToolResult;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::tool::ToolOutcome;
use agent_core::{AgentError, BoxFuture, Message, Outcome, ReactAgent, ToolCallback, ToolError};
use agent_tests::runs::{offered, result_texts, texts};
use agent_tests::tools::{Counter, answers, tool};
use serde_json::json;

use HookPosition::{AfterAgent, AfterModel, BeforeAgent, BeforeModel};

type Log = Arc<Mutex<Vec<String>>>;
type Act = dyn Fn(HookPosition, &State) -> HookAction + Send + Sync;

/// A hook that notes where it runs and does what it is told.
struct Noting {
    name: &'static str,
    order: i32,
    positions: Vec<HookPosition>,
    log: Log,
    act: Box<Act>,
}

fn hook(name: &'static str, log: &Log) -> Noting {
    Noting {
        name,
        order: 0,
        positions: HookPosition::ALL.to_vec(),
        log: Arc::clone(log),
        act: Box::new(|_, _| HookAction::Continue),
    }
}

impl Noting {
    fn at(mut self, positions: &[HookPosition]) -> Self {
        self.positions = positions.to_vec();
        self
    }

    fn order(mut self, order: i32) -> Self {
        self.order = order;
        self
    }

    fn acts(
        mut self,
        act: impl Fn(HookPosition, &State) -> HookAction + Send + Sync + 'static,
    ) -> Self {
        self.act = Box::new(act);
        self
    }

    fn run<'a>(&'a self, position: HookPosition, state: &State) -> HookFuture<'a> {
        let note = format!("{}.{position:?}", self.name);
        self.log.lock().unwrap().push(note);
        let action = (self.act)(position, state);
        Box::pin(std::future::ready(Ok(action)))
    }
}

impl Hook for Noting {
    fn name(&self) -> &str {
        self.name
    }

    fn order(&self) -> i32 {
        self.order
    }

    fn positions(&self) -> &[HookPosition] {
        &self.positions
    }

    fn before_agent<'a>(&'a self, state: &'a State, _: &'a HookContext) -> HookFuture<'a> {
        self.run(BeforeAgent, state)
    }

    fn before_model<'a>(&'a self, state: &'a State, _: &'a HookContext) -> HookFuture<'a> {
        self.run(BeforeModel, state)
    }

    fn after_model<'a>(&'a self, state: &'a State, _: &'a HookContext) -> HookFuture<'a> {
        self.run(AfterModel, state)
    }

    fn after_agent<'a>(&'a self, state: &'a State, _: &'a HookContext) -> HookFuture<'a> {
        self.run(AfterAgent, state)
    }
}

fn noted(log: &Log) -> Vec<String> {
    log.lock().unwrap().clone()
}

/// An agent with a tool `t` that counts its runs.
fn agent(model: &ScriptedModel, runs: &Counter) -> ReactAgentBuilder {
    let t = tool("t", runs.clone(), async |runs, _, _| {
        runs.add();
        "result"
    });
    ReactAgent::builder("assistant", model.clone()).tools(t)
}

fn call_t() -> agent_core::model::scripted::Turn {
    calls("t", json!({})).with_id("c1")
}

// B11, HK-1, HK-2, hk.1, hk.9, HK-12
#[tokio::test]
async fn hooks_run_in_their_order_before_and_in_reverse_after() {
    let log = Log::default();
    let model = ScriptedModel::new([call_t(), says("done")]);

    let agent = agent(&model, &Counter::default())
        .hook(hook("2", &log))
        .hook(hook("1", &log).order(-1))
        .build()
        .unwrap();
    agent.run("Go").await.unwrap();

    let turn = [
        "1.BeforeModel",
        "2.BeforeModel",
        "2.AfterModel",
        "1.AfterModel",
    ];
    let whole = [["1.BeforeAgent", "2.BeforeAgent"].as_slice(), &turn, &turn];
    let end: &[&str] = &["2.AfterAgent", "1.AfterAgent"];
    assert_eq!(noted(&log), [whole.concat().as_slice(), end].concat());
}

// B11
#[tokio::test]
async fn a_hook_costs_a_step_only_where_it_runs() {
    let agent = agent(&ScriptedModel::new([]), &Counter::default());
    let agent = agent.hook(hook("h", &Log::default()).at(&[AfterModel]));

    let picture = agent.build().unwrap().graph().to_mermaid();

    assert!(picture.contains("after_model:h"), "{picture}");
    assert!(!picture.contains("before"), "{picture}");
}

// HK-3, ra.7
#[test]
fn two_hooks_of_one_name_are_refused() {
    let log = Log::default();
    let agent = agent(&ScriptedModel::new([]), &Counter::default());

    let error = agent.hook(hook("h", &log)).hook(hook("h", &log)).build();

    let error = error.unwrap_err();
    assert!(
        matches!(error.faults(), [BuildFault::DuplicateHook { name }] if name == "h"),
        "{error}"
    );
}

// HK-5, hk.2
#[tokio::test]
async fn a_jump_to_the_end_leaves_out_the_model_and_runs_the_hooks_after_the_agent() {
    let log = Log::default();
    let model = ScriptedModel::new([]);
    let first = hook("1", &log).at(&[BeforeModel, AfterModel, AfterAgent]);
    let first = first.acts(|position, _| match position {
        BeforeModel => {
            let answer = StateUpdate::new().message(Message::assistant("Closed."));
            HookAction::Jump(Jump::End, answer)
        }
        _ => HookAction::Continue,
    });

    let agent = agent(&model, &Counter::default()).hook(first);
    let agent = agent.hook(hook("2", &log)).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    assert_eq!(run.text(), "Closed.");
    assert_eq!(
        noted(&log),
        [
            "2.BeforeAgent",
            "1.BeforeModel",
            "2.AfterAgent",
            "1.AfterAgent"
        ]
    );
}

// HK-5
#[tokio::test]
async fn a_hook_may_end_the_run_without_an_answer() {
    let ends = hook("ends", &Log::default()).at(&[BeforeAgent]);
    let ends = ends.acts(|_, _| HookAction::jump(Jump::End));

    let agent = agent(&ScriptedModel::new([]), &Counter::default()).hook(ends);
    let run = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!((run.outcome(), run.text()), (&Outcome::Finished, ""));
}

// HK-5, hk.3
#[tokio::test]
async fn a_jump_to_the_end_runs_no_pending_call_and_answers_it() {
    let runs = Counter::default();
    let model = ScriptedModel::new([call_t()]);
    let ends = hook("ends", &Log::default()).at(&[AfterModel]);
    let ends = ends.acts(|_, _| HookAction::jump(Jump::End));

    let agent = agent(&model, &runs).hook(ends).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    assert_eq!(runs.get(), 0);
    assert!(run.state().transcript().is_closed());
    assert_eq!(
        result_texts(run.messages())[0].1,
        "Error: not run: the run went on without it"
    );
}

/// A hook that jumps to the model after the first reply.
fn once_back(log: &Log) -> Noting {
    let jumped = Counter::default();
    let back = hook("back", log).at(&[BeforeModel, AfterModel]);
    back.acts(move |position, _| match position {
        AfterModel if jumped.add() == 0 => HookAction::jump(Jump::Model),
        _ => HookAction::Continue,
    })
}

// HK-5, HK-7, hk.4, hk.5
#[tokio::test]
async fn a_jump_to_the_model_is_made_once() {
    let (log, runs) = (Log::default(), Counter::default());
    let model = ScriptedModel::new([call_t(), says("done"), says("again")]);

    let agent = agent(&model, &runs).hook(once_back(&log)).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    assert_eq!(run.text(), "done");
    assert_eq!((model.requests().len(), runs.get()), (2, 0));
    let turn = ["back.BeforeModel", "back.AfterModel"];
    assert_eq!(noted(&log), [turn, turn].concat());
    // Nothing of the jump is left in the state, and the next run goes its usual way.
    assert_eq!(run.state().keys().count(), 0);
    let run = agent.run(run.messages().to_vec()).await.unwrap();
    assert_eq!(run.text(), "again");
}

// HK-5
#[tokio::test]
async fn a_jump_to_the_tools_runs_the_calls_that_a_hook_makes() {
    let runs = Counter::default();
    let model = ScriptedModel::new([says("done")]);
    let calls_first = hook("calls", &Log::default()).at(&[BeforeAgent]);
    let calls_first = calls_first.acts(|_, _| {
        let call = agent_core::message::ToolCall::new("h1", "t", "{}");
        let message = agent_core::message::AssistantMessage::new("", None, vec![call]);
        HookAction::Jump(Jump::Tools, StateUpdate::new().message(message.into()))
    });

    let agent = agent(&model, &runs).hook(calls_first).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    assert_eq!((run.text(), runs.get()), ("done", 1));
}

// HK-11, hk.11
#[tokio::test]
async fn a_hook_that_answers_every_call_sends_the_run_back_to_the_model() {
    let runs = Counter::default();
    let model = ScriptedModel::new([call_t(), says("done")]);
    let refuses = hook("refuses", &Log::default()).at(&[AfterModel]);
    let refuses = refuses.acts(|_, state| {
        let calls = state.transcript().open_calls();
        let results = calls.map(|call| ToolResult::error(call, "Error: refused"));
        let update = results.fold(StateUpdate::new(), StateUpdate::answer);
        update.into()
    });

    let agent = agent(&model, &runs).hook(refuses).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    assert_eq!((run.text(), runs.get()), ("done", 0));
    assert_eq!(model.requests()[1].last_tool_result(), "Error: refused");
}

// HK-10, hk.7, hk.8
#[tokio::test]
async fn a_hook_can_replace_the_messages_or_add_to_them() {
    let model = ScriptedModel::new([says("done")]);
    let shortens = hook("shortens", &Log::default()).at(&[BeforeModel]);
    let shortens = shortens.acts(|_, state| {
        let last = state.messages().last().cloned();
        let update = StateUpdate::new().replace_messages(last.into_iter().collect());
        update.message(Message::user("And be brief.")).into()
    });

    let agent = agent(&model, &Counter::default()).hook(shortens);
    let history = vec![Message::user("One"), Message::user("Two")];
    agent.build().unwrap().run(history).await.unwrap();

    assert_eq!(texts(&model.requests()[0]), ["Two", "And be brief."]);
}

// B11
#[tokio::test]
async fn the_answer_is_what_the_hooks_after_the_model_leave() {
    let model = ScriptedModel::new([says("The key is sk-1.")]);
    let redacts = hook("redacts", &Log::default()).at(&[AfterModel]);
    let redacts = redacts.acts(|_, state| {
        let last = state.messages().last().unwrap();
        let update = StateUpdate::new().remove_message(last.id().clone());
        update.message(Message::assistant("The key is ***.")).into()
    });

    let agent = agent(&model, &Counter::default()).hook(redacts);
    let run = agent.output_key("answer").build().unwrap().run("Go");
    let run = run.await.unwrap();

    assert_eq!(run.text(), "The key is ***.");
    assert_eq!(run.state().value("answer"), Some(&json!(run.text())));
}

// B11, C12
#[tokio::test]
async fn hooks_see_the_last_answer_of_a_run_at_its_limit() {
    let log = Log::default();
    let model = ScriptedModel::new([call_t(), says("So far: 1.")]);
    let limits = Limits::new().model_calls(2).on_limit(OnLimit::LastAnswer);

    let hook = hook("h", &log).at(&[AfterModel, AfterAgent]);
    // A jump cannot make the run go on over its limit.
    let hook = hook.acts(|position, state| match position {
        AfterModel if state.transcript().is_closed() => HookAction::jump(Jump::Model),
        _ => HookAction::Continue,
    });
    let agent = agent(&model, &Counter::default()).hook(hook).limits(limits);
    let run = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::ModelCalls));
    assert_eq!(run.text(), "So far: 1.");
    assert_eq!(
        noted(&log),
        ["h.AfterModel", "h.AfterModel", "h.AfterAgent"]
    );
}

/// A hook that fails, or hangs.
struct Bad(Option<&'static str>);

impl Hook for Bad {
    fn name(&self) -> &str {
        "bad"
    }

    fn before_model<'a>(&'a self, _: &'a State, context: &'a HookContext) -> HookFuture<'a> {
        Box::pin(async move {
            match self.0 {
                Some(text) => Err(text.into()),
                None => {
                    context.cancellation().cancel();
                    std::future::pending().await
                }
            }
        })
    }
}

// B11
#[tokio::test]
async fn a_hook_that_fails_ends_the_run_and_is_named() {
    let agent = agent(&ScriptedModel::new([]), &Counter::default());

    let error = agent.hook(Bad(Some("no disk"))).build().unwrap().run("Go");
    let error = error.await.unwrap_err();

    assert_eq!(error.output().unwrap().messages().len(), 1);
    let AgentError::Hook { hook, source, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!((&*hook, &*source.to_string()), ("bad", "no disk"));
}

// C4
#[tokio::test]
async fn a_cancelled_run_drops_a_hook_that_hangs() {
    let agent = agent(&ScriptedModel::new([]), &Counter::default());
    let token = CancellationToken::new();

    let run = agent.hook(Bad(None)).build().unwrap().run("Go");
    let run = run.cancel_token(token).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::Cancelled);
}

/// A hook that hangs after the model, in a run that is cancelled or has a deadline.
struct HangsAfterModel(CancellationToken);

impl Hook for HangsAfterModel {
    fn name(&self) -> &str {
        "hangs"
    }

    fn positions(&self) -> &[HookPosition] {
        &[AfterModel]
    }

    fn after_model<'a>(&'a self, _: &'a State, _: &'a HookContext) -> HookFuture<'a> {
        self.0.cancel();
        Box::pin(std::future::pending())
    }
}

// C4
#[tokio::test]
async fn a_run_cancelled_in_a_hook_answers_the_calls_of_the_reply() {
    let token = CancellationToken::new();
    let agent = agent(&ScriptedModel::new([call_t()]), &Counter::default());

    let agent = agent.hook(HangsAfterModel(token.clone())).build().unwrap();
    let run = agent.run("Go").cancel_token(token).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::Cancelled);
    assert_eq!(
        result_texts(run.messages())[0].1,
        "Error: not run: the run ended before it"
    );
}

// C3
#[tokio::test(start_paused = true)]
async fn a_run_whose_time_is_over_in_a_hook_answers_the_calls_of_the_reply() {
    let agent = agent(&ScriptedModel::new([call_t()]), &Counter::default());
    let hangs = HangsAfterModel(CancellationToken::new());

    let run = agent.hook(hangs).build().unwrap().run("Go");
    let run = run.deadline(Duration::from_secs(1)).await.unwrap();

    assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::Deadline));
    assert!(run.state().transcript().is_closed());
}

/// A hook that brings everything a hook can bring.
struct Brings;

struct Shouts;

impl ToolInterceptor for Shouts {
    fn intercept<'a>(
        &'a self,
        request: ToolRequest,
        next: ToolNext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        Box::pin(async move {
            request
                .context
                .update("seen", json!([request.call.name()]))?;
            next.run(request).await
        })
    }
}

impl Hook for Brings {
    fn name(&self) -> &str {
        "brings"
    }

    fn positions(&self) -> &[HookPosition] {
        &[]
    }

    fn tools(&self) -> Vec<Arc<dyn ToolCallback>> {
        vec![
            Arc::new(answers("brought", "b")),
            Arc::new(answers("t", "the hook's")),
        ]
    }

    fn tool_interceptors(&self) -> Vec<Arc<dyn ToolInterceptor>> {
        vec![Arc::new(Shouts)]
    }

    fn keys(&self) -> Vec<(Arc<str>, KeyStrategy)> {
        vec![("seen".into(), KeyStrategy::Append)]
    }
}

// B11, B12, RA-2, HK-13
#[tokio::test]
async fn a_hook_brings_tools_interceptors_and_keys() {
    let runs = Counter::default();
    let turn = call_t().and_calls("brought", json!({})).with_id("c2");
    let model = ScriptedModel::new([turn, says("done")]);

    let agent = agent(&model, &runs).hook(Brings).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    // The hook's tool of the name comes first, so it wins over the agent's own.
    assert_eq!(offered(&model.requests()[0]), ["brought", "t"]);
    assert_eq!(result_texts(run.messages())[0].1, "the hook's");
    assert_eq!(runs.get(), 0);
    assert_eq!(run.state().value("seen"), Some(&json!(["t", "brought"])));
}
