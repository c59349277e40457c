//! Which way a call's error goes.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use agent_core::agent::{ErrorAction, ErrorPolicy, Limit};
use agent_core::message::ToolCall;
use agent_core::model::scripted::{calls, says};
use agent_core::model::{FinishReason, ScriptedModel};
use agent_core::tool::ToolErrorKind;
use agent_core::{AgentError, Outcome, ReactAgent, ToolContext, ToolError, tool, tools};
use agent_tests::runs::{ended, events, result_texts, results};
use agent_tests::tools::{ClosureTool, Counter, answers, never, tool};
use serde_json::json;

use super::{agent, model, pairs, parallel};

fn fails_with(
    name: &'static str,
    error: impl Fn() -> ToolError + Clone + Send + Sync + 'static,
) -> ClosureTool {
    tool(name, error, async |error, _, _| Err::<(), _>(error()))
}

// C11, case ex-01
#[tokio::test]
async fn a_panic_is_the_error_of_its_own_call_only() {
    let model = model(&["ok_a", "panics", "ok_b"]);
    let panics = tool("panics", (), async |(), _, _| {
        tokio::task::yield_now().await;
        assert!(model_is_calm(), "at src/secret.rs");
    });

    let tools = [answers("ok_a", "a"), panics, answers("ok_b", "b")];
    let run = parallel(&model, tools)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "a"), ("c2", "Error: the tool panicked"), ("c3", "b")])
    );
}

fn model_is_calm() -> bool {
    false
}

/// Panics on a thread of the blocking pool.
#[agent_core::tool(register = false)]
fn panics_while_blocking() -> &'static str {
    assert!(model_is_calm(), "at src/secret.rs");
    "calm"
}

// C11
#[tokio::test]
async fn a_panic_of_a_plain_function_is_the_error_of_its_call() {
    for on_pool in [true, false] {
        let model = model(&["panics_while_blocking"]);

        let run = agent(&model, agent_core::tools![panics_while_blocking]);
        let run = run.wrap_sync_tools_as_async(on_pool).build().unwrap();
        let run = run.run("Go").await.unwrap();

        assert_eq!(
            result_texts(run.messages()),
            pairs(&[("c1", "Error: the tool panicked")])
        );
    }
}

// C9, TN-10, TM-4, tn.4, case ex-22
#[tokio::test]
async fn an_unknown_tool_is_told_with_the_tools_there_are() {
    let model = model(&["default_api:view", "delete_all", "View"]);

    let run = agent(&model, [answers("view", "seen"), answers("edit", "edited")]);
    let run = run.build().unwrap().run("Go").await.unwrap();

    let unknown =
        |name| format!("Error: tool not available: `{name}`; the tools are `view`, `edit`");
    assert_eq!(
        result_texts(run.messages()),
        pairs(&[
            ("c1", "seen"),
            ("c2", &unknown("delete_all")),
            ("c3", &unknown("View"))
        ])
    );
    assert_eq!(run.text(), "done");
}

// C9
#[tokio::test]
async fn a_tool_knows_its_own_name_whatever_the_model_put_before_it() {
    let model = model(&["functions.who/tell"]);
    let tell = tool("tell", (), async |(), _, context: ToolContext| {
        context.tool_name().to_owned()
    });

    let run = agent(&model, tell)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(result_texts(run.messages()), pairs(&[("c1", "tell")]));
}

/// Current weather of a city.
#[agent_core::tool(register = false)]
async fn get_weather(city: &str) -> String {
    format!("{city}: 4 °C")
}

// C10, TE-5
#[tokio::test]
async fn a_bad_argument_is_told_to_the_model_and_the_run_goes_on() {
    let model = ScriptedModel::new([calls("get_weather", json!({"city": [7]})), says("Which?")]);

    let run = agent(&model, agent_core::tools![get_weather])
        .build()
        .unwrap();
    let run = run.run("Weather?").await.unwrap();

    assert_eq!(run.text(), "Which?");
    let told = model.requests()[1].last_tool_result();
    assert!(
        told.starts_with("Error: ") && told.contains("city"),
        "{told}"
    );
}

// C8, case ex-27
#[tokio::test]
async fn a_truncated_call_is_never_run() {
    let read = Counter::default();
    let written = Counter::default();
    let counts = |name, counter: &Counter| {
        tool(name, counter.clone(), async |counter, _, _| {
            counter.add().to_string()
        })
    };
    let turn = calls("read", json!({"p": "a"})).and_calls("write", json!(r#"{"p":"b","t":"xx"#));
    let model = ScriptedModel::new([turn.finish(FinishReason::Length), says("done")]);

    let run = agent(&model, [counts("read", &read), counts("write", &written)]);
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!((read.get(), written.get()), (1, 0));
    let result = results(run.messages()).remove(1);
    assert!(result.is_error());
    assert_eq!(result.text(), "Error: not run: the arguments are truncated");
}

// C8, TN-18, TM-2, tm.2
#[tokio::test]
async fn no_arguments_and_null_are_an_empty_object() {
    let model = ScriptedModel::new([
        calls("echo", json!("")).and_calls("echo", json!(null)),
        says("done"),
    ]);
    let echo = tool("echo", (), async |(), arguments, _| arguments.to_string());

    let run = agent(&model, echo)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("call_1", "{}"), ("call_2", "{}")])
    );
}

// C10, TN-12, tn.9
#[tokio::test]
async fn the_model_reads_an_error_without_its_causes() {
    #[derive(Debug, thiserror::Error)]
    #[error("no disk")]
    struct Outer(#[source] io::Error);
    let model = model(&["fails"]);
    let fails = fails_with("fails", || {
        ToolError::failed(Outer(io::Error::other("at /dev/sda")))
    });

    let run = agent(&model, fails)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "Error: no disk")])
    );
    assert!(results(run.messages())[0].is_error());
}

// TN-12, TE-6, tn.9
#[tokio::test]
async fn an_error_without_a_text_is_told_as_one() {
    let model = model(&["fails"]);
    let fails = fails_with("fails", || ToolError::failed(" "));

    let run = agent(&model, fails).build().unwrap().run("Go").await;

    let text = "Error: the tool failed without a message";
    assert_eq!(
        result_texts(run.unwrap().messages()),
        pairs(&[("c1", text)])
    );
}

// C10, TN-12, tm.11
#[tokio::test]
async fn after_a_call_that_fails_the_others_run_and_the_run_goes_on() {
    for side_by_side in [false, true] {
        let model = model(&["fails", "ok"]);
        let fails = fails_with("fails", || ToolError::failed("no disk"));

        let run = agent(&model, [fails, answers("ok", "fine")]);
        let run = run.parallel_tool_execution(side_by_side).build().unwrap();
        let run = run.run("Go").await.unwrap();

        let marked: Vec<(String, bool)> = results(run.messages())
            .iter()
            .map(|result| (result.text(), result.is_error()))
            .collect();
        let expected = [("Error: no disk", true), ("fine", false)];
        assert_eq!(marked, expected.map(|(text, is)| (text.to_owned(), is)));
        assert_eq!(run.text(), "done");
    }
}

// C10
#[tokio::test]
async fn a_fatal_error_ends_the_run() {
    let model = model(&["fails"]);
    let fails = fails_with("fails", || ToolError::fatal("the license is void"));

    let error = agent(&model, fails)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap_err();

    let AgentError::Tool {
        tool,
        call_id,
        source,
        ..
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!((&**tool, &**call_id), ("fails", "c1"));
    assert_eq!(source.kind(), ToolErrorKind::Fatal);
    assert_eq!(error.source().unwrap().to_string(), "the license is void");
    assert_eq!(model.requests().len(), 1);
}

// C10
#[tokio::test]
async fn a_fatal_error_drops_the_calls_that_still_run() {
    let model = model(&["hangs", "fails"]);
    let dropped = Counter::default();
    let hangs = tool("hangs", dropped.clone(), async |dropped, _, _| {
        let _guard = dropped.on_drop();
        std::future::pending::<()>().await;
    });

    let run = parallel(
        &model,
        [hangs, fails_with("fails", || ToolError::fatal("no"))],
    );
    run.build().unwrap().run("Go").await.unwrap_err();

    assert_eq!(dropped.get(), 1);
}

// C10, TN-7, tn.19
#[tokio::test]
async fn a_fatal_error_keeps_what_the_other_calls_gave() {
    let model = model(&["quick", "hangs", "fails", "waits"]);
    let quick = tool("quick", (), async |(), _, context: ToolContext| {
        context.update("kept", 1).map(|()| "42")
    });
    let fails = tool("fails", (), async |(), _, _| {
        tokio::task::yield_now().await;
        Err::<(), _>(ToolError::fatal("no"))
    });

    let run = parallel(&model, [quick, never("hangs"), fails, never("waits")]);
    let run = run.max_parallel_tools(2).build().unwrap().run("Go");
    let (events, error) = events(run.stream()).await;

    let error = error.unwrap();
    let output = error.output().unwrap();
    assert_eq!(output.outcome(), &Outcome::Failed);
    assert_eq!(
        result_texts(output.messages()),
        pairs(&[
            ("c1", "42"),
            (
                "c2",
                "Error: stopped while it ran, as another call ended the run; it may have run in part"
            ),
            ("c3", "Error: the run ended with this call"),
            ("c4", "Error: not run: another call ended the run"),
        ])
    );
    assert_eq!(output.state().value("kept"), Some(&json!(1)));
    let mut ended = ended(&events);
    ended.sort();
    assert_eq!(ended, ["c1", "c2", "c3", "c4"]);
}

// C10, TN-12, TE-6, ep.1.5
#[tokio::test]
async fn an_error_of_a_named_type_reaches_the_caller_as_it_is() {
    let model = model(&["fails"]);
    let fails = fails_with("fails", || {
        ToolError::failed(io::Error::from(io::ErrorKind::NotFound))
    });

    let run = agent(&model, fails).error_policy(ErrorPolicy::new().pass_through::<io::Error>());
    let error = run.build().unwrap().run("Go").await.unwrap_err();

    let AgentError::PassedThrough { source, output, .. } = error else {
        panic!("{error:?}");
    };
    assert!(output.state().transcript().is_closed());
    let error = source.downcast::<io::Error>().unwrap();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

// C10, TE-6, ep.1.6
#[tokio::test]
async fn an_error_of_another_type_is_not_passed_through() {
    let model = model(&["fails"]);
    let fails = fails_with("fails", || ToolError::failed("no disk"));

    let run = agent(&model, fails).error_policy(ErrorPolicy::new().pass_through::<io::Error>());
    let run = run.build().unwrap().run("Go").await.unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "Error: no disk")])
    );
}

// C10, TE-6, ep.1
#[tokio::test]
async fn a_policy_of_your_own_decides_what_the_model_reads() {
    let model = model(&["fails", "fatal"]);
    let tools = [
        fails_with("fails", || ToolError::failed("no disk")),
        fails_with("fatal", || ToolError::fatal("void")),
    ];
    let policy = ErrorPolicy::custom(|error: &ToolError, call: &ToolCall| {
        ErrorAction::Tell(format!("{} says {error}", call.name()))
    });

    let run = agent(&model, tools).error_policy(policy).build().unwrap();
    let run = run.run("Go").await.unwrap();

    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "fails says no disk"), ("c2", "fatal says void")])
    );
}

// C10, TE-6, ep.1
#[tokio::test]
async fn a_policy_of_your_own_can_end_the_run() {
    let model = model(&["fails"]);
    let fails = fails_with("fails", || ToolError::failed("no disk"));
    let policy = ErrorPolicy::custom(|_, _| ErrorAction::Raise);

    let run = agent(&model, fails).error_policy(policy).build().unwrap();
    let error = run.run("Go").await.unwrap_err();

    assert!(matches!(error, AgentError::Tool { .. }), "{error:?}");
}

// C2, C4, TE-6
#[tokio::test(start_paused = true)]
async fn the_end_of_the_runs_time_is_no_error_that_a_policy_decides_about() {
    for side_by_side in [false, true] {
        let agent = agent(&model(&["never"]), never("never"))
            .error_policy(ErrorPolicy::custom(|_, _| ErrorAction::Raise))
            .parallel_tool_execution(side_by_side);

        let run = agent.build().unwrap().run("Go");
        let run = run.deadline(Duration::from_millis(100)).await.unwrap();

        assert_eq!(run.outcome(), &Outcome::LimitReached(Limit::Deadline));
        let text = "Error: timed out: the time of the whole run is over";
        assert_eq!(result_texts(run.messages()), pairs(&[("c1", text)]));
    }
}

// TE-6, case ex-18
#[tokio::test]
async fn a_secret_in_an_error_is_masked_for_the_model_and_the_operator() {
    const SAID: &str = "GET https://u:pw@api.test/s?q=x&api_key=sk-live-9: 401";
    let shown = "GET https://***@api.test/s?q=x&api_key=***: 401";
    for fatal in [false, true] {
        let model = model(&["fails"]);
        let fails = tool("fails", fatal, async |fatal, _, _| {
            let error = io::Error::other(SAID);
            Err::<(), _>(match fatal {
                true => ToolError::fatal(error),
                false => ToolError::failed(error),
            })
        });

        let agent = agent(&model, fails).secret("sk-live-9").build().unwrap();
        assert!(!format!("{agent:?}").contains("sk-live-9"));
        match agent.run("Go").await {
            Ok(run) => {
                let result = &results(run.messages())[0];
                assert!(result.is_error());
                assert_eq!(result.text(), format!("Error: {shown}"));
            }
            Err(error) => {
                assert_eq!(error.source().unwrap().to_string(), shown);
                let debug = format!("{error:?}");
                assert!(
                    !debug.contains("sk-live-9") && !debug.contains("pw"),
                    "{debug}"
                );
            }
        }
    }
}

#[tool(register = false)]
async fn counts(days: u8) -> u8 {
    days
}

// case ex-18
#[tokio::test]
async fn a_secret_that_a_shortened_value_would_cut_is_masked_whole() {
    let value = format!("{} sk-live-9 and more", "x".repeat(50));
    for arguments in [
        json!({"days": &value}),
        json!({"dayz": 1, &value: 2}),
        json!(&value),
    ] {
        let turn = calls("counts", arguments);
        let model = ScriptedModel::new([turn, says("I see.")]);
        let agent = ReactAgent::builder("assistant", model).tools(tools![counts]);

        let run = agent.secret("sk-live-9").build().unwrap();
        let run = run.run("Go").await.unwrap();

        let text = results(run.messages())[0].text();
        assert!(!text.contains("sk-"), "{text}");
    }
}

#[tokio::test]
async fn a_secret_in_a_result_is_masked() {
    let model = model(&["env"]);
    let env = answers("env", "KEY=sk-live-9 from https://u@git.test");

    let run = agent(&model, env).secret("sk-live-9").build().unwrap();
    let run = run.run("Go").await.unwrap();

    // A URL is only masked in errors: in a result it may be what was asked for.
    assert_eq!(
        result_texts(run.messages()),
        pairs(&[("c1", "KEY=*** from https://u@git.test")])
    );
}
