//! Another model is asked where one failed, and reads only what it can.

use std::time::Duration;

use agent_core::agent::{ModelFallback, ModelRetry, OutputMode};
use agent_core::message::{OpaquePart, ToolCall};
use agent_core::model::scripted::{calls, fails, says};
use agent_core::model::{
    ChatModel, ChatOptions, ChatRequest, FinishReason, FunctionModel, ModelDelta, ModelError,
    ModelErrorKind, ScriptedModel,
};
use agent_core::{AgentError, BoxStream, Message, ReactAgent};
use agent_tests::runs::{events, offered, output};
use agent_tests::tools::answers;
use futures_util::stream;
use serde_json::json;

use super::{retries, shown};

/// A model of this provider.
struct Of<M>(&'static str, M);

impl<M: ChatModel> ChatModel for Of<M> {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        self.1.stream(request)
    }

    fn provider(&self) -> &str {
        self.0
    }
}

fn down() -> ModelError {
    ModelError::new(ModelErrorKind::Transport, "the connection broke")
}

// B13
#[tokio::test]
async fn the_next_model_answers_what_the_first_could_not() {
    let first = ScriptedModel::new([fails(down()).and_says("Hal")]);
    let second = ScriptedModel::new([fails(down()).and_says("Hel")]);
    let third = ScriptedModel::new([says("Hello.")]);
    let fallback = ModelFallback::to(second.clone()).then(third.clone());
    let agent = ReactAgent::builder("assistant", first)
        .tools(answers("look", "nothing"))
        .system_prompt("Be brief.")
        .model_interceptor(fallback)
        .build()
        .unwrap();

    let (events, error) = events(agent.run("Hi").stream()).await;
    assert!(error.is_none());
    assert_eq!(output(&events).text(), "Hello.");
    assert_eq!(shown(&events), "Hello.");
    assert_eq!(retries(&events), 2);
    let asked = &third.requests()[0];
    assert_eq!(offered(asked), ["look"]);
    let texts: Vec<String> = asked.messages().map(Message::text).collect();
    assert_eq!(texts, ["Be brief.", "Hi"]);
}

#[tokio::test]
async fn when_all_fail_the_last_error_is_the_runs() {
    let full = ModelError::new(ModelErrorKind::RateLimited, "slow down");
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([fails(down())]))
        .model_interceptor(ModelFallback::to(ScriptedModel::new([fails(full)])))
        .build()
        .unwrap();

    let Err(AgentError::Model { source, .. }) = agent.run("Hi").await else {
        panic!("the run gave no error of the model");
    };
    assert_eq!(source.kind(), ModelErrorKind::RateLimited);
}

#[tokio::test]
async fn a_form_is_told_in_words_to_a_model_that_is_not_held_to_it() {
    let second = ScriptedModel::new([says(r#"{"snow":true}"#)]);
    let schema = json!({"type": "object", "properties": {"snow": {"type": "boolean"}}});
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([fails(down())]))
        .system_prompt("Be brief.")
        .output_schema(schema)
        .output_mode(OutputMode::Native)
        .model_interceptor(ModelFallback::to(second.clone()))
        .build()
        .unwrap();

    agent.run("Oslo?").await.unwrap();

    let asked = &second.requests()[0];
    let system = asked.messages().next().unwrap().text();
    assert!(
        system.starts_with("Be brief.\n\nAnswer with JSON only"),
        "{system}"
    );
    assert!(system.contains(r#""snow""#), "{system}");
    assert_eq!(asked.messages().count(), 2);
}

#[tokio::test]
async fn a_providers_own_settings_stay_with_it() {
    let second = ScriptedModel::new([says("Hello.")]);
    let own = ChatOptions::new().seed(7).extra("only_second", true);
    let options = ChatOptions::new()
        .model("first-1")
        .extra("only_first", true)
        .temperature(0.5)
        .max_output_tokens(100);
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([fails(down())]))
        .options(options)
        .model_interceptor(ModelFallback::to(second.clone().with_options(own)))
        .build()
        .unwrap();

    agent.run("Hi").await.unwrap();
    let expected = ChatOptions::new()
        .temperature(0.5)
        .max_output_tokens(100)
        .seed(7)
        .extra("only_second", true);
    assert_eq!(second.requests()[0].options(), &expected);
}

#[tokio::test]
async fn the_reasoning_of_one_provider_is_not_sent_to_another() {
    let look = || calls("look", json!({})).and_says("Let me see.");
    let first = ScriptedModel::new([
        look().with_id("a").reasons("first thinks"),
        fails(down()),
        says("Nothing."),
    ]);
    let second = ScriptedModel::new([look().with_id("b").reasons("second thinks")]);
    let agent = ReactAgent::builder("assistant", Of("one", first.clone()))
        .tools(answers("look", "nothing"))
        .model_interceptor(ModelFallback::to(Of("two", second.clone())))
        .build()
        .unwrap();

    let run = agent.run("Look twice.").await.unwrap();
    let reasoning = |messages: &mut dyn Iterator<Item = &Message>| -> Vec<Option<String>> {
        let answers = messages.filter_map(Message::as_assistant);
        answers.map(|answer| answer.reasoning.clone()).collect()
    };
    assert_eq!(reasoning(&mut second.requests()[0].messages()), [None]);
    let third = &first.requests()[2];
    assert_eq!(
        reasoning(&mut third.messages()),
        [Some("first thinks".to_owned()), None]
    );
    // Nothing is lost of what is kept, and every call has its result.
    let kept = [
        Some("first thinks".to_owned()),
        Some("second thinks".to_owned()),
        None,
    ];
    assert_eq!(reasoning(&mut run.messages().iter()), kept);
    let ids: Vec<&str> = third
        .messages()
        .flat_map(Message::tool_results)
        .map(|it| it.call_id())
        .collect();
    assert_eq!(ids, ["a", "b"]);
}

#[tokio::test]
async fn what_one_provider_signed_is_not_sent_to_another() {
    let first = FunctionModel::streaming(|request: ChatRequest| {
        stream::iter(match request.last_tool_result().is_empty() {
            false => vec![Err(down())],
            true => vec![
                Ok(ModelDelta::Opaque(OpaquePart::new(
                    "one",
                    r#"{"signature":"x"}"#,
                ))),
                Ok(ModelDelta::ToolCall(ToolCall::new("a", "look", "{}"))),
                Ok(ModelDelta::Finished(FinishReason::ToolCalls)),
            ],
        })
    });
    let second = ScriptedModel::new([says("Nothing.")]);
    let agent = ReactAgent::builder("assistant", Of("one", first))
        .tools(answers("look", "nothing"))
        .model_interceptor(ModelFallback::to(Of("two", second.clone())))
        .build()
        .unwrap();

    let run = agent.run("Look.").await.unwrap();
    let parts = |message: &Message| message.as_assistant().map_or(0, |it| it.opaque.len());
    assert_eq!(second.requests()[0].messages().map(parts).sum::<usize>(), 0);
    assert_eq!(run.messages().iter().map(parts).sum::<usize>(), 1);
}

#[tokio::test]
async fn the_next_turn_begins_with_the_agents_own_model() {
    let first = ScriptedModel::new([fails(down()), says("Nothing.")]);
    let second = ScriptedModel::new([calls("look", json!({}))]);
    let agent = ReactAgent::builder("assistant", first.clone())
        .tools(answers("look", "nothing"))
        .model_interceptor(ModelFallback::to(second))
        .build()
        .unwrap();

    assert_eq!(agent.run("Look.").await.unwrap().text(), "Nothing.");
    assert_eq!(first.requests().len(), 2);
}

#[tokio::test]
async fn a_test_that_may_not_ask_a_real_model_asks_no_other_either() {
    let forbidden = ModelError::new(ModelErrorKind::RequestsForbidden, "not here");
    let second = ScriptedModel::new([says("Hello.")]);
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([fails(forbidden)]))
        .model_interceptor(ModelFallback::to(second.clone()))
        .build()
        .unwrap();

    assert!(agent.run("Hi").await.is_err());
    assert!(second.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn each_model_is_tried_again_before_the_next_one_is_asked() {
    let first = ScriptedModel::new([fails(down()), fails(down())]);
    let second = ScriptedModel::new([fails(down()), says("Hello.")]);
    let agent = ReactAgent::builder("assistant", first.clone())
        .model_interceptor(ModelFallback::to(second))
        .model_interceptor(
            ModelRetry::new()
                .attempts(2)
                .min_delay(Duration::from_secs(1)),
        )
        .build()
        .unwrap();

    assert_eq!(agent.run("Hi").await.unwrap().text(), "Hello.");
    assert_eq!(first.turns_left(), 0);
}
