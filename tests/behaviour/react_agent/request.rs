//! What the model is asked.

use agent_core::message::{AssistantMessage, MessageBody, MessageId, ToolCall};
use agent_core::model::scripted::says;
use agent_core::model::{ChatOptions, ScriptedModel};
use agent_core::{AgentError, Message, ReactAgent};
use agent_tests::runs::{offered, result_texts, texts};
use agent_tests::tools::answers;
use serde_json::json;

use super::{agent, calls_step};

// B4, RA-5, LN-1
#[tokio::test]
async fn the_system_prompt_is_the_first_message_of_every_request() {
    let model = ScriptedModel::new([calls_step(1), says("Done.")]);

    let run = agent(&model).system_prompt("Be brief.").build().unwrap();
    let run = run.run("Go").await.unwrap();

    let requests = model.requests();
    assert_eq!(texts(&requests[0]), ["Be brief.", "Go"]);
    assert_eq!(texts(&requests[1]), ["Be brief.", "Go", "", "1."]);
    assert_eq!(run.messages().len(), 4);
}

// B4, RA-6
#[tokio::test]
async fn the_instruction_is_rendered_once_in_front_of_the_input() {
    let model = ScriptedModel::new([calls_step(1), says("Done.")]);
    let template = r#"Speak {lang}, {n} words. {"a": {}} {not-one} {{lang}} {"#;

    let run = agent(&model).instruction(template).build().unwrap();
    run.run("Go")
        .state("lang", "Greek")
        .state("n", 3)
        .await
        .unwrap();

    let instruction = r#"Speak Greek, 3 words. {"a": {}} {not-one} {Greek} {"#;
    assert_eq!(texts(&model.requests()[0]), [instruction, "Go"]);
    assert_eq!(texts(&model.requests()[1])[..2], [instruction, "Go"]);
}

// B4
#[tokio::test]
async fn a_value_that_holds_a_name_is_not_rendered_again() {
    let model = ScriptedModel::new([says("Done.")]);

    let run = agent(&model).instruction("{a}").build().unwrap();
    run.run("Go")
        .state("a", "{b}")
        .state("b", "no")
        .await
        .unwrap();

    assert_eq!(texts(&model.requests()[0]), ["{b}", "Go"]);
}

// B4, RA-6
#[tokio::test]
async fn a_history_that_holds_the_instruction_gets_no_second_copy() {
    let model = ScriptedModel::new([says("One."), says("Two.")]);
    let agent = agent(&model).instruction("Speak {lang}.").build().unwrap();
    let first = agent.run("1").state("lang", "Greek").await.unwrap();
    let mut history = first.messages().to_vec();
    history.push(Message::user("2"));

    agent.run(history).state("lang", "Latin").await.unwrap();

    assert_eq!(
        texts(&model.requests()[1]),
        ["Speak Latin.", "1", "One.", "2"]
    );
}

// B4
#[tokio::test]
async fn the_instruction_does_not_come_between_calls_and_their_results() {
    let model = ScriptedModel::new([says("Done.")]);
    let calls = vec![ToolCall::new("c1", "now", "{}")];
    let body = MessageBody::Assistant(AssistantMessage::new("", None, calls));

    let agent = agent(&model).tools(answers("now", "noon"));
    let agent = agent.instruction("Be brief.").build().unwrap();
    agent.run(vec![Message::new(body)]).await.unwrap();

    assert_eq!(texts(&model.requests()[0]), ["Be brief.", "", "noon"]);
}

// B4
#[tokio::test]
async fn a_missing_value_of_the_instruction_is_an_error() {
    let model = ScriptedModel::new([says("Done.")]);

    let run = agent(&model).instruction("Speak {lang}.").build().unwrap();
    let error = run.run("Go").await.unwrap_err();

    assert!(
        matches!(&error, AgentError::Instruction(error) if error.name == "lang"),
        "{error:?}"
    );
    assert!(model.requests().is_empty());
}

// B4
#[tokio::test]
async fn without_messages_the_key_input_is_asked() {
    let model = ScriptedModel::new([says("Done.")]);

    let run = agent(&model).build().unwrap().run(Vec::<Message>::new());
    run.state("input", "From the state").await.unwrap();

    assert_eq!(texts(&model.requests()[0]), ["From the state"]);
}

// B4
#[tokio::test]
async fn without_messages_and_without_input_there_is_nothing_to_ask() {
    let model = ScriptedModel::new([says("Done.")]);

    let run = agent(&model).build().unwrap().run(Vec::<Message>::new());
    let error = run.await.unwrap_err();

    assert!(matches!(error, AgentError::NoInput), "{error:?}");
}

// B4, TN-1, tn.6
#[tokio::test]
async fn a_result_without_its_call_is_refused() {
    let model = ScriptedModel::new([says("Done.")]);
    let call = ToolCall::new("c1", "step", "{}");
    let result = agent_core::message::ToolResult::error(&call, "lost");
    let body = MessageBody::Tool(vec![result]);
    let lost = Message::with_id(MessageId::new("m"), body);

    let error = agent(&model).build().unwrap().run(lost).await.unwrap_err();

    assert!(matches!(error, AgentError::InvalidInput(_)), "{error:?}");
}

// B7
#[tokio::test]
async fn the_options_of_a_run_come_over_those_of_the_agent() {
    let model = ScriptedModel::new([says("Done.")]);
    let base = ChatOptions::new()
        .temperature(0.1)
        .seed(7)
        .extra("a", 1)
        .extra("b", 1);

    let run = agent(&model).options(base).build().unwrap().run("Go");
    run.options(ChatOptions::new().temperature(0.9).extra("b", 2))
        .await
        .unwrap();

    let expected = ChatOptions::new()
        .temperature(0.9)
        .seed(7)
        .extra("a", 1)
        .extra("b", 2);
    assert_eq!(model.requests()[0].options(), &expected);
}

// B7
#[tokio::test]
async fn tools_of_a_run_stand_in_front() {
    let model = ScriptedModel::new([says("Done.")]);

    let run = agent(&model).build().unwrap().run("Go");
    run.tools(answers("extra", "")).await.unwrap();

    assert_eq!(offered(&model.requests()[0]), ["extra", "step"]);
}

// B7, TN-11
#[tokio::test]
async fn a_tool_of_a_run_takes_the_place_of_one_of_its_name() {
    let model = ScriptedModel::new([calls_step(1), says("Done.")]);
    let agent = agent(&model).tools(answers("other", "")).build().unwrap();

    let run = agent
        .run("Go")
        .tools(answers("step", "the run's"))
        .await
        .unwrap();

    assert_eq!(result_texts(run.messages())[0].1, "the run's");
    assert_eq!(offered(&model.requests()[0]), ["step", "other"]);
}

// B7
#[tokio::test]
async fn the_model_reads_the_definition_of_the_tool_that_runs() {
    /// The run's own.
    #[agent_core::tool(name = "step", register = false)]
    async fn of_the_run(_n: u32) {}
    let model = ScriptedModel::new([says("Done.")]);

    let run = agent(&model).build().unwrap().run("Go");
    run.tools(agent_core::tools![of_the_run]).await.unwrap();

    let request = model.requests().remove(0);
    assert_eq!(
        request.tools().definitions()[0].description(),
        "The run's own."
    );
}

// B7
#[tokio::test]
async fn two_tools_of_one_name_in_a_run_are_refused() {
    let model = ScriptedModel::new([says("Done.")]);

    let run = agent(&model).build().unwrap().run("Go");
    let error = run
        .tools([answers("a", ""), answers("a", "")])
        .await
        .unwrap_err();

    assert!(matches!(error, AgentError::Tools(_)), "{error:?}");
}

#[tokio::test]
async fn a_repeated_call_id_in_one_turn_is_made_unique() {
    let turn = calls_step(1)
        .with_id("same")
        .and_calls("step", json!({"n": 2}))
        .with_id("same");
    let model = ScriptedModel::new([turn, says("Done.")]);

    let run = ReactAgent::builder("assistant", model).tools(super::step());
    let run = run.build().unwrap().run("Go").await.unwrap();

    let results = result_texts(run.messages());
    assert_eq!((&*results[0].1, &*results[1].1), ("1.", "2."));
    assert_ne!(results[0].0, results[1].0);
}
