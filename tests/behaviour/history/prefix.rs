//! What a provider's prompt cache needs: requests that begin as the ones before.

use agent_core::message::{MessageBody, MessageId, Transcript};
use agent_core::model::{ChatModel as _, ChatOptions, ChatRequest, OpenAi, PrefixBreak, ToolList};
use agent_core::tool::InputSchema;
use agent_core::{Message, ToolDefinition};
use agent_tests::replay::{Answer, ReplayServer};
use serde_json::json;

use super::logged::Logged;

fn tool(name: &'static str) -> ToolDefinition {
    let input = InputSchema::from_value(json!({"type": "object", "properties": {}}));
    ToolDefinition::new(name, "A tool.", input)
}

fn said(id: &str, text: &str) -> Message {
    Message::with_id(MessageId::new(id), MessageBody::User(vec![text.into()]))
}

fn request(messages: &[Message]) -> ChatRequest {
    ChatRequest::new(Transcript::from_messages(messages.to_vec()).unwrap()).unwrap()
}

// E6
#[test]
fn what_broke_the_prefix_is_told() {
    let (a, b, c) = (said("1", "a"), said("2", "b"), said("3", "c"));
    let first = request(&[a.clone(), b.clone()]);
    let longer = || request(&[a.clone(), b.clone(), c.clone()]);

    assert_eq!(longer().prefix_break(&first), None);
    let position = 1;
    let changed = request(&[a.clone(), said("2", "other"), c.clone()]);
    assert_eq!(
        changed.prefix_break(&first),
        Some(PrefixBreak::Message { position })
    );
    let shorter = request(std::slice::from_ref(&a));
    assert_eq!(
        shorter.prefix_break(&first),
        Some(PrefixBreak::Message { position })
    );
    let system = longer().with_system(Some(Message::system("S")));
    assert_eq!(system.prefix_break(&first), Some(PrefixBreak::System));
    let other = longer().with_options(ChatOptions::new().model("other"));
    assert_eq!(other.prefix_break(&first), Some(PrefixBreak::Model));
    let tools = |names: &[&'static str]| ToolList::new(names.iter().map(|name| tool(name)));
    let two = first.clone().with_tools(tools(&["x", "y"]));
    let turned = longer().with_tools(tools(&["x", "z", "y"]));
    assert_eq!(
        turned.prefix_break(&two),
        Some(PrefixBreak::Tools { position })
    );
}

#[tokio::test]
async fn a_client_warns_where_a_conversation_misses_the_cache() {
    let (logged, _guard) = Logged::kept();
    let body = r#"{"choices":[{"message":{"content":"ok"}}]}"#;
    let server = ReplayServer::start((0..6).map(|_| Answer::json(body))).await;
    let model = OpenAi::builder()
        .base_url(server.url())
        .model("m")
        .build()
        .unwrap();
    let (a, b) = (said("1", "a"), said("2", "b"));

    for request in [
        request(&[a.clone(), b.clone()]),
        request(&[a.clone(), b, said("3", "c")]),
        request(&[a.clone(), said("4", "d")]),
        request(std::slice::from_ref(&a)).with_system(Some(Message::system("S"))),
        // The client's own, which the others were sent to, too.
        request(std::slice::from_ref(&a))
            .with_system(Some(Message::system("S")))
            .with_options(ChatOptions::new().model("m")),
        request(&[a]).with_options(ChatOptions::new().model("other")),
    ] {
        model.chat(request).await.unwrap();
    }

    assert_eq!(
        logged.of("what"),
        ["the history", "the system prompt", "the model"]
    );
}
