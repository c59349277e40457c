//! What is sent otherwise than it stands in the history is told in the log.

use agent_core::Message;
use agent_core::message::{AssistantMessage, ToolCall, ToolResult, Transcript};
use agent_core::model::openai::Profile;
use agent_core::model::{Anthropic, ChatRequest, OpenAi};

use super::logged::Logged;

const LEFT_OUT: &str = "a message that says nothing is left out";
const BY_USER: &str = "a system message behind others is said by the user";
const PUT_IN: &str = "a message that the provider wants is put in";

/// One group of a call and its result; the id of the call is always the same.
fn group() -> [Message; 2] {
    let call = ToolCall::new("c1", "now", "{}");
    let result = ToolResult::ok(&call, vec!["12:01".into()]);
    let answer = AssistantMessage::new("", None, vec![call]);
    [answer.into(), Message::tool(vec![result])]
}

/// A history that is sent as it is by nobody.
fn request() -> ChatRequest {
    let [answer, results] = group();
    let [second_answer, second_results] = group();
    let messages = [
        answer,
        results,
        Message::user("Thanks."),
        Message::assistant(" "),
        Message::system("Be brief."),
        second_answer,
        second_results,
        Message::assistant("One past twelve."),
    ];
    ChatRequest::new(Transcript::from_messages(messages).unwrap()).unwrap()
}

fn told(messages: &[String], line: &str) -> usize {
    messages.iter().filter(|message| *message == line).count()
}

#[test]
fn what_a_chat_completions_server_refuses_is_told() {
    let ask = |profile| {
        let (logged, _guard) = Logged::kept();
        let client = OpenAi::builder().model("m").profile(profile).build();
        let _ = client.unwrap().request_text(&request());
        let messages = logged.of("message");
        [LEFT_OUT, BY_USER, PUT_IN].map(|line| told(&messages, line))
    };

    assert_eq!(ask(Profile::OpenAi), [1, 0, 0]);
    assert_eq!(ask(Profile::LlamaCpp), [1, 1, 0]);
    // Before the first answer, between results and the user, and at the end.
    assert_eq!(ask(Profile::StrictAlternation), [1, 1, 3]);
}

#[test]
fn what_the_messages_api_refuses_is_told() {
    let (logged, _guard) = Logged::kept();
    let client = Anthropic::builder().model("m").build().unwrap();

    let _ = client.request_text(&request());

    let messages = logged.of("message");
    let lines = [LEFT_OUT, BY_USER, PUT_IN];
    // Before the first answer and at the end.
    assert_eq!(lines.map(|line| told(&messages, line)), [1, 1, 2]);
    let again = "ids that were sent before are sent with a number behind them";
    assert_eq!(told(&messages, again), 1);
}
