//! The agent's loop, from its configuration to its output.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod events;
mod limits;
mod nested_spans;
mod request;
mod spans;

use agent_core::agent::{BuildFault, ReactAgentBuilder};
use agent_core::graph::KeyStrategy;
use agent_core::model::scripted::{Turn, calls, fails, says};
use agent_core::model::{FinishReason, ModelError, ModelErrorKind, ScriptedModel, Usage};
use agent_core::{AgentError, Message, Outcome, ReactAgent, tools};
use agent_tests::runs::result_texts;
use agent_tests::tools::{ClosureTool, answers, tool};
use expect_test::expect;
use serde_json::json;

/// Answers with `n` and a dot.
fn step() -> ClosureTool {
    tool("step", (), async |(), arguments, _| {
        format!("{}.", arguments["n"])
    })
}

fn calls_step(n: u32) -> Turn {
    calls("step", json!({"n": n}))
}

fn agent(model: &ScriptedModel) -> ReactAgentBuilder {
    ReactAgent::builder("assistant", model.clone()).tools(step())
}

// B3, TM-1, HK-11, HK-12, tm.1, hk.11, hk.11a, hk.11b, rd.3
#[tokio::test]
async fn tools_run_until_the_model_answers() {
    let model = ScriptedModel::new([calls_step(1), calls_step(2), says("Two steps.")]);

    let run = agent(&model).build().unwrap().run("Go").await.unwrap();

    assert_eq!(run.text(), "Two steps.");
    assert_eq!(run.outcome(), &Outcome::Finished);
    assert_eq!(run.finish_reason(), Some(&FinishReason::Stop));
    let texts: Vec<String> = run.messages().iter().map(Message::text).collect();
    assert_eq!(texts, ["Go", "", "1.", "", "2.", "Two steps."]);
    assert_eq!(run.new_messages(), run.messages());
}

// B3
#[test]
fn the_picture_of_the_graph_shows_the_loop() {
    let picture = agent(&ScriptedModel::new([]))
        .build()
        .unwrap()
        .graph()
        .to_mermaid();

    expect![[r#"
        flowchart TD
            start(["START"])
            n0["model"]
            n1["tools"]
            finish(["END"])
            start --> n0
            n0 -.-> n1
            n0 -.-> finish
            n1 --> n0
    "#]]
    .assert_eq(&picture);
}

// B4
#[tokio::test]
async fn a_run_goes_on_from_a_history() {
    let model = ScriptedModel::new([says("Seven.")]);
    let history = vec![
        Message::user("Three and four?"),
        Message::assistant("Wait."),
        Message::user("Well?"),
    ];

    let run = agent(&model).build().unwrap().run(history).await.unwrap();

    let new: Vec<String> = run.new_messages().iter().map(Message::text).collect();
    assert_eq!(new, ["Well?", "Seven."]);
    assert_eq!(run.messages().len(), 4);
}

// B6, RA-8
#[tokio::test]
async fn the_answer_is_written_to_the_output_key() {
    let model = ScriptedModel::new([calls_step(1), says("Done.")]);

    let run = agent(&model).output_key("answer").build().unwrap();
    let run = run.run("Go").await.unwrap();

    assert_eq!(run.state().value("answer"), Some(&json!("Done.")));
    assert_eq!(run.text(), "Done.");
}

// B6
#[tokio::test]
async fn an_answer_that_the_output_key_refuses_is_not_lost() {
    let model = ScriptedModel::new([says("Done.")]);

    let agent = agent(&model).key("answer", KeyStrategy::custom(|_, _| Err("full".into())));
    let run = agent.output_key("answer").build().unwrap().run("Go");
    let error = run.await.unwrap_err();

    let AgentError::Graph { output, .. } = &error else {
        panic!("{error:?}");
    };
    assert_eq!(
        (output.text(), output.outcome()),
        ("Done.", &Outcome::Failed)
    );
}

// B9, US-1
#[tokio::test]
async fn usage_is_summed_over_the_rounds_streamed_and_plain() {
    for streaming in [true, false] {
        let model = ScriptedModel::new([
            calls_step(1).with_usage(Usage::new(10, 1)),
            calls_step(2).with_usage(Usage::new(20, 2)),
            says("Done.").with_usage(Usage::new(30, 3)),
        ]);

        let run = agent(&model).streaming(streaming).build().unwrap();
        let run = run.run("Go").await.unwrap();

        assert_eq!(run.usage(), Usage::new(60, 6));
    }
}

// B9, US-2
#[tokio::test]
async fn usage_counts_when_the_last_round_reports_none() {
    for streaming in [true, false] {
        let first = calls_step(1).with_usage(Usage::new(10, 1));
        let model = ScriptedModel::new([first, says("Done.")]);

        let run = agent(&model)
            .build()
            .unwrap()
            .run("Go")
            .streaming(streaming);

        assert_eq!(run.await.unwrap().usage(), Usage::new(10, 1));
    }
}

// B13, RA-10
#[tokio::test]
async fn an_error_of_the_model_is_the_error_of_the_run() {
    for streaming in [true, false] {
        let error = ModelError::new(ModelErrorKind::RateLimited, "slow down").with_status(429);
        let model = ScriptedModel::new([calls_step(1), fails(error).and_says("So far")]);

        let run = agent(&model)
            .build()
            .unwrap()
            .run("Go")
            .streaming(streaming);
        let error = run.await.unwrap_err();

        assert!(error.is_retryable());
        let AgentError::Model { source, output } = error else {
            panic!("{error:?}");
        };
        assert_eq!(source.kind(), ModelErrorKind::RateLimited);
        assert_eq!(source.status(), Some(429));
        // What the turns before gave is not lost: it can be the input of the next run.
        assert_eq!(output.outcome(), &Outcome::Failed);
        assert_eq!(output.messages().len(), 3);
        let model = ScriptedModel::new([says("Done")]);
        let again = agent(&model).build().unwrap();
        let again = again.run(output.messages().to_vec()).await.unwrap();
        assert_eq!(again.text(), "Done");
    }
}

// B13
#[tokio::test]
async fn an_empty_answer_is_told_apart() {
    let model = ScriptedModel::new([calls_step(1), says("").with_usage(Usage::new(7, 0))]);

    let error = agent(&model).build().unwrap().run("Go").await.unwrap_err();

    let AgentError::EmptyAnswer { output } = error else {
        panic!("{error:?}");
    };
    assert_eq!(output.usage(), Usage::new(7, 0));
    assert_eq!(output.messages().len(), 4);
}

#[tokio::test]
async fn an_empty_answer_says_what_may_have_kept_the_model_from_one() {
    for (reason, text) in [
        (FinishReason::Stop, "the model's answer is empty"),
        (
            FinishReason::Length,
            "the model's answer is empty: it ended with `length`",
        ),
    ] {
        let model = ScriptedModel::new([says("").finish(reason)]);

        let error = agent(&model).build().unwrap().run("Go").await.unwrap_err();

        assert_eq!(error.to_string(), text);
    }
}

// B15
#[tokio::test]
async fn a_thread_without_a_saver_is_refused() {
    let model = ScriptedModel::new([says("Hello.")]);

    let error = agent(&model)
        .build()
        .unwrap()
        .run("Go")
        .thread("t")
        .await
        .unwrap_err();

    assert!(
        matches!(&error, AgentError::NoSaver { thread } if thread == "t"),
        "{error:?}"
    );
    assert!(model.requests().is_empty());
}

struct Db(&'static str);

/// Asks the database.
#[agent_core::tool(register = false)]
async fn query(db: agent_core::Host<Db>) -> &'static str {
    db.0.0
}

fn database_agent(model: &ScriptedModel) -> ReactAgentBuilder {
    ReactAgent::builder("assistant", model.clone()).tools(tools![query])
}

// A5, TE-4
#[tokio::test]
async fn a_missing_host_value_is_found_before_the_first_model_call() {
    let model = ScriptedModel::new([says("Hello.")]);

    let error = database_agent(&model)
        .build()
        .unwrap()
        .run("Go")
        .await
        .unwrap_err();

    let AgentError::MissingHost {
        tool, type_name, ..
    } = &error
    else {
        panic!("{error:?}");
    };
    assert_eq!(tool, "query");
    assert!(type_name.ends_with("Db"), "{type_name}");
    assert!(model.requests().is_empty());
}

// A5
#[tokio::test]
async fn the_host_value_of_a_run_comes_over_the_agents() {
    let turn = || [calls("query", json!({})), says("done")];
    let model = ScriptedModel::new(turn().into_iter().chain(turn()));
    let agent = database_agent(&model).host(Db("agent")).build().unwrap();

    let plain = agent.run("Go").await.unwrap();
    let over = agent.run("Go").host(Db("run")).await.unwrap();

    assert_eq!(result_texts(plain.messages())[0].1, "agent");
    assert_eq!(result_texts(over.messages())[0].1, "run");
}

// A5, TN-16, TM-9, tn.17
#[tokio::test]
async fn the_metadata_of_a_run_comes_over_the_agents() {
    let model = ScriptedModel::new([calls("tells", json!({})), says("done")]);
    let tells = tool(
        "tells",
        (),
        async |(), _, context: agent_core::ToolContext| {
            format!(
                "{:?} {:?}",
                context.metadata("user"),
                context.metadata("app")
            )
        },
    );
    let agent = ReactAgent::builder("assistant", model).tools(tells);
    let agent = agent
        .metadata("user", "nobody")
        .metadata("app", 1)
        .build()
        .unwrap();

    let run = agent.run("Go").metadata("user", "ada").await.unwrap();

    assert_eq!(
        result_texts(run.messages())[0].1,
        r#"Some(String("ada")) Some(Number(1))"#
    );
}

// A3, tn.21
#[test]
fn a_build_error_lists_every_fault() {
    let error = ReactAgent::builder(" ", ScriptedModel::new([]))
        .tools([
            answers("a", ""),
            answers("a", ""),
            answers("b", ""),
            answers("b", ""),
        ])
        .tools(answers("no spaces", ""))
        .max_parallel_tools(0)
        .tool_execution_timeout(std::time::Duration::ZERO)
        .build()
        .unwrap_err();

    let faults: Vec<String> = error.faults().iter().map(ToString::to_string).collect();
    expect![[r#"
        the agent's name is blank
        `max_parallel_tools` must not be zero
        `tool_execution_timeout` must not be zero
        two tools are named `a`: one made at run time and one made at run time
        two tools are named `b`: one made at run time and one made at run time
        tool name `no spaces` must fit `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`"#]]
    .assert_eq(&faults.join("\n"));
    assert!(matches!(error.faults()[0], BuildFault::BlankName));
    assert!(faults.iter().all(|fault| error.to_string().contains(fault)));
}

// B8
#[tokio::test]
async fn runs_of_one_agent_do_not_disturb_each_other() {
    let model = ScriptedModel::new([says("one"), says("two")]);
    let agent = agent(&model).build().unwrap();

    let (first, second) = tokio::join!(agent.run("1"), agent.run("2"));

    assert_eq!(first.unwrap().messages().len(), 2);
    assert_eq!(second.unwrap().text(), "two");
}

// B3
#[test]
fn the_picture_in_the_readme_is_the_agents_own_graph() {
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([]))
        .build()
        .unwrap();

    let readme = include_str!("../../../README.md");

    let (_, after) = readme.split_once("```mermaid\n").unwrap();
    let (picture, _) = after.split_once("```").unwrap();
    assert_eq!(picture.trim(), agent.graph().to_mermaid().trim());
}
