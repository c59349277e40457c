//! What is sent.

use agent_core::Message;
use agent_core::ToolDefinition;
use agent_core::message::{
    AssistantMessage, ContentPart, Image, MessageBody, ToolCall, ToolResult, Transcript,
};
use agent_core::model::openai::Profile;
use agent_core::model::{
    Anthropic, ChatModel as _, ChatOptions, ChatRequest, OpenAi, OutputSchema, ResponseFormat,
    ToolList,
};
use agent_core::tool::InputSchema;
use agent_tests::replay::{Answer, ReplayServer};
use expect_test::expect;
use serde_json::{Value, json};

use super::client;

const ANSWER: &str = r#"{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}"#;

/// A history with everything a history may hold.
fn history() -> Transcript {
    let google = json!({"google": {"thought_signature": "c2ln"}});
    let signed = ToolCall::new("c1", "weather", r#"{"city": "Oslo"}"#)
        .with_extra([("extra_content".to_owned(), google)].into_iter().collect());
    let cut = ToolCall::new("c2", "screen", r#"{"p":"a"#);
    let results = vec![
        ToolResult::ok(&signed, vec!["-3".into(), "snow".into()]),
        ToolResult::error(&cut, "the arguments are truncated"),
    ];
    let shot = ToolCall::new("c3", "screen", "");
    let picture = || ContentPart::Image(Image::new("image/png", *b"\x89PNG"));
    Transcript::from_messages([
        Message::user("Is Oslo cold?"),
        AssistantMessage::new("", Some("I look.".to_owned()), vec![signed, cut]).into(),
        Message::tool(results),
        AssistantMessage::new("Again.", None, vec![shot.clone()]).into(),
        Message::tool(vec![ToolResult::ok(&shot, vec![picture()])]),
        Message::assistant("Yes: \"-3\"."),
        Message::new(MessageBody::User(vec!["And this?".into(), picture()])),
    ])
    .unwrap()
}

/// The messages and all the rest of the body of one request.
async fn sent(request: ChatRequest, profile: Profile) -> (Vec<Value>, Value) {
    let server = ReplayServer::start([Answer::json(ANSWER)]).await;
    let model = client(&server).profile(profile).build().unwrap();
    model.chat(request).await.unwrap();
    let recorded = server.requests().remove(0);
    assert_eq!(
        recorded.header("content-length"),
        recorded.body.len().to_string()
    );
    assert_eq!(recorded.header("content-type"), "application/json");
    let mut body: Value = serde_json::from_slice(&recorded.body).unwrap();
    let messages = body.as_object_mut().unwrap().remove("messages").unwrap();
    (serde_json::from_value(messages).unwrap(), body)
}

fn lines(messages: &[Value]) -> String {
    messages
        .iter()
        .map(|message| format!("{message}\n"))
        .collect()
}

// hp-19, hp-21, hp-22, hp-23
#[tokio::test]
async fn a_history_is_written_as_servers_want_it() {
    let request = ChatRequest::new(history())
        .unwrap()
        .with_system(Some(Message::system("Be brief.")));

    let (messages, rest) = sent(request, Profile::Compatible).await;

    expect![[r#"
        {"role":"system","content":"Be brief."}
        {"role":"user","content":"Is Oslo cold?"}
        {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\": \"Oslo\"}"},"extra_content":{"google":{"thought_signature":"c2ln"}}},{"id":"c2","type":"function","function":{"name":"screen","arguments":"{\"invalid_arguments\":\"{\\\"p\\\":\\\"a\"}"}}]}
        {"role":"tool","tool_call_id":"c1","content":"-3\nsnow"}
        {"role":"tool","tool_call_id":"c2","content":"the arguments are truncated"}
        {"role":"assistant","content":"Again.","tool_calls":[{"id":"c3","type":"function","function":{"name":"screen","arguments":"{}"}}]}
        {"role":"tool","tool_call_id":"c3","content":"The result is in the next user message."}
        {"role":"user","content":[{"type":"text","text":"From tool `screen`, call `c3`:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}]}
        {"role":"assistant","content":"Yes: \"-3\"."}
        {"role":"user","content":[{"type":"text","text":"And this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw=="}}]}
    "#]].assert_eq(&lines(&messages));
    assert_eq!(rest, json!({"model": "m"}));
}

// hp-25
#[tokio::test]
async fn a_plain_history_holds_no_null_and_no_empty_field() {
    let messages = [
        Message::system("S"),
        Message::user("q"),
        Message::assistant("r"),
    ];
    let request = ChatRequest::new(Transcript::from_messages(messages).unwrap()).unwrap();

    let (messages, _) = sent(request, Profile::OpenAi).await;

    expect![[r#"
        {"role":"system","content":"S"}
        {"role":"user","content":"q"}
        {"role":"assistant","content":"r"}
    "#]]
    .assert_eq(&lines(&messages));
}

// hp-13
#[tokio::test]
async fn reasoning_is_sent_back_to_those_who_want_it() {
    let request = || ChatRequest::new(history()).unwrap();

    let (wanted, _) = sent(request(), Profile::DeepSeek).await;
    let (unwanted, _) = sent(request(), Profile::OpenAi).await;

    assert_eq!(wanted[1]["reasoning_content"], "I look.");
    assert_eq!(unwanted[1].get("reasoning_content"), None);
}

#[tokio::test]
async fn an_answer_of_another_model_has_what_a_server_wants_of_its_own() {
    let request = || ChatRequest::new(history()).unwrap();

    let (thinks, _) = sent(request(), Profile::DeepSeek).await;
    let (kimi, _) = sent(request(), Profile::Moonshot).await;
    let (signs, _) = sent(request(), Profile::Gemini).await;
    let (strict, _) = sent(request(), Profile::Mistral).await;
    let (plain, _) = sent(request(), Profile::OpenAi).await;

    assert_eq!(thinks[4]["reasoning_content"], "");
    assert_eq!(kimi[1]["reasoning_content"], "I look.");
    assert_eq!(kimi[4]["reasoning_content"], ".");
    let of = |call: &str| signs.iter().find_map(|it| it.pointer(call)).cloned();
    let signature = |of| json!({"google": {"thought_signature": of}});
    assert_eq!(
        of("/tool_calls/0/extra_content"),
        Some(signature("c2ln")),
        "its own stays"
    );
    assert_eq!(of("/tool_calls/1/extra_content"), None);
    assert_eq!(
        signs[4].pointer("/tool_calls/0/extra_content"),
        Some(&signature("skip_thought_signature_validator"))
    );
    assert_eq!(strict[1].pointer("/tool_calls/0/extra_content"), None);
    assert_eq!(plain[1].pointer("/tool_calls/0/extra_content"), None);
    let beside = strict
        .iter()
        .find(|it| it.pointer("/tool_calls/0/id").is_some() && !it["content"].is_null());
    assert_eq!(beside, None, "text beside calls is refused");
    assert_eq!(signs[4]["content"], "Again.");
}

#[tokio::test]
async fn no_empty_list_of_stops_is_sent_and_no_option_of_a_stream_to_who_wants_none() {
    let options = ChatOptions::new()
        .stop([""])
        .extra("stream_options", json!({"include_usage": true}));
    let request = ChatRequest::new(history()).unwrap();

    let (_, rest) = sent(request.with_options(options.clone()), Profile::OpenAi).await;

    assert_eq!(rest, json!({"model": "m"}));
    let model = OpenAi::builder().model("m").build().unwrap();
    assert_eq!(model.unsupported(&options, &ToolList::default()), ["stop"]);
}

#[tokio::test]
async fn a_model_gets_no_setting_that_it_refuses_by_its_name() {
    let options = ChatOptions::new()
        .temperature(0.5)
        .stop(["END"])
        .parallel_tool_calls(false);
    let effort = |effort: &str| options.clone().extra("reasoning_effort", effort);
    let weather = || {
        let schema = InputSchema::from_value(json!({"type": "object", "properties": {}}));
        ToolList::new([ToolDefinition::new("weather", "Weather.", schema)])
    };
    let o_series = ["temperature", "stop", "parallel_tool_calls"];
    for (name, options, unsupported, sent_effort) in [
        ("gpt-4.1", options.clone(), &[][..], None),
        ("grok-4.6", options.clone(), &["stop"], None),
        ("kimi-k2.5", options.clone(), &[], None),
        ("o3", options.clone(), &o_series, None),
        ("gpt-5", options.clone(), &["temperature", "stop"], None),
        ("gpt-5.2", options.clone(), &[], None),
        (
            "gpt-5.2",
            effort("low"),
            &["temperature", "stop"],
            Some("low"),
        ),
        // It is not to reason beside tools.
        ("gpt-5.6-sol", options.clone(), &[], Some("none")),
        (
            "gpt-5.6-sol",
            effort("low"),
            &["temperature", "stop"],
            Some("low"),
        ),
        ("gpt-5.6-sol", effort("none"), &[], Some("none")),
        ("claude-opus-4-7", options.clone(), &["temperature"], None),
    ] {
        let tools = weather();
        let request = ChatRequest::new(history())
            .unwrap()
            .with_tools(tools.clone());
        let request = request.with_options(options.clone().model(name));
        let (_, body) = sent(request, Profile::OpenAi).await;

        let server = ReplayServer::start([]).await;
        let client = client(&server).profile(Profile::OpenAi).model(name);
        let told = client.build().unwrap().unsupported(&options, &tools);
        assert_eq!(told, unsupported, "{name}");
        for field in o_series {
            let is_sent = body.get(field).is_some();
            assert_eq!(is_sent, !unsupported.contains(&field), "{name}: {field}");
        }
        let effort = body.get("reasoning_effort").and_then(Value::as_str);
        assert_eq!(effort, sent_effort, "{name}");
    }

    let alone = ChatRequest::new(history()).unwrap();
    let alone = alone.with_options(options.clone().model("gpt-5.6-sol"));
    let (_, body) = sent(alone, Profile::OpenAi).await;
    assert_eq!(body.get("temperature"), None, "{body}");
}

#[tokio::test]
async fn moonshot_is_sent_no_temperature_for_a_model_whose_own_is_fixed() {
    for (name, is_sent) in [("kimi-k2.6", false), ("moonshot-v1-8k", true)] {
        let options = ChatOptions::new().temperature(0.2).model(name);
        let request = ChatRequest::new(history()).unwrap().with_options(options);
        let (_, body) = sent(request, Profile::Moonshot).await;
        assert_eq!(body.get("temperature").is_some(), is_sent, "{name}");
    }
}

#[tokio::test]
async fn a_model_without_tools_or_behind_a_gateway_is_not_told_how_to_reason() {
    let bare = || ChatRequest::new(history()).unwrap();
    let schema = InputSchema::from_value(json!({"type": "object", "properties": {}}));
    let tools = ToolList::new([ToolDefinition::new("weather", "Weather.", schema)]);
    let newest = ChatOptions::new().model("gpt-5.6");
    for (request, profile) in [
        (bare(), Profile::OpenAi),
        (bare().with_tools(tools), Profile::OpenRouter),
    ] {
        let (_, body) = sent(request.with_options(newest.clone()), profile).await;
        assert_eq!(body.get("reasoning_effort"), None);
    }
}

#[tokio::test]
async fn only_options_that_are_set_are_sent() {
    let options = ChatOptions::new()
        .model("other")
        .temperature(0.5)
        .top_p(0.9)
        .max_output_tokens(64)
        .stop(["END"])
        .seed(7)
        .parallel_tool_calls(false)
        .extra("cache_prompt", true)
        .extra("messages", "never");
    let request = || {
        ChatRequest::new(history())
            .unwrap()
            .with_options(options.clone())
    };

    let (_, compatible) = sent(request(), Profile::Compatible).await;
    let (_, openai) = sent(request(), Profile::OpenAi).await;

    // `parallel_tool_calls` is an error at providers if there are no tools.
    expect![[r#"{"model":"other","cache_prompt":true,"temperature":0.5,"top_p":0.9,"max_tokens":64,"stop":["END"],"seed":7}"#]].assert_eq(&compatible.to_string());
    assert_eq!(openai["max_completion_tokens"], 64);
    assert_eq!(openai.get("max_tokens"), None);
}

#[tokio::test]
async fn the_form_of_the_reply_is_sent_strict_where_its_schema_can_be() {
    let strict = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false,
    });
    let open = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let format = |schema| ResponseFormat::JsonSchema(OutputSchema::new("my answer", schema));
    let formats = [format(strict), format(open), ResponseFormat::JsonObject];

    let mut lines = String::new();
    for format in formats {
        let request = ChatRequest::new(history()).unwrap();
        let request = request.with_response_format(Some(format));
        let (_, rest) = sent(request, Profile::OpenAi).await;
        lines += &format!("{}\n", rest["response_format"]);
    }

    expect![[r#"
        {"type":"json_schema","json_schema":{"name":"my_answer","schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false},"strict":true}}
        {"type":"json_schema","json_schema":{"name":"my_answer","schema":{"type":"object","additionalProperties":{"type":"integer"},"properties":{}}}}
        {"type":"json_object"}
    "#]].assert_eq(&lines);
}

#[tokio::test]
async fn a_schema_is_sent_to_servers_nobody_knows_and_not_where_only_objects_are_held() {
    for (profile, is_sent) in [
        (Profile::Compatible, true),
        (Profile::LlamaCpp, true),
        (Profile::DeepSeek, false),
        (Profile::Moonshot, false),
        (Profile::Qwen, false),
    ] {
        let schema = OutputSchema::new("answer", json!({"type": "object"}));
        let request = ChatRequest::new(history()).unwrap();
        let request = request.with_response_format(Some(ResponseFormat::JsonSchema(schema)));
        let (_, rest) = sent(request, profile).await;

        assert_eq!(rest.get("response_format").is_some(), is_sent, "{rest}");
    }
}

#[tokio::test]
async fn a_stream_is_asked_for_with_its_token_counts() {
    let server = ReplayServer::start([Answer::json(ANSWER)]).await;
    let model = client(&server).build().unwrap();

    let request =
        ChatRequest::new(Transcript::from_messages([Message::user("Hi")]).unwrap()).unwrap();
    let deltas = model.stream(request);
    let count = futures_util::StreamExt::count(deltas).await;

    assert_eq!(count, 2);
    expect![[r#"{"model":"m","messages":[{"role":"user","content":"Hi"}],"stream":true,"stream_options":{"include_usage":true}}"#]].assert_eq(&server.requests()[0].text());
    assert_eq!(server.requests()[0].header("accept"), "text/event-stream");
    assert_eq!(server.requests()[0].header("authorization"), "");
}

// E6
#[tokio::test]
async fn a_later_turn_sends_the_same_bytes_for_what_was_sent_before() {
    let server = ReplayServer::start([Answer::json(ANSWER), Answer::json(ANSWER)]).await;
    let model = client(&server).build().unwrap();
    let mut transcript = history();
    model
        .chat(ChatRequest::new(transcript.clone()).unwrap())
        .await
        .unwrap();
    transcript.push(Message::assistant("A picture.")).unwrap();
    transcript.push(Message::user("Of what?")).unwrap();

    model
        .chat(ChatRequest::new(transcript).unwrap())
        .await
        .unwrap();

    let requests = server.requests();
    let first = requests[0].text();
    let shared = first.strip_suffix("]}").unwrap();
    assert!(requests[1].text().starts_with(shared));
}

#[tokio::test]
async fn a_number_that_is_none_is_not_sent_and_told_of() {
    let options = ChatOptions::new()
        .temperature(f64::NAN)
        .top_p(f64::INFINITY);
    let request = ChatRequest::new(history()).unwrap();

    let (_, body) = sent(request.with_options(options.clone()), Profile::OpenAi).await;

    assert!(
        body.get("temperature").is_none() && body.get("top_p").is_none(),
        "{body}"
    );
    let model = OpenAi::builder().model("m").build().unwrap();
    assert_eq!(
        model.unsupported(&options, &ToolList::default()),
        ["temperature", "top_p"]
    );
}

#[tokio::test]
async fn tokens_are_counted_whatever_else_is_asked_of_a_stream() {
    let model = OpenAi::builder().model("m").build().unwrap();
    let sent = |stream: Value| {
        let options = ChatOptions::new().extra("stream_options", stream);
        let request = ChatRequest::new(history()).unwrap().with_options(options);
        let body = model.request_text(&request);
        serde_json::from_str::<Value>(&body).unwrap()["stream_options"].clone()
    };

    let counted = json!({"include_obfuscation": false, "include_usage": true});
    assert_eq!(sent(json!({"include_obfuscation": false})), counted);
    let uncounted = json!({"include_usage": false});
    assert_eq!(sent(uncounted.clone()), uncounted);
}

#[tokio::test]
async fn a_picture_has_its_registered_type_and_one_that_openai_refuses_is_named() {
    let picture = |kind: &str| ContentPart::Image(Image::new(kind, *b"p"));
    let parts = [" ".into(), picture("IMAGE/JPG; q=1"), picture("image/bmp")];
    let history = || {
        let message = Message::user_parts(parts.to_vec());
        ChatRequest::new(Transcript::from_messages([message]).unwrap()).unwrap()
    };

    let (openai, _) = sent(history(), Profile::OpenAi).await;
    let (other, _) = sent(history(), Profile::Compatible).await;

    expect![[r#"
        {"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,cA=="}},{"type":"text","text":"(a picture of the type image/bmp, which cannot be shown)"}]}
    "#]].assert_eq(&lines(&openai));
    expect![[r#"
        {"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,cA=="}},{"type":"image_url","image_url":{"url":"data:image/bmp;base64,cA=="}}]}
    "#]].assert_eq(&lines(&other));
}

#[tokio::test]
async fn a_base_url_may_be_the_whole_one_and_a_key_may_come_from_a_file() {
    let server = ReplayServer::start([Answer::json(ANSWER), Answer::json(ANSWER)]).await;
    let model = |key: &str| {
        let model = client(&server).api_key(key);
        let url = format!("{}/chat/completions", server.url());
        model.base_url(url).build().unwrap()
    };

    for key in ["k1\n", " "] {
        let request = ChatRequest::new(history()).unwrap();
        model(key).chat(request).await.unwrap();
    }

    assert!(model("").url().ends_with("/v1/chat/completions"));
    assert!(!model("").url().contains("completions/"));
    let keys = server.requests().into_iter();
    let keys: Vec<String> = keys
        .map(|it| it.header("authorization").to_owned())
        .collect();
    assert_eq!(keys, ["Bearer k1", ""]);
}

#[test]
fn a_model_whose_text_is_held_to_no_schema_is_sent_none() {
    let output = OutputSchema::new("answer", json!({"type": "object"}));
    let request = ChatRequest::new(history()).unwrap();
    let request = request.with_response_format(Some(ResponseFormat::JsonSchema(output)));
    let asking = |model: &str| ChatOptions::new().model(model);
    let openai = |model: &str, options: ChatOptions| {
        let client = OpenAi::builder().model(model).build().unwrap();
        let request = request.clone().with_options(options.clone());
        let holds = client.clone().with_options(options);
        let holds = holds.holds_json_schema(&ChatOptions::new());
        (holds, client.request_text(&request))
    };
    let anthropic = |model: &str, options: ChatOptions| {
        let client = Anthropic::builder().model(model).build().unwrap();
        let request = request.clone().with_options(options.clone());
        let holds = client.holds_json_schema(&options);
        (holds, client.request_text(&request))
    };
    let own = ChatOptions::new;

    for ((holds, text), expected) in [
        (openai("gpt-4-turbo", own()), false),
        (openai("gpt-4.1", own()), true),
        (openai("gpt-4.1", asking("gpt-4-turbo")), false),
        (openai("gpt-4-turbo", asking("gpt-4.1")), true),
        (anthropic("claude-3-7-sonnet-20250219", own()), false),
        (anthropic("claude-sonnet-4-5", own()), true),
        (
            anthropic("claude-sonnet-4-5", asking("claude-3-opus")),
            false,
        ),
        (
            anthropic("claude-3-opus", asking("claude-sonnet-4-5")),
            true,
        ),
    ] {
        assert_eq!(holds, expected, "{text}");
        assert_eq!(text.contains("json_schema"), expected, "{text}");
    }
}
