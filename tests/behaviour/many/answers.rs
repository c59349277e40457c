//! Reading them.

use std::time::Duration;

use agent_core::model::{
    ChatModel as _, ChatResponse, ModelDelta, ModelError, ModelErrorKind, OpenAi, anthropic, openai,
};
use agent_tests::replay::{Answer, ReplayServer};
use agent_tests::wire::request;
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::in_time;

const MANY: usize = 50_000;
const BOUND: usize = 65_536;

/// An event in which OpenAI says this.
fn chunk(delta: &Value) -> String {
    format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}))
}

fn piece(index: usize, name: &str, arguments: &str) -> String {
    let function = json!({"name": name, "arguments": arguments});
    chunk(&json!({"tool_calls": [{"index": index, "function": function}]}))
}

fn over() -> String {
    let end = json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
    format!("data: {end}\n\ndata: [DONE]\n\n")
}

fn arguments(response: Result<ChatResponse, ModelError>) -> Vec<String> {
    let calls = response.unwrap().message.tool_calls;
    calls
        .iter()
        .map(|call| call.arguments().to_owned())
        .collect()
}

#[test]
fn calls_that_are_all_open_at_once_are_found_by_their_numbers() {
    let mut body = String::new();
    for index in 0..MANY {
        body += &piece(index, "f", "");
    }
    for index in 0..MANY {
        body += &piece(index, "", &format!("{{\"a\":{index}}}"));
    }
    body += &over();

    let read = in_time(Duration::from_secs(8), || openai::read_answer([body]));

    let calls = arguments(read);
    assert_eq!(calls.len(), MANY);
    assert_eq!(calls[4711], r#"{"a":4711}"#);
}

#[test]
fn calls_that_are_all_number_0_are_found_by_their_ids() {
    let call = |index: usize, function: Value| {
        chunk(
            &json!({"tool_calls": [{"index": 0, "id": format!("c{index}"), "function": function}]}),
        )
    };
    let mut body = String::new();
    for index in 0..MANY {
        body += &call(index, json!({"name": "f", "arguments": ""}));
    }
    for index in 0..MANY {
        body += &call(index, json!({"arguments": format!("{{\"a\":{index}}}")}));
    }
    body += &over();

    let read = in_time(Duration::from_secs(8), || openai::read_answer([body]));

    let calls = arguments(read);
    assert_eq!(calls.len(), MANY);
    assert_eq!(calls[4711], r#"{"a":4711}"#);
}

#[test]
fn long_arguments_are_not_read_again_with_every_piece() {
    let blanks = " ".repeat(300_000);
    let unread = format!("{{\"a\":\"{}", "x".repeat(300_000));
    for (begin, more) in [(&*blanks, "{"), (&*unread, "{}"), ("{x", "{}{}")] {
        let mut body = piece(0, "f", begin);
        let mut expected = begin.to_owned();
        for _ in 0..10_000 {
            body += &piece(0, "f", more);
            expected += more;
        }
        body += &over();

        let read = in_time(Duration::from_secs(4), || openai::read_answer([body]));

        assert_eq!(arguments(read), [expected]);
    }
}

#[test]
fn blocks_that_are_all_open_at_once_are_found_by_their_numbers() {
    let event = |event: Value| format!("data: {event}\n\n");
    let mut body = String::new();
    for index in 0..MANY {
        let block = json!({"type": "tool_use", "id": format!("c{index}"), "name": "f"});
        body += &event(json!({
            "type": "content_block_start", "index": index, "content_block": block,
        }));
    }
    for index in 0..MANY {
        let piece =
            json!({"type": "input_json_delta", "partial_json": format!("{{\"a\":{index}}}")});
        body += &event(json!({"type": "content_block_delta", "index": index, "delta": piece}));
    }
    body += &event(json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}));
    body += &event(json!({"type": "message_stop"}));

    let read = in_time(Duration::from_secs(8), || anthropic::read_answer([body]));

    let calls = arguments(read);
    assert_eq!(calls.len(), MANY);
    assert_eq!(calls[4711], r#"{"a":4711}"#);
}

#[tokio::test]
async fn a_name_too_long_to_be_one_is_not_told_with_every_piece() {
    let (long, most) = ("n".repeat(1025), "m".repeat(1024));
    let mut body = piece(0, &long, "") + &piece(1, &most, "");
    for _ in 0..3 {
        body += &(piece(0, "", "a") + &piece(1, "", "b"));
    }
    body += &over();
    let server = ReplayServer::start([Answer::events(body)]).await;
    let model = OpenAi::builder().base_url(server.url()).model("m");
    let mut deltas = model.build().unwrap().stream(request());

    let (mut told, mut whole) = (Vec::new(), Vec::new());
    while let Some(delta) = deltas.next().await {
        match delta.unwrap() {
            ModelDelta::ToolCallFragment { index, name, .. } => told.push((index, name)),
            ModelDelta::ToolCall(call) => whole.push(call.name().to_owned()),
            _ => {}
        }
    }

    assert!(told.len() > 4);
    for (index, name) in told {
        assert_eq!(name, if index == 0 { "" } else { &most });
    }
    assert_eq!(whole, [long, most]);
}

/// Plain answers and streams of so many calls, or other parts.
fn of_openai(count: usize) -> [String; 7] {
    let call = r#"{"id":"c","function":{"name":"f","arguments":"{}"}}"#;
    let list = |item: &str| [item].repeat(count).join(",");
    let plain = |message: String| format!(r#"{{"choices":[{{"message":{{{message}}}}}]}}"#);
    let streamed = |calls: String| {
        format!(
            r#"data: {{"choices":[{{"delta":{{"content":"a","tool_calls":[{calls}]}}}}]}}{}"#,
            "\n\n"
        )
    };
    let each = |index: usize| streamed(format!(r#"{{"index":{index},"id":"c{index}"}}"#));
    [
        plain(format!(r#""tool_calls":[{}]"#, list(call))),
        plain(format!(
            r#""content":"a","reasoning_details":[{}]"#,
            list("{}")
        )),
        plain(format!(
            r#""content":"a","reasoning_details":[{{"x":[{}]}}]"#,
            list("0")
        )),
        plain(format!(
            r#""content":"a","tool_calls":[{{"x":[{}]}}]"#,
            list("0")
        )),
        streamed(format!(r#"{{"x":[{}]}}"#, list("0"))) + &over(),
        streamed(list("{}")) + &over(),
        (0..count).map(each).collect::<String>() + &over(),
    ]
}

fn of_anthropic(count: usize) -> [String; 2] {
    let block = r#"{"type":"tool_use","id":"c","name":"f"}"#;
    let event = r#"data: {"type":"content_block_start","content_block":"#;
    let event = format!("{event}{block}}}\n\n");
    let blocks = [block].repeat(count).join(",");
    [
        format!(r#"{{"type":"message","content":[{blocks}]}}"#),
        event.repeat(count) + "data: {\"type\":\"message_stop\"}\n\n",
    ]
}

#[test]
fn pieces_of_one_text_are_no_parts() {
    let detail = json!({"type": "reasoning.text", "index": 0, "format": null, "text": "a"});
    let thought = chunk(&json!({"content": "a", "reasoning_details": [detail]}));

    let read = openai::read_answer([thought.repeat(20_000) + &over()]).unwrap();

    assert_eq!(read.message.text.len(), 20_000);
    assert!(read.message.opaque[0].json.contains(&"a".repeat(20_000)));
}

#[test]
fn an_answer_of_more_parts_than_the_bound_is_an_error() {
    for body in &of_openai(BOUND)[..2] {
        assert!(openai::read_answer([body]).is_ok());
    }
    assert!(anthropic::read_answer(&of_anthropic(BOUND)[..1]).is_ok());

    let longer = of_openai(BOUND + 2).map(|body| openai::read_answer([body]));
    let blocks = of_anthropic(BOUND + 1).map(|body| anthropic::read_answer([body]));
    for (place, answer) in longer.into_iter().chain(blocks).enumerate() {
        let Err(error) = answer else {
            panic!("{place} is none");
        };
        assert_eq!(error.kind(), ModelErrorKind::Decode, "{place}");
        let text = "the answer holds more than 65536 tool calls or other parts";
        assert_eq!(error.to_string(), text, "{place}");
    }
}
