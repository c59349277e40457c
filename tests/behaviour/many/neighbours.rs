//! Messages of one role behind each other, which some servers want as one.

use std::time::Duration;

use agent_core::Message;
use agent_core::message::Transcript;
use agent_core::model::openai::Profile;
use agent_core::model::{ChatRequest, OpenAi};
use serde_json::Value;

use super::in_time;

#[test]
fn are_written_once() {
    let said = |of: fn(String) -> Message| (0..10_000).map(move |i| of(format!("Note {i}.")));
    let (users, models) = (said(Message::user), said(Message::assistant));
    let transcript = Transcript::from_messages(users.chain(models)).unwrap();
    let request = ChatRequest::new(transcript).unwrap();
    let model = OpenAi::builder().model("m").profile(Profile::Mistral);
    let model = model.build().unwrap();

    let body = in_time(Duration::from_secs(2), || model.request_text(&request));

    let body: Value = serde_json::from_str(&body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let roles: Vec<_> = messages.iter().map(|it| &it["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"]);
    let texts = messages[..2]
        .iter()
        .map(|it| it["content"].as_str().unwrap());
    for text in texts {
        assert!(text.starts_with("Note 0.\n\nNote 1.") && text.ends_with("\n\nNote 9999."));
    }
}
