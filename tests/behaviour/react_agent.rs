//! The agent's loop: what the model is asked, what a run gives, and how it ends.

use agent_core::agent::{BuildFault, Limit, Limits, OnLimit};
use agent_core::event::EventKind;
use agent_core::message::{Role, Transcript};
use agent_core::model::scripted::{calls, fails, says};
use agent_core::model::{ChatOptions, ModelError, ModelErrorKind, ScriptedModel, Usage};
use agent_core::{
    AgentError, AgentEvent, Host, Message, Outcome, ReactAgent, RunOutput, tool, tools,
};
use serde_json::json;

#[tool]
fn step(n: u32) -> String {
    format!("step {n}")
}

fn agent(model: &ScriptedModel) -> ReactAgent {
    ReactAgent::builder("assistant", model.clone())
        .system_prompt("Be brief.")
        .tools(tools![step])
        .build()
        .unwrap()
}

fn three_rounds() -> ScriptedModel {
    ScriptedModel::new([
        calls("step", json!({"n": 1})).with_usage(Usage::new(10, 20)),
        calls("step", json!({"n": 2})).with_usage(Usage::new(1, 2)),
        says("Two steps.").with_usage(Usage::new(100, 200)),
    ])
}

async fn events_of(agent: &ReactAgent, streaming: bool) -> Vec<AgentEvent> {
    let mut events = agent.run("Go.").streaming(streaming).stream();
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event.unwrap());
    }
    all
}

fn bodies(output: &RunOutput) -> Vec<String> {
    output
        .messages()
        .iter()
        .map(|message| format!("{:?}", message.body()))
        .collect()
}

// B3, ra.2
#[tokio::test]
async fn the_loop_runs_tools_until_the_model_answers() {
    let model = three_rounds();

    let output = agent(&model).run("Go.").await.unwrap();

    assert_eq!(output.text(), "Two steps.");
    assert_eq!(*output.outcome(), Outcome::Finished);
    let roles: Vec<Role> = output.messages().iter().map(Message::role).collect();
    use Role::{Assistant, Tool, User};
    assert_eq!(roles, [User, Assistant, Tool, Assistant, Tool, Assistant]);
    assert_eq!(model.requests().len(), 3);
}

// B8, E4
#[tokio::test]
async fn a_plain_run_a_streamed_run_and_the_fold_of_events_are_the_same() {
    let awaited = agent(&three_rounds()).run("Go.").await.unwrap();

    for streaming in [true, false] {
        let events = events_of(&agent(&three_rounds()), streaming).await;

        let numbers: Vec<u64> = events.iter().map(|event| event.sequence).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
        assert!(matches!(events[0].kind, EventKind::RunStarted { .. }));
        let EventKind::RunFinished(output) = &events[events.len() - 1].kind else {
            panic!()
        };
        assert_eq!(bodies(output), bodies(&awaited));
        assert_eq!(output.usage(), awaited.usage());
        assert_eq!(output.text(), awaited.text());
        let text: String = events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::TextDelta(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(text, "Two steps.");
    }
}

// B9, US-1
#[tokio::test]
async fn usage_is_summed_over_every_round() {
    let output = agent(&three_rounds()).run("Go.").await.unwrap();

    assert_eq!(output.usage(), Usage::new(111, 222));
}

// B4, LN-1
#[tokio::test]
async fn the_system_prompt_is_the_first_message_of_every_request_and_not_of_the_history() {
    let model = three_rounds();

    let output = agent(&model).run("Go.").await.unwrap();

    for request in model.requests() {
        let first = request.messages().next().unwrap();
        assert_eq!(
            (first.role(), first.text().as_str()),
            (Role::System, "Be brief.")
        );
    }
    assert_eq!(output.messages()[0].text(), "Go.");
}

// B4, RA-5, RA-6, ra.3
#[tokio::test]
async fn the_instruction_is_rendered_once_and_stands_once_before_the_input() {
    let model = ScriptedModel::new([says("Hei."), says("Ha det.")]);
    let agent = ReactAgent::builder("a", model)
        .instruction("Speak {language}; {} and { x } and {\"json\": 1} stay.")
        .build()
        .unwrap();

    let first = agent
        .run("Hi")
        .state("language", "Norwegian")
        .await
        .unwrap();
    let mut history = first.messages().to_vec();
    history.push(Message::user("Bye"));
    let second = agent
        .run(history)
        .state("language", "Norwegian")
        .await
        .unwrap();

    let instruction = "Speak Norwegian; {} and { x } and {\"json\": 1} stay.";
    assert_eq!(first.messages()[0].text(), instruction);
    assert_eq!(first.messages()[1].text(), "Hi");
    let copies = second
        .messages()
        .iter()
        .filter(|message| message.text() == instruction)
        .count();
    assert_eq!(copies, 1);
    assert_eq!(second.new_messages().len(), 2);
}

// B4
#[tokio::test]
async fn a_missing_value_of_the_instruction_is_named() {
    let agent = ReactAgent::builder("a", ScriptedModel::new([]))
        .instruction("Speak {language}.")
        .build()
        .unwrap();

    let error = agent.run("Hi").await.unwrap_err();

    let AgentError::Instruction(error) = error else {
        panic!("{error:?}")
    };
    assert_eq!(error.name, "language");
}

// B4
#[tokio::test]
async fn without_messages_the_key_input_is_asked_and_without_both_it_is_an_error() {
    let agent = agent(&ScriptedModel::new([says("Hi.")]));

    let output = agent.run(Vec::new()).state("input", "Hello").await.unwrap();
    let error = agent.run(Vec::new()).await.unwrap_err();

    assert_eq!(output.messages()[0].text(), "Hello");
    assert!(matches!(error, AgentError::NoInput), "{error:?}");
}

// B6, RA-8
#[tokio::test]
async fn the_answer_is_also_written_to_the_output_key() {
    let agent = ReactAgent::builder("a", ScriptedModel::new([says("42")]))
        .output_key("answer")
        .build()
        .unwrap();

    let output = agent.run("?").await.unwrap();

    assert_eq!(output.state().value("answer"), Some(&json!("42")));
    assert_eq!(output.parse::<u32>().unwrap(), 42);
}

// B7
#[tokio::test]
async fn options_of_a_run_come_over_those_of_the_agent() {
    let model = ScriptedModel::new([says("ok")]);
    let agent = ReactAgent::builder("a", model.clone())
        .options(ChatOptions::new().temperature(0.1).extra("top_k", 3))
        .build()
        .unwrap();

    agent
        .run("?")
        .options(ChatOptions::new().temperature(0.9))
        .await
        .unwrap();

    let options = model.requests()[0].options().clone();
    assert_eq!(options.temperature, Some(0.9));
    assert_eq!(options.extra["top_k"], 3);
}

// B7
#[tokio::test]
async fn tools_of_a_run_stand_in_front_and_win_over_the_agents() {
    #[tool(name = "step", register = false)]
    fn other_step() -> &'static str {
        "the run's"
    }
    #[tool(register = false)]
    fn extra() {}
    let model = ScriptedModel::new([calls("step", json!({})), says("ok")]);

    agent(&model)
        .run("?")
        .tools(tools![extra, other_step])
        .await
        .unwrap();

    let request = &model.requests()[1];
    let names: Vec<&str> = request
        .tools()
        .definitions()
        .iter()
        .map(|tool| tool.name())
        .collect();
    assert_eq!(names, ["extra", "step"]);
    assert_eq!(request.last_tool_result(), "the run's");
}

#[derive(Debug)]
struct Db {
    name: &'static str,
}

#[tool]
fn ask_db(db: Host<Db>) -> &'static str {
    db.name
}

// A5
#[tokio::test]
async fn a_missing_host_value_is_found_before_the_first_model_call() {
    let model = ScriptedModel::new([says("never")]);
    let agent = ReactAgent::builder("a", model.clone())
        .tools(tools![ask_db])
        .build()
        .unwrap();

    let error = agent.run("?").await.unwrap_err();

    assert!(error.to_string().contains("Db"), "{error}");
    assert!(model.requests().is_empty());
}

// A5
#[tokio::test]
async fn a_host_value_of_the_run_comes_over_the_agents() {
    let model = ScriptedModel::new([calls("ask_db", json!({})), says("ok")]);
    let agent = ReactAgent::builder("a", model.clone())
        .tools(tools![ask_db])
        .host(Db { name: "agent" })
        .build()
        .unwrap();

    agent.run("?").host(Db { name: "run" }).await.unwrap();

    assert_eq!(model.requests()[1].last_tool_result(), "run");
}

// B13, RA-10
#[tokio::test]
async fn a_model_error_is_the_runs_error_and_no_answer() {
    for streaming in [true, false] {
        let error = ModelError::new(ModelErrorKind::RateLimited, "too many requests");
        let agent = agent(&ScriptedModel::new([fails(error)]));

        let error = agent.run("?").streaming(streaming).await.unwrap_err();

        assert!(error.is_retryable());
        let AgentError::Model(error) = error else {
            panic!("{error:?}")
        };
        assert_eq!(error.kind(), ModelErrorKind::RateLimited);
    }
}

// B13
#[tokio::test]
async fn an_empty_answer_is_told_apart_and_loses_nothing() {
    let agent = agent(&ScriptedModel::new([
        calls("step", json!({"n": 1})),
        says(""),
    ]));

    let error = agent.run("?").await.unwrap_err();

    let AgentError::EmptyAnswer { output } = error else {
        panic!("{error:?}")
    };
    assert_eq!(output.messages().len(), 4);
}

#[tokio::test]
async fn a_thread_without_a_saver_is_refused_by_name() {
    let error = agent(&ScriptedModel::new([]))
        .run("?")
        .thread("t1")
        .await
        .unwrap_err();

    assert!(
        matches!(&error, AgentError::NoSaver { thread } if thread == "t1"),
        "{error:?}"
    );
}

#[tokio::test]
async fn an_input_that_pairs_no_results_is_refused() {
    let call = agent_core::message::ToolCall::new("c1", "step", "{}");
    let open = agent_core::message::AssistantMessage::new("", None, vec![call]);

    let error = agent(&ScriptedModel::new([]))
        .run(vec![
            Message::user("?"),
            open.into(),
            Message::user("well?"),
        ])
        .await
        .unwrap_err();

    assert!(matches!(error, AgentError::InvalidInput(_)), "{error:?}");
}

// C7, TN-14
#[tokio::test]
async fn open_calls_of_the_input_run_first_and_only_they() {
    let [one, two] = [1, 2].map(|n| {
        agent_core::message::ToolCall::new(format!("c{n}"), "step", json!({"n": n}).to_string())
    });
    let mut history = Transcript::new();
    history.push(Message::user("?")).unwrap();
    let asked = agent_core::message::AssistantMessage::new("", None, vec![one, two.clone()]);
    let done = agent_core::message::ToolResult::ok(&two, vec!["had".into()]);
    let model = ScriptedModel::new([says("ok")]);

    let output = agent(&model)
        .run(vec![
            Message::user("?"),
            asked.into(),
            Message::tool(vec![done]),
        ])
        .await
        .unwrap();

    let texts: Vec<String> = output.messages()[2]
        .tool_results()
        .iter()
        .map(|r| r.text())
        .collect();
    assert_eq!(texts, ["step 1", "had"]);
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn a_build_error_lists_every_fault() {
    let error = ReactAgent::builder(" ", ScriptedModel::new([]))
        .tools(tools![step])
        .tools(tools![step])
        .max_parallel_tools(0)
        .build()
        .unwrap_err();

    let faults = error.faults();
    assert!(matches!(faults[0], BuildFault::BlankName));
    assert!(matches!(
        faults[1],
        BuildFault::Zero {
            setting: "max_parallel_tools"
        }
    ));
    let BuildFault::Tools(duplicate) = &faults[2] else {
        panic!("{faults:?}")
    };
    // TS-12
    assert_eq!(
        duplicate.to_string().matches("react_agent.rs:").count(),
        2,
        "{duplicate}"
    );
}

// B3
#[test]
fn the_agents_graph_can_be_printed() {
    let graph = agent(&ScriptedModel::new([])).graph().clone();

    for name in ["model", "tools"] {
        assert!(graph.to_mermaid().contains(name));
        assert!(graph.to_dot().contains(name));
    }
}

fn endless() -> ScriptedModel {
    ScriptedModel::new((0..60).map(|n| calls("step", json!({"n": n}))))
}

fn limited(model: &ScriptedModel, limits: Limits) -> ReactAgent {
    ReactAgent::builder("a", model.clone())
        .tools(tools![step])
        .limits(limits)
        .build()
        .unwrap()
}

// C12, ex-24
#[tokio::test]
async fn a_limit_of_model_calls_stops_with_a_closed_history() {
    let model = endless();

    let output = limited(&model, Limits::new().model_calls(4))
        .run("?")
        .await
        .unwrap();

    assert_eq!(*output.outcome(), Outcome::LimitReached(Limit::ModelCalls));
    assert_eq!(model.requests().len(), 4);
    assert!(output.state().transcript().is_closed());
    assert_eq!(output.messages().len(), 9);
}

// C12, TM-5
#[tokio::test]
async fn by_default_forty_calls_of_one_tool_are_the_limit() {
    let output = limited(&endless(), Limits::new()).run("?").await.unwrap();

    assert_eq!(
        *output.outcome(),
        Outcome::LimitReached(Limit::ToolCallsOf("step".into()))
    );
    assert!(output.state().transcript().is_closed());
}

// C12, TM-7
#[tokio::test]
async fn over_a_limit_of_tool_calls_a_call_can_be_answered_with_an_error() {
    let model = ScriptedModel::new([
        calls("step", json!({"n": 1})).and_calls("step", json!({"n": 2})),
        says("One step."),
    ]);
    let limits = Limits::new().tool_calls(1).on_limit(OnLimit::ErrorResult);

    let output = limited(&model, limits).run("?").await.unwrap();

    assert_eq!(*output.outcome(), Outcome::Finished);
    assert!(model.requests()[1].last_tool_result().contains("limit"));
}

// C12
#[tokio::test]
async fn over_a_limit_the_model_can_answer_once_more_without_tools() {
    let model = ScriptedModel::new([
        calls("step", json!({"n": 1})),
        calls("step", json!({"n": 2})),
        says("So far: one step."),
    ]);
    let limits = Limits::new().tool_calls(1).on_limit(OnLimit::LastAnswer);

    let output = limited(&model, limits).run("?").await.unwrap();

    assert_eq!(*output.outcome(), Outcome::LimitReached(Limit::ToolCalls));
    assert_eq!(output.text(), "So far: one step.");
    assert!(model.requests()[2].tools().definitions().is_empty());
}
