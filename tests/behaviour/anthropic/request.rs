//! What is sent.

use agent_core::message::{
    AssistantMessage, ContentPart, Image, OpaquePart, ToolCall, ToolResult, Transcript,
};
use agent_core::model::anthropic::{AnthropicBuilder, PromptCaching};
use agent_core::model::{
    Anthropic, ChatModel as _, ChatOptions, ChatRequest, OutputSchema, ResponseFormat, ToolChoice,
    ToolList,
};
use agent_core::schema::Dialect;
use agent_core::tool::InputSchema;
use agent_core::{Message, ToolDefinition};
use agent_tests::replay::{Answer, ReplayServer};
use expect_test::expect;
use serde_json::{Value, json};

use super::{ask, client, thoughtful};

const ANSWER: &str =
    r#"{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}"#;

fn request(messages: impl IntoIterator<Item = Message>) -> ChatRequest {
    ChatRequest::new(Transcript::from_messages(messages).unwrap()).unwrap()
}

/// The text of the body of one request.
async fn text_of(
    request: ChatRequest,
    set: impl FnOnce(AnthropicBuilder) -> AnthropicBuilder,
) -> String {
    let server = ReplayServer::start([Answer::json(ANSWER)]).await;
    let model = set(client(&server)).build().unwrap();
    model.chat(request).await.unwrap();
    let recorded = server.requests().remove(0);
    let length = recorded.body.len().to_string();
    assert_eq!(recorded.header("content-length"), length);
    recorded.text()
}

async fn sent(request: ChatRequest) -> Value {
    serde_json::from_str(&text_of(request, |client| client).await).unwrap()
}

/// The messages, one in a line.
fn lines(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.map(|message| format!("{message}\n")).collect()
}

fn weather() -> ToolDefinition {
    let schema = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    ToolDefinition::new(
        "weather",
        "Get the weather.",
        InputSchema::from_value(schema),
    )
}

fn picture(kind: &str) -> ContentPart {
    Image::new(kind, *b"\x89PNG").into()
}

// hp-01, hp-11, hp-19, hp-21, hp-23
#[tokio::test]
async fn a_history_is_written_as_the_api_wants_it() {
    let cut = ToolCall::new("c2", "screen", r#"{"p":"a"#);
    let mut answer = thoughtful();
    answer.tool_calls.push(cut.clone());
    let results = vec![
        ToolResult::ok(
            &answer.tool_calls[0],
            vec!["-3".into(), picture("image/png")],
        ),
        ToolResult::error(&cut, "the arguments are truncated"),
    ];
    let messages = [
        Message::user("Is Oslo cold?"),
        answer.into(),
        Message::tool(results),
        Message::user_parts(vec![
            "And this?".into(),
            picture("image/png"),
            picture("image/tiff"),
        ]),
    ];

    let body = sent(request(messages).with_system(Some(Message::system("Be brief.")))).await;

    expect![[r#"
        {"role":"user","content":[{"type":"text","text":"Is Oslo cold?"}]}
        {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},{"type":"text","text":"I look."},{"type":"redacted_thinking","data":"ZGF0YQ=="},{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city":"Oslo"}},{"type":"tool_use","id":"c2","name":"screen","input":{"invalid_arguments":"{\"p\":\"a"}}]}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"-3"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw=="}}]},{"type":"tool_result","tool_use_id":"c2","content":"the arguments are truncated","is_error":true},{"type":"text","text":"And this?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw=="}},{"type":"text","text":"(a picture of the type image/tiff, which cannot be shown)"}]}
    "#]].assert_eq(&lines(&body));
    assert_eq!(
        body["system"],
        json!([{"type": "text", "text": "Be brief."}])
    );
    assert_eq!(body["max_tokens"], 8192);
}

// hp-08, hp-09, hp-10
#[tokio::test]
async fn nothing_empty_is_sent() {
    let call = ToolCall::new("c1", "touch", "{}");
    let messages = [
        Message::user("a"),
        Message::assistant(""),
        Message::user(" \n"),
        Message::user("b"),
        AssistantMessage::new("", None, vec![call.clone()]).into(),
        Message::tool(vec![ToolResult::ok(&call, vec!["".into()])]),
    ];
    let stored = Transcript::from_messages(messages.clone()).unwrap();

    let body = sent(request(messages)).await;

    expect![[r#"
        {"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}
        {"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"touch","input":{}}]}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"(no output)"}]}
    "#]].assert_eq(&lines(&body));
    assert_eq!(stored.last().unwrap().text(), "");
}

// hp-15
#[tokio::test]
async fn a_system_message_in_the_middle_is_a_word_of_the_user() {
    let messages = [
        Message::system("S1"),
        Message::user("a"),
        Message::assistant("b"),
        Message::system("S2"),
        Message::user("c"),
    ];

    let body = sent(request(messages)).await;

    assert_eq!(body["system"], json!([{"type": "text", "text": "S1"}]));
    expect![[r#"
        {"role":"user","content":[{"type":"text","text":"a"}]}
        {"role":"assistant","content":[{"type":"text","text":"b"}]}
        {"role":"user","content":[{"type":"text","text":"S2"},{"type":"text","text":"c"}]}
    "#]]
    .assert_eq(&lines(&body));
}

#[tokio::test]
async fn the_user_begins_and_ends() {
    let body = sent(request([Message::assistant("Hello.")])).await;

    expect![[r#"
        {"role":"user","content":[{"type":"text","text":"Go on."}]}
        {"role":"assistant","content":[{"type":"text","text":"Hello."}]}
        {"role":"user","content":[{"type":"text","text":"Go on."}]}
    "#]]
    .assert_eq(&lines(&body));
    let empty = sent(request([])).await;
    assert_eq!(empty["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn ids_and_names_that_are_refused_are_sent_as_others_and_still_pair() {
    let odd = ToolCall::new("functions.add:0", "functions.add", "{}");
    let answer = |call: &ToolCall| -> [Message; 2] {
        [
            AssistantMessage::new("", None, vec![call.clone()]).into(),
            Message::tool(vec![ToolResult::ok(call, vec!["1".into()])]),
        ]
    };
    let again = ToolCall::new("c", "add", "{}");
    let messages = [Message::user("q")]
        .into_iter()
        .chain(answer(&odd))
        .chain(answer(&again))
        .chain(answer(&again))
        .chain(answer(&ToolCall::new("c_3", "add", "{}")));

    let body = sent(request(messages)).await;

    expect![[r#"
        {"role":"user","content":[{"type":"text","text":"q"}]}
        {"role":"assistant","content":[{"type":"tool_use","id":"functions_add_0_0281487c23866cd1","name":"functions_add","input":{}}]}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_add_0_0281487c23866cd1","content":"1"}]}
        {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"add","input":{}}]}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"1"}]}
        {"role":"assistant","content":[{"type":"tool_use","id":"c_3","name":"add","input":{}}]}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c_3","content":"1"}]}
        {"role":"assistant","content":[{"type":"tool_use","id":"c_3_7","name":"add","input":{}}]}
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"c_3_7","content":"1"}]}
    "#]].assert_eq(&lines(&body));
}

#[tokio::test]
async fn what_another_provider_or_nobody_signed_is_not_sent() {
    let mut answer = thoughtful();
    answer.opaque[0].provider = "other".into();
    answer.tool_calls.clear();
    answer.opaque.push(
        OpaquePart::new(
            "anthropic",
            r#"{"type":"thinking","thinking":"z","signature":"s"}"#,
        )
        .after(7, 0),
    );

    let body = sent(request([
        Message::user("q"),
        answer.into(),
        Message::user("r"),
    ]))
    .await;

    // Nor does an answer end with its thinking.
    expect![[r#"
        {"role":"user","content":[{"type":"text","text":"q"}]}
        {"role":"assistant","content":[{"type":"text","text":"I look."}]}
        {"role":"user","content":[{"type":"text","text":"r"}]}
    "#]]
    .assert_eq(&lines(&body));
}

#[tokio::test]
async fn thoughts_that_are_not_a_claudes_go_to_no_claude() {
    for (model, is_taken) in [("claude-opus-4-5", true), ("deepseek-v4", false)] {
        let block = r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#;
        let text = r#"{"type":"text","text":"I look."}"#;
        let plain = format!(r#"{{"id":"m","model":"{model}","content":[{block},{text}]}}"#);
        let outcome = ask(Answer::json(plain), false).await;
        let answer = outcome.result.unwrap().message;
        assert_eq!(answer.opaque.len(), 1, "{model}");
        let request = request([Message::user("q"), answer.into(), Message::user("r")]);

        let original = Anthropic::builder().model("claude-opus-4-5");
        let other = original.clone().base_url("http://h.test");
        let [original, other] = [original, other].map(|client| {
            let text = client.build().unwrap().request_text(&request);
            text.contains(r#""signature":"c2ln""#)
        });
        assert_eq!((original, other), (is_taken, true), "{model}");
    }
}

#[test]
fn thoughts_that_lost_their_place_are_dropped_and_not_refused() {
    let text = |model: &str, header: Option<&str>, thinking: Option<Value>| {
        let mut client = Anthropic::builder().model(model);
        if let Some(beta) = header {
            client = client
                .base_url("http://h.test")
                .header("Anthropic-Beta", beta);
        }
        let options = thinking.map_or_else(ChatOptions::new, |it| {
            ChatOptions::new().extra("thinking", it)
        });
        let request = request([Message::user("q")]).with_options(options);
        let text = client.build().unwrap().request_text(&request);
        let body: Value = serde_json::from_str(&text).unwrap();
        body["thinking"].to_string()
    };
    let dropped =
        r#"{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}"#;
    let beta = Some("a, thinking-binding-controls-2026-08-01");

    assert_eq!(text("claude-opus-5-5", None, None), dropped);
    assert_eq!(text("claude-fable-5-1", beta, None), dropped);
    // Who does not know the setting refuses the request.
    assert_eq!(text("claude-opus-5-5", Some("a"), None), "null");
    assert_eq!(text("claude-opus-5", None, None), "null");
    // The model that is asked decides, not that of the client.
    let client = Anthropic::builder().model("claude-opus-5").build().unwrap();
    let asked = ChatOptions::new().model("claude-opus-5-5");
    let body = client.request_text(&request([Message::user("q")]).with_options(asked));
    assert!(body.contains(dropped), "{body}");
    // What the user says about it stands.
    for own in [
        json!({"type": "between_tools"}),
        json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "error"}}),
    ] {
        assert_eq!(
            text("claude-sonnet-5-5", None, Some(own.clone())),
            own.to_string()
        );
    }
}

#[tokio::test]
async fn a_block_is_no_thought_because_it_holds_the_word() {
    let found =
        r#"{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"title":"thinking"}]}"#;
    let broken = r#"{"type":"thinking","#;
    let parts = [found, broken].map(|json| OpaquePart::new("anthropic", json));
    let answer = AssistantMessage::new("", None, Vec::new()).with_opaque(parts.to_vec());

    let body = sent(request([
        Message::user("q"),
        answer.into(),
        Message::user("r"),
    ]))
    .await;

    let found: Value = serde_json::from_str(found).unwrap();
    assert_eq!(body["messages"][1]["content"], json!([found]));
}

#[tokio::test]
async fn options_are_written_in_the_words_of_the_api() {
    let options = ChatOptions::new()
        .temperature(0.5)
        .max_output_tokens(64)
        .stop(["END", " "])
        .seed(7)
        .tool_choice(ToolChoice::Required)
        .parallel_tool_calls(false)
        .extra("metadata", json!({"user_id": "u"}))
        .extra("messages", "never");
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let request = request([Message::user("q")])
        .with_tools(ToolList::new([weather()]))
        .with_response_format(Some(ResponseFormat::JsonSchema(OutputSchema::new(
            "o", schema,
        ))))
        .with_options(options.clone());

    let text = text_of(request, |client| client.dialect(Dialect::AnthropicStrict)).await;

    expect![[r#"{"model":"m","max_tokens":64,"tools":[{"name":"weather","description":"Get the weather.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false},"strict":true}],"messages":[{"role":"user","content":[{"type":"text","text":"q"}]}],"temperature":0.5,"stop_sequences":["END"],"tool_choice":{"type":"any","disable_parallel_tool_use":true},"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{},"required":[],"additionalProperties":false}}},"metadata":{"user_id":"u"}}"#]].assert_eq(&text);
    let server = ReplayServer::start([]).await;
    let model = client(&server).build().unwrap();
    assert_eq!(
        model.unsupported(&options, &ToolList::default()),
        ["seed", "stop"]
    );
}

#[tokio::test]
async fn a_model_that_thinks_is_not_made_to_call_a_tool_nor_given_a_temperature() {
    // "Thinking may not be enabled when tool_choice forces tool use."
    let asked = |thinking: &str, choice: ToolChoice| {
        ChatOptions::new()
            .temperature(0.5)
            .tool_choice(choice)
            .extra("thinking", json!({"type": thinking}))
    };
    let server = ReplayServer::start([]).await;
    let model = client(&server).build().unwrap();
    for (options, choice, temperature, left_out) in [
        (
            asked("adaptive", ToolChoice::Required),
            Value::Null,
            Value::Null,
            vec!["tool_choice", "temperature"],
        ),
        (
            asked("enabled", ToolChoice::Named("weather".to_owned())).parallel_tool_calls(false),
            json!({"type": "auto", "disable_parallel_tool_use": true}),
            Value::Null,
            vec!["tool_choice", "temperature"],
        ),
        (
            asked("enabled", ToolChoice::Auto),
            json!({"type": "auto"}),
            Value::Null,
            vec!["temperature"],
        ),
        (
            asked("disabled", ToolChoice::Required),
            json!({"type": "any"}),
            json!(0.5),
            vec![],
        ),
    ] {
        assert_eq!(model.unsupported(&options, &ToolList::default()), left_out);
        let request = request([Message::user("q")])
            .with_tools(ToolList::new([weather()]))
            .with_options(options);
        let body: Value = serde_json::from_str(&model.request_text(&request)).unwrap();
        assert_eq!(body["tool_choice"], choice);
        assert_eq!(body["temperature"], temperature);
    }
}

#[tokio::test]
async fn claude_gets_no_setting_that_it_refuses_beside_another() {
    let thinking = |budget: u32| json!({"type": "enabled", "budget_tokens": budget});
    let server = ReplayServer::start([]).await;
    let claude = client(&server).model("claude-sonnet-4-5").build().unwrap();
    let other = client(&server).model("glm").build().unwrap();
    let both = ChatOptions::new().temperature(0.5).top_p(0.9);
    let thinks = ChatOptions::new().extra("thinking", thinking(16_000));
    let body = |model: &Anthropic, options: &ChatOptions| -> Value {
        let request = request([Message::user("q")]).with_options(options.clone());
        serde_json::from_str(&model.request_text(&request)).unwrap()
    };

    let sent = body(&claude, &both);
    assert_eq!(
        (&sent["temperature"], sent.get("top_p")),
        (&json!(0.5), None)
    );
    assert_eq!(claude.unsupported(&both, &ToolList::default()), ["top_p"]);
    assert_eq!(body(&other, &both)["top_p"], 0.9);
    assert!(other.unsupported(&both, &ToolList::default()).is_empty());
    assert_eq!(body(&claude, &ChatOptions::new().top_p(0.9))["top_p"], 0.9);

    assert_eq!(
        claude.unsupported(&thinks.clone().top_p(0.9), &ToolList::default()),
        ["top_p"]
    );
    assert_eq!(body(&claude, &thinks.clone().top_p(0.97))["top_p"], 0.97);

    // A newer Claude thinks unasked, within the most tokens of an answer.
    let newer = Anthropic::builder().model("claude-sonnet-5");
    let few = newer.clone().max_output_tokens(100).build().unwrap();
    assert_eq!(
        body(&newer.build().unwrap(), &ChatOptions::new())["max_tokens"],
        20_480
    );
    assert_eq!(body(&few, &ChatOptions::new())["max_tokens"], 100);

    // The budget is part of the most tokens of an answer.
    assert_eq!(body(&claude, &thinks)["max_tokens"], 16_000 + 8192);
    let fits = ChatOptions::new().extra("thinking", thinking(2000));
    assert_eq!(body(&claude, &fits)["max_tokens"], 8192);
    let named = thinks.max_output_tokens(20_000);
    assert_eq!(body(&claude, &named)["max_tokens"], 20_000);
}

#[tokio::test]
async fn thoughts_that_nobody_signed_go_back_to_servers_that_sign_none() {
    let answer = r#"{"content":[{"type":"thinking","thinking":"Hm"},{"type":"tool_use","id":"t1","name":"weather","input":{}}],"stop_reason":"tool_use"}"#;
    let server = ReplayServer::start([Answer::json(answer)]).await;
    let other = client(&server).build().unwrap();
    let original = Anthropic::builder().model("m").build().unwrap();
    let said = other
        .chat(request([Message::user("q")]))
        .await
        .unwrap()
        .message;
    let results = said
        .tool_calls
        .iter()
        .map(|call| ToolResult::ok(call, vec!["4 °C".into()]));
    let results = Message::tool(results.collect());
    let request = request([Message::user("q"), said.into(), results]);

    let first = |model: &Anthropic| -> Value {
        let body: Value = serde_json::from_str(&model.request_text(&request)).unwrap();
        body["messages"][1]["content"][0].clone()
    };

    assert_eq!(first(&other), json!({"type": "thinking", "thinking": "Hm"}));
    assert_eq!(first(&original)["type"], "tool_use");
    assert_eq!(first(&other)["type"], "thinking");
}

#[tokio::test]
async fn a_claude_gets_no_setting_that_its_version_refuses() {
    let options = ChatOptions::new()
        .temperature(0.5)
        .tool_choice(ToolChoice::Required);
    for (name, unsupported) in [
        ("claude-opus-4-6", &[][..]),
        ("claude-opus-4-7", &["temperature"]),
        ("claude-sonnet-5", &["temperature"]),
        ("claude-sonnet-5-5", &["tool_choice", "temperature"]),
        (
            "eu.anthropic.claude-fable-5",
            &["tool_choice", "temperature"],
        ),
    ] {
        let server = ReplayServer::start([]).await;
        let model = client(&server).model(name).build().unwrap();
        let request = request([Message::user("q")])
            .with_tools(ToolList::new([weather()]))
            .with_options(options.clone());
        let body: Value = serde_json::from_str(&model.request_text(&request)).unwrap();

        assert_eq!(
            model.unsupported(&options, &ToolList::default()),
            unsupported,
            "{name}"
        );
        for field in ["temperature", "tool_choice"] {
            let is_sent = body.get(field).is_some();
            assert_eq!(is_sent, !unsupported.contains(&field), "{name}: {field}");
        }
    }
}

#[tokio::test]
async fn effort_stands_beside_the_form_of_the_answer() {
    let form = OutputSchema::new("o", json!({"type": "object"}));
    let request = request([Message::user("q")])
        .with_response_format(Some(ResponseFormat::JsonSchema(form)))
        .with_options(ChatOptions::new().extra("output_config", json!({"effort": "low"})));

    let body: Value = serde_json::from_str(&text_of(request, |client| client).await).unwrap();

    assert_eq!(body["output_config"]["effort"], "low");
    assert_eq!(body["output_config"]["format"]["type"], "json_schema");
}

#[tokio::test]
async fn a_turn_that_another_model_began_is_ended_without_thinking() {
    let call = |id: &str| ToolCall::new(id, "weather", r#"{"city":"Oslo"}"#);
    let result = |id: &str| Message::tool(vec![ToolResult::ok(&call(id), vec!["4 °C".into()])]);
    let foreign = AssistantMessage::new("", None, vec![call("c1")]);
    let answered = AssistantMessage::new("It is cold.", None, vec![]);
    let server = ReplayServer::start([]).await;
    let model = client(&server).build().unwrap();
    let thinking = json!({"type": "enabled", "budget_tokens": 1024});
    let adaptive = json!({"type": "adaptive"});
    let own = || Message::from(thoughtful());
    let own_results = || {
        let calls = thoughtful().tool_calls;
        let results = calls.iter().map(|call| ToolResult::error(call, "no"));
        Message::tool(results.collect())
    };
    let begun = || vec![Message::user("q"), foreign.clone().into(), result("c1")];
    let and = |mut messages: Vec<Message>, more: Vec<Message>| {
        messages.extend(more);
        messages
    };
    for (messages, asked, is_sent) in [
        (begun(), &thinking, false),
        (and(begun(), vec![Message::user("And?")]), &thinking, false),
        (begun(), &adaptive, true),
        (and(begun(), vec![own(), own_results()]), &thinking, true),
        (
            and(begun(), vec![answered.into(), Message::user("And?")]),
            &thinking,
            true,
        ),
    ] {
        let options = ChatOptions::new().extra("thinking", asked.clone());
        let request = request(messages).with_options(options);
        let body: Value = serde_json::from_str(&model.request_text(&request)).unwrap();
        assert_eq!(body.get("thinking"), is_sent.then_some(asked), "{body}");
    }
}

#[tokio::test]
async fn a_picture_has_its_registered_type() {
    let picture = ContentPart::Image(Image::new("IMAGE/JPG", *b"p"));

    let body = sent(request([Message::user_parts(vec![picture])])).await;

    let source = &body["messages"][0]["content"][0]["source"];
    assert_eq!(source["media_type"], "image/jpeg");
}

#[test]
fn the_path_is_put_behind_the_version_whatever_follows_it() {
    for (base, url) in [
        ("https://h.test", "https://h.test/v1/messages"),
        ("https://h.test/v1//", "https://h.test/v1/messages"),
        ("https://h.test/v1?key=k", "https://h.test/v1/messages?***"),
        (
            "https://h.test/api/?key=k",
            "https://h.test/api/v1/messages?***",
        ),
    ] {
        let model = Anthropic::builder().model("m").base_url(base).build();
        assert_eq!(model.unwrap().url(), url);
    }
}

#[tokio::test]
async fn headers_are_sent_and_are_secrets() {
    let server = ReplayServer::start([Answer::json(ANSWER)]).await;
    let builder = client(&server).headers([("x-team", "blue-team"), ("anthropic-beta", "b-1")]);
    assert!(!format!("{builder:?}").contains("blue-team"));
    let model = builder.build().unwrap();

    model.chat(request([Message::user("q")])).await.unwrap();

    let recorded = server.requests().remove(0);
    assert_eq!(recorded.header("x-team"), "blue-team");
    assert_eq!(recorded.header("anthropic-beta"), "b-1");
}

#[tokio::test]
async fn a_header_that_is_given_twice_is_sent_twice_and_over_the_clients_own() {
    let server = ReplayServer::start([Answer::json(ANSWER)]).await;
    let model = client(&server)
        .header("anthropic-beta", "b-1")
        .header("Anthropic-Beta", "b-2")
        .header("anthropic-version", "2030-01-01")
        .build()
        .unwrap();

    model.chat(request([Message::user("q")])).await.unwrap();

    let recorded = server.requests().remove(0);
    let sent: Vec<&str> = recorded.headers("anthropic-beta").collect();
    assert_eq!(sent, ["b-1", "b-2"]);
    let sent: Vec<&str> = recorded.headers("anthropic-version").collect();
    assert_eq!(sent, ["2030-01-01"]);
}

// E6
#[tokio::test]
async fn a_later_turn_sends_the_same_bytes_for_what_was_sent_before() {
    let server = ReplayServer::start([Answer::json(ANSWER), Answer::json(ANSWER)]).await;
    let model = client(&server).build().unwrap();
    let tools = ToolList::new([weather()]);
    let call = ToolCall::new("c1", "weather", "{}");
    let mut transcript = Transcript::from_messages([Message::user("q")]).unwrap();
    let ask = |transcript: &Transcript| {
        let request = ChatRequest::new(transcript.clone()).unwrap();
        model.chat(request.with_tools(tools.clone()))
    };
    ask(&transcript).await.unwrap();
    transcript
        .push(AssistantMessage::new("", None, vec![call.clone()]).into())
        .unwrap();
    transcript
        .answer(ToolResult::ok(&call, vec!["1".into()]))
        .unwrap();

    ask(&transcript).await.unwrap();

    let requests = server.requests();
    let first = requests[0].text();
    let shared = first.strip_suffix("]}").unwrap();
    assert!(requests[1].text().starts_with(shared));
}

#[tokio::test]
async fn marks_for_the_cache_stand_at_the_tools_the_system_and_the_two_last_ends() {
    let call = ToolCall::new("c1", "weather", "{}");
    let messages = [
        Message::user("q"),
        AssistantMessage::new("", None, vec![call.clone()]).into(),
        Message::tool(vec![ToolResult::ok(&call, vec!["1".into()])]),
        Message::assistant("One."),
        Message::user("r"),
    ];
    let request = || {
        request(messages.clone())
            .with_system(Some(Message::system("S")))
            .with_tools(ToolList::new([weather()]))
    };

    let marked = text_of(request(), |client| {
        client.prompt_caching(PromptCaching::FiveMinutes)
    })
    .await;
    let plain = text_of(request(), |client| client).await;

    expect![[r#"{"model":"m","max_tokens":8192,"tools":[{"name":"weather","description":"Get the weather.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false},"cache_control":{"type":"ephemeral"}}],"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"q"}]},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"weather","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"1","cache_control":{"type":"ephemeral"}}]},{"role":"assistant","content":[{"type":"text","text":"One."}]},{"role":"user","content":[{"type":"text","text":"r","cache_control":{"type":"ephemeral"}}]}]}"#]].assert_eq(&marked);
    let mark = r#","cache_control":{"type":"ephemeral"}"#;
    assert_eq!(marked.replace(mark, ""), plain);
    assert_eq!(marked.matches(mark).count(), 4);
    let hour = text_of(request(), |client| {
        client.prompt_caching(PromptCaching::OneHour)
    })
    .await;
    assert!(hour.contains(r#"{"type":"ephemeral","ttl":"1h"}"#));
}
