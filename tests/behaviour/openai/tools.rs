//! How tools are sent, byte for byte.

use std::collections::HashMap;

use agent_core::agent::{Limits, OnLimit};
use agent_core::message::Transcript;
use agent_core::model::openai::Profile;
use agent_core::model::{
    Anthropic, ChatModel, ChatOptions, ChatRequest, ModelErrorKind, OpenAi, ToolChoice, ToolList,
};
use agent_core::schema::Dialect;
use agent_core::tool::InputSchema;
use agent_core::{Message, ReactAgent, ToolDefinition, tool, tools};
use agent_tests::replay::{Answer, ReplayServer};
use expect_test::expect;
use serde_json::{Value, json};

use super::client;

const ANSWER: &str = r#"{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}"#;
const CALL: &str = r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"find","arguments":"{\"text\":\"a\",\"limit\":null,\"depth\":null}"}}]},"finish_reason":"tool_calls"}]}"#;

/// Finds articles.
#[tool]
fn find(
    /// What to look for.
    text: &str,
    limit: Option<u8>,
    #[param(default = 2)] depth: u8,
) -> String {
    format!("{text} {limit:?} {depth}")
}

/// Sets labels.
#[tool]
fn label(tags: &HashMap<String, String>) -> usize {
    tags.len()
}

/// The body of a request with both tools in this dialect.
async fn body(dialect: Option<Dialect>) -> String {
    let server = ReplayServer::start([Answer::json(ANSWER)]).await;
    let model = match dialect {
        Some(dialect) => client(&server).dialect(dialect),
        None => client(&server),
    };
    let transcript = Transcript::from_messages([Message::user("Hi")]).unwrap();
    let tools = [find::DEFINITION, label::DEFINITION].map(Clone::clone);
    let options = ChatOptions::new()
        .tool_choice(ToolChoice::Named("find".to_owned()))
        .parallel_tool_calls(false);
    let request = ChatRequest::new(transcript)
        .unwrap()
        .with_tools(ToolList::new(tools))
        .with_options(options);
    model.build().unwrap().chat(request).await.unwrap();
    server.requests().remove(0).text()
}

#[tokio::test]
async fn tools_are_sent_with_the_choice_among_them() {
    expect![[r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"find","description":"Finds articles.","parameters":{"type":"object","properties":{"text":{"type":"string","description":"What to look for."},"limit":{"type":["integer","null"],"minimum":0,"maximum":255},"depth":{"type":"integer","minimum":0,"maximum":255,"default":2}},"required":["text"],"additionalProperties":false}}},{"type":"function","function":{"name":"label","description":"Sets labels.","parameters":{"type":"object","properties":{"tags":{"type":"object","additionalProperties":{"type":"string"}}},"required":["tags"],"additionalProperties":false}}}],"tool_choice":{"type":"function","function":{"name":"find"}},"parallel_tool_calls":false}"#]].assert_eq(&body(None).await);
}

#[tokio::test]
async fn a_server_that_heeds_no_choice_is_not_told_of_tools_it_must_not_call() {
    for (profile, choice, is_told) in [
        (Profile::Ollama, ToolChoice::None, false),
        (Profile::Ollama, ToolChoice::Auto, true),
        (Profile::Compatible, ToolChoice::None, true),
    ] {
        let server = ReplayServer::start([Answer::json(ANSWER)]).await;
        let model = client(&server).profile(profile).build().unwrap();
        let transcript = Transcript::from_messages([Message::user("Hi")]).unwrap();
        let request = ChatRequest::new(transcript)
            .unwrap()
            .with_tools(ToolList::new([find::DEFINITION.clone()]))
            .with_options(ChatOptions::new().tool_choice(choice));
        model.chat(request).await.unwrap();

        let body = server.requests().remove(0).text();
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(body.get("tools").is_some(), is_told, "{body}");
        assert_eq!(body.get("tool_choice").is_some(), is_told, "{body}");
    }
}

#[tokio::test]
async fn a_choice_that_a_server_refuses_is_left_out_and_told() {
    let server = ReplayServer::start([]).await;
    let model = client(&server).profile(Profile::Moonshot).build().unwrap();
    for (choice, sent, left_out) in [
        (ToolChoice::Required, Value::Null, &["tool_choice"][..]),
        (
            ToolChoice::Named("find".to_owned()),
            Value::Null,
            &["tool_choice"],
        ),
        (ToolChoice::None, "none".into(), &[]),
    ] {
        let options = ChatOptions::new().tool_choice(choice);
        let transcript = Transcript::from_messages([Message::user("Hi")]).unwrap();
        let request = ChatRequest::new(transcript)
            .unwrap()
            .with_tools(ToolList::new([find::DEFINITION.clone()]))
            .with_options(options.clone());

        let body: Value = serde_json::from_str(&model.request_text(&request)).unwrap();
        assert_eq!(body["tool_choice"], sent);
        assert!(body["tools"].is_array());
        assert_eq!(model.unsupported(&options, request.tools()), left_out);
    }
}

#[tokio::test]
async fn a_model_that_thinks_is_not_made_to_call_where_that_is_refused() {
    let thinking = |kind: &str| ("thinking", json!({"type": kind}));
    let named = json!({"type": "function", "function": {"name": "find"}});
    for (profile, extra, sent) in [
        (Profile::DeepSeek, None, Value::Null),
        (Profile::DeepSeek, Some(thinking("enabled")), Value::Null),
        (
            Profile::DeepSeek,
            Some(thinking("disabled")),
            "required".into(),
        ),
        (Profile::Qwen, None, named),
        (
            Profile::Qwen,
            Some(("enable_thinking", true.into())),
            Value::Null,
        ),
    ] {
        let mut options = ChatOptions::new().tool_choice(ToolChoice::Required);
        if let Some((field, value)) = extra {
            options = options.extra(field, value);
        }
        let model = OpenAi::builder()
            .model("m")
            .profile(profile)
            .build()
            .unwrap();
        let transcript = Transcript::from_messages([Message::user("Hi")]).unwrap();
        let request = ChatRequest::new(transcript)
            .unwrap()
            .with_tools(ToolList::new([find::DEFINITION.clone()]))
            .with_options(options.clone());

        let body: Value = serde_json::from_str(&model.request_text(&request)).unwrap();
        assert_eq!(body["tool_choice"], sent, "{profile}");
        let told = model.unsupported(&options, request.tools());
        assert_eq!(told.contains(&"tool_choice"), sent.is_null(), "{profile}");
    }
}

#[test]
fn a_choice_that_is_sent_in_other_words_is_not_told_as_left_out() {
    let called = |name: &str| json!({"type": "function", "function": {"name": name}});
    let named = || ToolChoice::Named("find".to_owned());
    for (profile, choice, tools, sent, is_told) in [
        (
            Profile::Qwen,
            ToolChoice::Required,
            1,
            called("find"),
            false,
        ),
        (Profile::Qwen, ToolChoice::Required, 2, Value::Null, true),
        (Profile::Qwen, named(), 2, called("find"), false),
        (Profile::LlamaCpp, named(), 1, "required".into(), false),
        (Profile::LlamaCpp, named(), 2, "required".into(), true),
        (
            Profile::LlamaCpp,
            ToolChoice::Required,
            2,
            "required".into(),
            false,
        ),
    ] {
        let input = InputSchema::from_value(json!({"type": "object"}));
        let other = ToolDefinition::new("other", "Another one.", input);
        let tools = [find::DEFINITION.clone(), other].into_iter().take(tools);
        let client = OpenAi::builder().model("m").profile(profile);
        let model = client.build().unwrap();
        let transcript = Transcript::from_messages([Message::user("Hi")]).unwrap();
        let options = ChatOptions::new().tool_choice(choice);
        let request = ChatRequest::new(transcript).unwrap();
        let request = request.with_tools(ToolList::new(tools));
        let request = request.with_options(options.clone());

        let body: Value = serde_json::from_str(&model.request_text(&request)).unwrap();
        assert_eq!(body["tool_choice"], sent, "{profile}");
        let told = model.unsupported(&options, request.tools());
        assert_eq!(told.contains(&"tool_choice"), is_told, "{profile}");
    }
}

// Some of its models are only streamed.
#[tokio::test]
async fn qwen_is_asked_for_a_stream_also_by_who_wants_none() {
    let chunk = r#"{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}"#;
    let server = ReplayServer::start([Answer::events(format!("data: {chunk}\n\n"))]).await;
    let model = client(&server).profile(Profile::Qwen).build().unwrap();
    let transcript = Transcript::from_messages([Message::user("Hi")]).unwrap();

    let response = model
        .chat(ChatRequest::new(transcript).unwrap())
        .await
        .unwrap();

    assert_eq!(response.message.text, "ok");
    let body: Value = serde_json::from_str(&server.requests()[0].text()).unwrap();
    assert_eq!(body["stream"], true);
}

#[tokio::test]
async fn a_tool_is_strict_only_where_it_can_be() {
    // sc-21, sc-22
    expect![[r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"find","description":"Finds articles.","parameters":{"type":"object","properties":{"text":{"type":"string","description":"What to look for."},"limit":{"type":["integer","null"],"minimum":0,"maximum":255},"depth":{"type":["integer","null"],"minimum":0,"maximum":255,"description":"(default 2)"}},"required":["text","limit","depth"],"additionalProperties":false},"strict":true}},{"type":"function","function":{"name":"label","description":"Sets labels.","parameters":{"type":"object","properties":{"tags":{"type":"object","additionalProperties":{"type":"string"}}},"required":["tags"],"additionalProperties":false}}}],"tool_choice":{"type":"function","function":{"name":"find"}},"parallel_tool_calls":false}"#]].assert_eq(&body(Some(Dialect::OpenAiStrict)).await);
}

#[tokio::test]
async fn null_for_what_is_not_required_is_none_or_the_default_and_the_tools_stay_the_same_bytes() {
    // E6: what was sent before the second turn is sent again, to the byte.
    let server = ReplayServer::start([Answer::json(CALL), Answer::json(ANSWER)]).await;
    let model = client(&server)
        .dialect(Dialect::OpenAiStrict)
        .build()
        .unwrap();
    let agent = ReactAgent::builder("a", model)
        .tools(tools![find, label])
        .streaming(false)
        .build()
        .unwrap();

    let output = agent.run("Hi").await.unwrap();

    assert_eq!(output.messages()[2].tool_results()[0].text(), "a None 2");
    let requests = server.requests();
    let [first, second] = [&requests[0], &requests[1]].map(|request| request.text());
    let tools = first.find("],\"tools\":").unwrap();
    assert!(second.ends_with(&first[tools..]));
    assert!(second.starts_with(&first[..tools]));
}

#[tokio::test]
async fn a_choice_of_a_tool_that_is_not_offered_is_told_before_anything_is_sent() {
    let named = ChatOptions::new().tool_choice(ToolChoice::Named("fnid".to_owned()));
    let history = Transcript::from_messages([Message::user("Hi")]).unwrap();
    let request = ChatRequest::new(history).unwrap().with_options(named);
    let openai = OpenAi::builder()
        .base_url("http://127.0.0.1:1/v1")
        .model("m");
    let anthropic = Anthropic::builder()
        .base_url("http://127.0.0.1:1")
        .model("m");
    let models: [&dyn ChatModel; 2] = [&openai.build().unwrap(), &anthropic.build().unwrap()];

    for model in models {
        let error = model.chat(request.clone()).await.unwrap_err();

        assert_eq!(error.kind(), ModelErrorKind::Configuration);
        assert_eq!(
            error.to_string(),
            "the tool choice is `fnid`, which is none of the tools on offer"
        );
    }
}

#[tokio::test]
async fn the_last_answer_at_a_limit_has_no_tools_and_no_choice_among_them() {
    let server = ReplayServer::start([Answer::json(CALL), Answer::json(ANSWER)]).await;
    let agent = ReactAgent::builder("assistant", client(&server).build().unwrap())
        .tools(tools![find])
        .options(ChatOptions::new().tool_choice(ToolChoice::Named("find".to_owned())))
        .limits(Limits::new().model_calls(2).on_limit(OnLimit::LastAnswer));

    let output = agent.build().unwrap().run("Hi").await.unwrap();
    assert_eq!(output.text(), "ok");
    let requests = server.requests();
    let has_choice = |at: usize| requests[at].text().contains("tool_choice");
    assert_eq!([0, 1].map(has_choice), [true, false]);
}
