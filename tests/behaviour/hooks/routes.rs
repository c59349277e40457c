//! Where a run goes on after its hooks.

use agent_core::agent::{HookAction, HookPosition, Jump, Limit, Limits, OnLimit};
use agent_core::graph::StateUpdate;
use agent_core::message::{AssistantMessage, ToolCall, ToolResult};
use agent_core::model::scripted::says;
use agent_core::model::{FinishReason, ScriptedModel};
use agent_core::{AgentError, Message, Outcome, ReactAgent};
use agent_tests::runs::{result_texts, texts};
use agent_tests::tools::Counter;
use serde_json::json;

use super::{AfterAgent, AfterModel, BeforeAgent, BeforeModel, Log, agent, call_t, hook, noted};

// HK-2
#[tokio::test]
async fn hooks_of_one_order_run_as_they_were_given() {
    let log = Log::default();
    let model = ScriptedModel::new([says("done")]);

    let mut agent = agent(&model, &Counter::default());
    for name in ["c", "a", "b"] {
        agent = agent.hook(hook(name, &log).at(&[BeforeModel, AfterModel]));
    }
    agent.build().unwrap().run("Go").await.unwrap();

    let before = ["c.BeforeModel", "a.BeforeModel", "b.BeforeModel"];
    let after = ["b.AfterModel", "a.AfterModel", "c.AfterModel"];
    assert_eq!(noted(&log), [before, after].concat());
}

// HK-4, HK-10, hk.6
#[tokio::test]
async fn a_hook_that_does_not_jump_leaves_the_way_as_it_is() {
    let runs = Counter::default();
    let model = ScriptedModel::new([call_t(), says("done")]);
    let writes = hook("writes", &Log::default());
    let writes = writes.acts(|position, _| {
        let key = format!("{position:?}");
        StateUpdate::new().put(key, json!(true)).into()
    });

    let agent = agent(&model, &runs).hook(writes).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    assert_eq!((run.text(), runs.get()), ("done", 1));
    assert_eq!(run.state().keys().count(), 4);
}

// HK-4, HK-6
#[tokio::test]
async fn after_the_agent_a_jump_to_another_place_is_an_error() {
    let model = ScriptedModel::new([says("done")]);
    let back = hook("back", &Log::default()).at(&[AfterAgent]);
    let back = back.acts(|_, _| HookAction::jump(Jump::Model));

    let agent = agent(&model, &Counter::default()).hook(back);
    let error = agent.build().unwrap().run("Go").await.unwrap_err();

    let output = error.output().unwrap();
    assert_eq!(output.outcome(), &Outcome::Failed);
    assert_eq!(output.text(), "done");
    let AgentError::Hook { hook, source, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(hook, "back");
    let text = "after the agent a jump can only lead to the end";
    assert_eq!(source.to_string(), text);
}

// HK-7, HK-8, HK-9, hk.4
#[tokio::test]
async fn without_tools_each_hook_after_the_model_may_send_back_to_it() {
    for jumps in ["first", "last"] {
        let (log, jumped) = (Log::default(), Counter::default());
        let model = ScriptedModel::new([says("response-1"), says("response-2")]);

        let mut agent = ReactAgent::builder("assistant", model.clone());
        for name in ["first", "last"] {
            let jumped = jumped.clone();
            let hook = hook(name, &log).at(&[AfterModel]);
            agent = agent.hook(hook.acts(move |_, _| {
                if name == jumps && jumped.add() == 0 {
                    HookAction::jump(Jump::Model)
                } else {
                    HookAction::Continue
                }
            }));
        }
        let run = agent.build().unwrap().run("Go").await.unwrap();

        assert_eq!(run.text(), "response-2");
        assert_eq!((model.requests().len(), jumped.get()), (2, 2));
        assert_eq!(run.state().keys().count(), 0);
    }
}

// HK-5, TA-3
#[tokio::test]
async fn a_jump_takes_nothing_of_the_reply_before_it_to_the_next() {
    let paused = FinishReason::Other("pause_turn".into());
    let model = ScriptedModel::new([says("Hm.").finish(paused.clone()), says("Done.")]);
    let jumped = Counter::default();
    let stays = hook("stays", &Log::default()).at(&[AfterModel]);
    // Runs before the other.
    let jumps = hook("jumps", &Log::default()).at(&[AfterModel]);
    let jumps = jumps.acts(move |_, _| match jumped.add() {
        0 => HookAction::jump(Jump::Model),
        _ => HookAction::Continue,
    });

    let agent = ReactAgent::builder("assistant", model.clone());
    let agent = agent
        .hook(stays)
        .hook(jumps)
        .execute_tools_when(move |reply| reply.finish_reason == paused);
    let run = agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!((run.text(), model.requests().len()), ("Done.", 2));
}

// HK-11, hk.11, hk.11c
#[tokio::test]
async fn a_hook_that_answers_some_calls_leaves_the_others_to_the_tools() {
    let runs = Counter::default();
    let turn = call_t().and_calls("t", json!({})).with_id("c2");
    let model = ScriptedModel::new([turn, says("done")]);
    let refuses = hook("refuses", &Log::default()).at(&[AfterModel]);
    let refuses = refuses.acts(|_, state| {
        let first = state.transcript().open_calls().next();
        first.map_or(HookAction::Continue, |call| {
            let refused = ToolResult::error(call, "Error: refused");
            StateUpdate::new().answer(refused).into()
        })
    });

    let agent = agent(&model, &runs).hook(refuses).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    let texts = result_texts(run.messages());
    let texts: Vec<_> = texts.iter().map(|(id, text)| (&**id, &**text)).collect();
    assert_eq!(texts, [("c1", "Error: refused"), ("c2", "result")]);
    assert_eq!((run.text(), runs.get()), ("done", 1));
}

// HK-11, hk.11
#[tokio::test]
async fn a_history_that_ends_with_no_call_and_no_result_ends_the_run() {
    let updates = [
        StateUpdate::new().replace_messages(vec![]),
        StateUpdate::new().message(Message::user("Well?")),
    ];
    for update in updates {
        let model = ScriptedModel::new([says("done"), says("never asked")]);
        let leaves = hook("leaves", &Log::default()).at(&[AfterModel]);
        let leaves = leaves.acts(move |_, _| update.clone().into());

        let agent = agent(&model, &Counter::default()).hook(leaves);
        let error = agent.build().unwrap().run("Go").await.unwrap_err();

        assert!(matches!(error, AgentError::EmptyAnswer { .. }), "{error:?}");
        assert_eq!(model.requests().len(), 1);
    }
}

// TN-1, TN-14, tn.6, tn.8
#[tokio::test]
async fn at_the_tools_without_an_open_call_nothing_runs_and_nothing_changes() {
    let call = ToolCall::new("1", "t", "{}");
    let done = ToolResult::ok(&call, vec!["done before".into()]);
    let asked = vec![Message::user("q")];
    let answered = vec![
        Message::user("q"),
        AssistantMessage::new("", None, vec![call]).into(),
        Message::tool(vec![done]),
    ];
    for history in [asked, answered] {
        let runs = Counter::default();
        let model = ScriptedModel::new([says("done")]);
        let tools_first = hook("tools first", &Log::default()).at(&[BeforeAgent]);
        let tools_first = tools_first.acts(|_, _| HookAction::jump(Jump::Tools));
        let before: Vec<String> = history.iter().map(Message::text).collect();

        let agent = agent(&model, &runs).hook(tools_first).build().unwrap();
        let run = agent.run(history).await.unwrap();

        assert_eq!((run.text(), runs.get()), ("done", 0));
        assert_eq!(texts(&model.requests()[0]), before);
    }
}

/// The position of a hook that jumps, to where, with which limits, after how many model calls.
type Jumps = (HookPosition, Jump, Limits, usize);

// HK-5
#[tokio::test]
async fn a_hook_that_always_jumps_back_reaches_a_limit() {
    let jumps = |limits: Limits| limits.jumps(3);
    let cases: [Jumps; 5] = [
        (BeforeModel, Jump::Model, jumps(Limits::new()), 0),
        (BeforeModel, Jump::Tools, jumps(Limits::new()), 0),
        (
            BeforeModel,
            Jump::Model,
            Limits::new().on_limit(OnLimit::LastAnswer).jumps(3),
            0,
        ),
        // Each goes by the model, whose calls are counted.
        (
            AfterModel,
            Jump::Model,
            jumps(Limits::new().model_calls(5)),
            5,
        ),
        (
            AfterModel,
            Jump::Tools,
            jumps(Limits::new().model_calls(5)),
            5,
        ),
    ];
    for (position, to, limits, model_calls) in cases {
        let (jumped, ended) = (Counter::default(), Log::default());
        let model = ScriptedModel::new((0..9).map(|_| says("again")));
        let counted = jumped.clone();
        let back = hook("back", &Log::default()).at(match position {
            BeforeModel => &[BeforeModel],
            _ => &[AfterModel],
        });
        let back = back.acts(move |_, _| {
            counted.add();
            HookAction::jump(to)
        });

        let agent = agent(&model, &Counter::default()).hook(back).limits(limits);
        let agent = agent.hook(hook("last", &ended).at(&[AfterAgent]));
        let run = agent.build().unwrap().run("Go").await.unwrap();

        let (limit, times) = match position {
            BeforeModel => (Limit::Jumps, 4),
            _ => (Limit::ModelCalls, 5),
        };
        assert_eq!(run.outcome(), &Outcome::LimitReached(limit));
        assert_eq!((jumped.get(), model.requests().len()), (times, model_calls));
        assert_eq!(noted(&ended), ["last.AfterAgent"]);
    }
}

// HK-5
#[tokio::test]
async fn the_jumps_between_two_model_calls_are_counted() {
    let turns = (0..4).map(|_| call_t());
    let model = ScriptedModel::new(turns.chain([says("done")]));
    let jumped = Counter::default();
    let twice = hook("twice", &Log::default()).at(&[BeforeModel]);
    let twice = twice.acts(move |_, _| match jumped.add() % 3 {
        2 => HookAction::Continue,
        _ => HookAction::jump(Jump::Model),
    });

    let agent = agent(&model, &Counter::default()).hook(twice);
    let agent = agent.limits(Limits::new().jumps(2)).build().unwrap();
    let run = agent.run("Go").await.unwrap();

    assert_eq!(run.text(), "done");
}
