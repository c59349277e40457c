//! Any sequence of messages gives a request that the strict validator accepts.

use agent_core::Message;
use agent_core::message::{
    AssistantMessage, ContentPart, Image, OpaquePart, ToolCall, ToolResult, Transcript,
};
use agent_core::model::anthropic::PromptCaching;
use agent_core::model::openai::Profile;
use agent_core::model::{Anthropic, ChatRequest, OpenAi};
use agent_tests::validator;
use proptest::prelude::*;
use serde_json::{Value, json};

fn text() -> impl Strategy<Value = String> {
    let texts = [
        "",
        " ",
        "a",
        "\n",
        "b\u{0}c",
        "\u{1F600}",
        "{\"t\":\"\\ud800\"}",
    ];
    prop::sample::select(texts.to_vec()).prop_map(str::to_owned)
}

fn part() -> impl Strategy<Value = ContentPart> {
    let kind = prop::sample::select(vec!["image/png", "image/tiff"]);
    prop_oneof![
        3 => text().prop_map(ContentPart::Text),
        1 => kind.prop_map(|kind| Image::new(kind, *b"x").into()),
    ]
}

fn id() -> impl Strategy<Value = String> {
    let ids = [
        "",
        "a",
        "b",
        "a_2",
        "a_3",
        "functions.a:0",
        "abcdef123",
        "é",
        &"x".repeat(70),
    ]
    .map(str::to_owned);
    prop::sample::select(ids.to_vec())
}

fn call() -> impl Strategy<Value = ToolCall> {
    let names = ["", "add", "functions.add", "a b", "ö", &"n".repeat(65)].map(str::to_owned);
    let names = prop::sample::select(names.to_vec());
    let arguments = prop::sample::select(vec![
        "",
        "{}",
        "{\"a\":1}",
        "{\"a",
        "[1]",
        "{\"a\":1,\"a\":2}",
    ]);
    (id(), names, arguments, any::<bool>()).prop_map(|(id, name, arguments, is_signed)| {
        let call = ToolCall::new(id, name, arguments);
        let google = json!({"google": {"thought_signature": "c2ln"}});
        match is_signed {
            true => call.with_extra([("extra_content".to_owned(), google)].into_iter().collect()),
            false => call,
        }
    })
}

fn opaque() -> impl Strategy<Value = OpaquePart> {
    let parts = [
        r#"{"type":"thinking","thinking":"T","signature":"U0lH"}"#,
        r#"{"type":"redacted_thinking","data":"ZGF0YQ=="}"#,
        r#"{"type":"thinking","#,
    ];
    let provider = prop::sample::select(vec!["anthropic", "other"]);
    (
        provider,
        prop::sample::select(parts.to_vec()),
        0_usize..4,
        0_usize..3,
    )
        .prop_map(|(provider, json, text, calls)| {
            OpaquePart::new(provider, json).after(text, calls)
        })
}

fn message() -> impl Strategy<Value = Message> {
    let answer = (
        text(),
        prop::option::of(text()),
        prop::collection::vec(call(), 0..3),
        prop::collection::vec(opaque(), 0..2),
    );
    let answer = answer.prop_map(|(text, reasoning, calls, opaque)| {
        AssistantMessage::new(text, reasoning, calls)
            .with_opaque(opaque)
            .into()
    });
    let result = (call(), prop::collection::vec(part(), 0..3), any::<bool>());
    let result = result.prop_map(|(call, content, is_error)| {
        let result = ToolResult::ok(&call, content);
        match is_error {
            true => result.into_error(),
            false => result,
        }
    });
    prop_oneof![
        1 => text().prop_map(Message::system),
        2 => prop::collection::vec(part(), 0..3).prop_map(Message::user_parts),
        3 => answer,
        3 => prop::collection::vec(result, 0..4).prop_map(Message::tool),
    ]
}

proptest! {
    // E1
    #[test]
    fn any_messages_give_a_request_that_is_accepted(
        messages in prop::collection::vec(message(), 0..9),
    ) {
        let (transcript, repairs) = Transcript::repaired(messages.clone());
        prop_assert!(transcript.is_closed());
        let again = Transcript::repaired(transcript.messages().to_vec());
        prop_assert_eq!(&again.0, &transcript, "what is repaired stays");
        prop_assert!(again.1.is_empty(), "{:?} after {:?}", again.1, repairs);
        let request = ChatRequest::new(transcript.clone()).unwrap();

        for profile in Profile::ALL {
            let client = OpenAi::builder().model("m").profile(profile).build().unwrap();
            let text = client.request_text(&request);
            let body: Value = serde_json::from_str(&text).unwrap();
            let checked = validator::chat_completions(&body, profile);
            prop_assert!(checked.is_ok(), "{profile}: {}\n{text}", checked.unwrap_err());
            prop_assert_eq!(client.request_text(&request), text, "the same again");
        }
        for caching in [PromptCaching::Off, PromptCaching::OneHour] {
            let client = Anthropic::builder().model("m").prompt_caching(caching);
            let text = client.build().unwrap().request_text(&request);
            let body: Value = serde_json::from_str(&text).unwrap();
            let checked = validator::messages(&body);
            prop_assert!(checked.is_ok(), "{}\n{text}", checked.unwrap_err());
        }
        // What is stored is not changed by being sent.
        prop_assert_eq!(request.transcript(), &transcript);
    }
}
