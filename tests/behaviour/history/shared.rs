//! A history that several requests share is sent as if each had its own.

use std::thread;

use agent_core::Message;
use agent_core::message::{AssistantMessage, ContentPart, ToolCall, ToolResult, Transcript};
use agent_core::model::openai::Profile;
use agent_core::model::{Anthropic, ChatRequest, OpenAi};

/// A turn with a call and an answer, of messages of its own.
fn turn(number: usize) -> Vec<Message> {
    let call = ToolCall::new(
        format!("call_{number}"),
        "add",
        format!("{{\"a\":{number}}}"),
    );
    let result = ToolResult::ok(&call, vec![ContentPart::Text(number.to_string())]);
    vec![
        Message::user(format!("And {number}?")),
        AssistantMessage::new("", None, vec![call]).into(),
        Message::tool(vec![result]),
        Message::assistant(format!("It is {number}.")),
    ]
}

fn history() -> Transcript {
    let messages = (0..7).flat_map(turn).chain([Message::user("Sum?")]);
    Transcript::from_messages(messages).unwrap()
}

/// The text of the request that each of these clients sends.
struct Clients(Vec<OpenAi>, Anthropic);

impl Clients {
    fn new() -> Self {
        let profiles = [Profile::OpenAi, Profile::Mistral, Profile::Gemini];
        let client = |profile| OpenAi::builder().model("m").profile(profile).build();
        let openai = profiles.map(|profile| client(profile).unwrap());
        Self(
            openai.into(),
            Anthropic::builder().model("m").build().unwrap(),
        )
    }

    fn texts(&self, transcript: &Transcript) -> Vec<String> {
        let request = ChatRequest::new(transcript.clone()).unwrap();
        let texts = self.0.iter().map(|client| client.request_text(&request));
        texts.chain([self.1.request_text(&request)]).collect()
    }
}

#[test]
fn requests_of_one_history_at_once_are_those_of_histories_of_their_own() {
    let clients = Clients::new();
    let expected = clients.texts(&history());

    for _ in 0..20 {
        let shared = history();
        thread::scope(|scope| {
            for first in 0..4 {
                let (clients, shared, expected) = (&clients, &shared, &expected);
                scope.spawn(move || {
                    // Each begins with another client, goes its own way, and comes back.
                    let request = ChatRequest::new(shared.clone()).unwrap();
                    let text = match clients.0.get(first) {
                        Some(client) => client.request_text(&request),
                        None => clients.1.request_text(&request),
                    };
                    assert_eq!(text, expected[first]);
                    let mut own = shared.clone();
                    own.push(Message::assistant("7")).unwrap();
                    assert!(clients.texts(&own).iter().all(|text| text.contains("Sum?")));
                    assert_eq!(clients.texts(shared), *expected);
                });
            }
        });
    }
}
