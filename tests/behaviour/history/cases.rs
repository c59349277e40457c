//! What a stored history becomes on the wire of each provider.

use agent_core::Message;
use agent_core::message::{AssistantMessage, ToolCall, ToolResult, Transcript};
use agent_core::model::openai::Profile;
use agent_core::model::{Anthropic, ChatRequest, OpenAi};
use agent_tests::validator;
use expect_test::expect;
use serde_json::Value;

fn request(messages: impl IntoIterator<Item = Message>) -> ChatRequest {
    ChatRequest::new(Transcript::from_messages(messages).unwrap()).unwrap()
}

fn body(request: &ChatRequest, profile: Profile) -> Value {
    let client = OpenAi::builder()
        .model("m")
        .profile(profile)
        .build()
        .unwrap();
    let body = serde_json::from_str(&client.request_text(request)).unwrap();
    validator::chat_completions(&body, profile).unwrap();
    body
}

fn lines(body: &Value) -> String {
    let messages = body["messages"].as_array().unwrap().iter();
    messages.map(|message| format!("{message}\n")).collect()
}

// hp-17
#[test]
fn two_words_of_the_user_are_one_where_roles_must_take_turns() {
    let request = request([Message::user("a"), Message::user("b")]);

    let strict = body(&request, Profile::StrictAlternation);
    let openai = body(&request, Profile::OpenAi);

    expect![[r#"
        {"role":"user","content":"a\n\nb"}
    "#]]
    .assert_eq(&lines(&strict));
    expect![[r#"
        {"role":"user","content":"a"}
        {"role":"user","content":"b"}
    "#]]
    .assert_eq(&lines(&openai));
}

#[test]
fn mistral_gets_turns_short_ids_and_no_stream_options() {
    let call = ToolCall::new("call_1", "weather", "{}");
    let request = request([
        Message::system("S1"),
        Message::system("S2"),
        Message::user("q"),
        AssistantMessage::new("", None, vec![call.clone()]).into(),
        Message::tool(vec![ToolResult::ok(&call, vec!["-3".into()])]),
        Message::user("And?"),
        Message::system("S3"),
        Message::assistant("Cold."),
    ]);

    let body = body(&request, Profile::Mistral);

    expect![[r#"
        {"role":"system","content":"S1\n\nS2"}
        {"role":"user","content":"q"}
        {"role":"assistant","content":null,"tool_calls":[{"id":"970624995","type":"function","function":{"name":"weather","arguments":"{}"}}]}
        {"role":"tool","tool_call_id":"970624995","content":"-3"}
        {"role":"assistant","content":"OK."}
        {"role":"user","content":"And?\n\nS3"}
        {"role":"assistant","content":"Cold."}
        {"role":"user","content":"Go on."}
    "#]].assert_eq(&lines(&body));
    assert_eq!(body.get("stream_options"), None);
}

#[test]
fn templates_of_models_get_one_message_of_the_system_in_front() {
    let request = request([
        Message::system("S1"),
        Message::user("q"),
        Message::assistant("a"),
        Message::system("S2"),
        Message::user("And?"),
    ])
    .with_system(Some(Message::system("S0")));

    let server = body(&request, Profile::LlamaCpp);

    expect![[r#"
        {"role":"system","content":"S0\n\nS1"}
        {"role":"user","content":"q"}
        {"role":"assistant","content":"a"}
        {"role":"user","content":"S2"}
        {"role":"user","content":"And?"}
    "#]]
    .assert_eq(&lines(&server));
    for profile in [Profile::Vllm, Profile::Compatible] {
        assert_eq!(lines(&body(&request, profile)), lines(&server));
    }
    assert_eq!(
        body(&request, Profile::OpenAi)["messages"][4]["role"],
        "system"
    );
}

// hp-25
#[test]
fn nothing_is_null() {
    let request = request([
        Message::system("S"),
        Message::user("q"),
        Message::assistant("r"),
    ]);

    for profile in Profile::ALL {
        let text = body(&request, profile).to_string();
        assert!(!text.contains("null"), "{profile}: {text}");
        for key in ["tool_calls", "tool_call_id", "name"] {
            assert!(!text.contains(key), "{profile}: {text}");
        }
    }
}

// hp-28
#[test]
fn half_a_character_and_a_nul_in_a_result_leave_the_body_strict_json() {
    let call = ToolCall::new("c1", "search", "{}");
    for text in [r#"{"t":"\ud800"}"#, "a\u{0}b"] {
        let request = request([
            Message::user("q"),
            AssistantMessage::new("", None, vec![call.clone()]).into(),
            Message::tool(vec![ToolResult::ok(&call, vec![text.into()])]),
        ]);

        let openai = body(&request, Profile::OpenAi);
        let client = Anthropic::builder().model("m").build().unwrap();
        let anthropic: Value = serde_json::from_str(&client.request_text(&request)).unwrap();

        // A strict reader gets the tool's own text back, so no escape in it was taken for one.
        assert_eq!(openai["messages"][2]["content"], text);
        assert_eq!(anthropic["messages"][2]["content"][0]["content"], text);
    }
}

// hp-30
#[test]
fn a_denied_call_has_its_result_in_call_order() {
    let (remove, list) = (
        ToolCall::new("c1", "rm", "{}"),
        ToolCall::new("c2", "ls", "{}"),
    );
    let mut transcript = Transcript::from_messages([
        Message::user("q"),
        AssistantMessage::new("", None, vec![remove.clone(), list.clone()]).into(),
    ])
    .unwrap();
    transcript
        .answer(ToolResult::ok(&list, vec!["a.txt".into()]))
        .unwrap();
    transcript.close(|call| ToolResult::error(call, "Error: the call was denied"));

    let body = body(&ChatRequest::new(transcript).unwrap(), Profile::OpenAi);

    expect![[r#"
        {"role":"user","content":"q"}
        {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"rm","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"ls","arguments":"{}"}}]}
        {"role":"tool","tool_call_id":"c1","content":"Error: the call was denied"}
        {"role":"tool","tool_call_id":"c2","content":"a.txt"}
    "#]].assert_eq(&lines(&body));
}

#[test]
fn a_host_is_known_by_its_documents_only() {
    for (host, profile) in [
        ("api.openai.com", Profile::OpenAi),
        ("eu.api.openai.com", Profile::OpenAi),
        ("me.openai.azure.com", Profile::Azure),
        ("me.cognitiveservices.azure.com", Profile::Azure),
        ("codestral.mistral.ai", Profile::Mistral),
        ("evil-openai.azure.com.test", Profile::Compatible),
        ("dashscope-intl.aliyuncs.com", Profile::Qwen),
        ("generativelanguage.googleapis.com", Profile::Gemini),
        ("localhost", Profile::Compatible),
    ] {
        assert_eq!(Profile::of_host(host), profile, "{host}");
    }
    for profile in Profile::ALL {
        assert!(!profile.sources().is_empty(), "{profile}");
        assert_eq!(profile.name().parse(), Ok(profile));
    }
}
