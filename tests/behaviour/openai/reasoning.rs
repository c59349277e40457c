//! Reasoning in the structured form of OpenRouter: echoed as it came.

use agent_core::Message;
use agent_core::message::{AssistantMessage, Transcript};
use agent_core::model::openai::{Profile, read_answer};
use agent_core::model::{ChatRequest, OpenAi};
use serde_json::{Value, json};

/// The assistant message of a next request, as it is sent.
fn echoed(answer: AssistantMessage, profile: Profile) -> String {
    let model = OpenAi::builder()
        .base_url("http://h.test/v1")
        .model("m")
        .profile(profile)
        .build()
        .unwrap();
    let messages = [Message::user("q"), answer.into(), Message::user("and?")];
    let transcript = Transcript::from_messages(messages).unwrap();
    model.request_text(&ChatRequest::new(transcript).unwrap())
}

fn stream(details: &[&str]) -> AssistantMessage {
    let piece = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    let mut text: String = details
        .iter()
        .map(|detail| piece(&format!("{{\"reasoning_details\":[{detail}]}}")))
        .collect();
    text += &piece("{\"content\":\"ok\"}");
    text += "data: [DONE]\n\n";
    read_answer([text]).unwrap().message
}

#[test]
fn details_of_a_plain_answer_go_back_byte_for_byte() {
    let details = r#"[{"type": "reasoning.encrypted", "data":"x\u0041=", "id":null,"n":12345678901234567890.10},{"type":"reasoning.text","text":"I look.","signature":"s"}]"#;
    let body = format!(
        r#"{{"choices":[{{"message":{{"content":"ok","reasoning":"I look.","reasoning_details":{details}}},"finish_reason":"stop"}}]}}"#
    );
    let answer = read_answer([body]).unwrap().message;
    let sent = echoed(answer.clone(), Profile::OpenRouter);
    assert!(
        sent.contains(&format!("\"reasoning_details\":{details}")),
        "{sent}"
    );
    assert!(!sent.contains("\"reasoning\":"), "said once: {sent}");
    for other in [Profile::OpenAi, Profile::DeepSeek, Profile::Compatible] {
        assert!(!echoed(answer.clone(), other).contains("reasoning_details"));
    }
}

#[test]
fn details_of_a_stream_are_put_together_from_their_pieces() {
    let answer = stream(&[
        r#"{"type":"reasoning.text","text":"I ","index":0,"format":"f"}"#,
        r#"{"type":"reasoning.text","text":"look.","index":0,"signature":null}"#,
        r#"{"type":"reasoning.text","signature":"c2ln","index":0}"#,
        r#"{"type":"reasoning.encrypted","data":"e1","index":1}"#,
        r#"{"type":"reasoning.encrypted","data":"e2","index":2}"#,
        r#"{"type":"reasoning.text","text":"More.","index":3}"#,
    ]);

    let sent: Value = serde_json::from_str(&echoed(answer, Profile::OpenRouter)).unwrap();

    assert_eq!(
        sent["messages"][1]["reasoning_details"],
        json!([
            {"type": "reasoning.text", "text": "I look.", "index": 0, "format": "f", "signature": "c2ln"},
            {"type": "reasoning.encrypted", "data": "e1", "index": 1},
            {"type": "reasoning.encrypted", "data": "e2", "index": 2},
            {"type": "reasoning.text", "text": "More.", "index": 3},
        ])
    );
}

#[test]
fn reasoning_alone_is_sent_back_as_text() {
    let body = r#"{"choices":[{"message":{"content":"ok","reasoning":"I look.","reasoning_details":null},"finish_reason":"stop"}]}"#;
    let answer = read_answer([body]).unwrap().message;

    let sent = echoed(answer, Profile::OpenRouter);

    assert!(sent.contains(r#""reasoning":"I look.""#), "{sent}");
}
