//! Replies recorded once and replayed.

use std::path::PathBuf;
use std::time::Duration;

use agent_core::message::{ContentPart, Image};
use agent_core::model::cassette::{CassetteError, Recorder, Replay};
use agent_core::model::openai::read_answer;
use agent_core::model::scripted::{Turn, calls, fails, says};
use agent_core::model::{
    ChatModel, ChatOptions, ChatRequest, FinishReason, FunctionModel, ModelDelta, ModelError,
    ModelErrorKind, ScriptedModel, ToolList, Usage,
};
use agent_core::{Message, ReactAgent, tool, tools};
use agent_tests::runs::Holds;
use futures_util::stream;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{asked, request, streamed};

/// A folder that goes with its test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = format!("cassettes-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("cassette.json")
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.file()).expect("a cassette")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[tool]
async fn get_weather(city: &str) -> String {
    format!("{city}: 4 °C")
}

#[tool]
async fn search(q: &str) -> String {
    q.to_owned()
}

fn turns() -> [Turn; 2] {
    [
        calls("get_weather", json!({"city": "Oslo"}))
            .and_says("Let me look.")
            .reasons("They want weather.")
            .with_usage(Usage::new(7, 5)),
        says("It is 4 °C in Oslo."),
    ]
}

async fn record(
    folder: &Folder,
    turns: impl IntoIterator<Item = Turn>,
    requests: Vec<ChatRequest>,
) {
    let recorder = Recorder::new(ScriptedModel::new(turns));
    for request in requests {
        let _ = streamed(&recorder, request).await;
    }
    recorder.save(folder.file()).expect("a saved cassette");
}

// E7, E4
#[tokio::test]
async fn a_recorded_run_is_replayed_streamed_and_plain() {
    let folder = Folder::new("run");
    let recorder = Recorder::new(ScriptedModel::new(turns()));
    let agent = |model: &dyn Fn() -> agent_core::agent::ReactAgentBuilder| {
        model().tools(tools![get_weather]).build().unwrap()
    };
    let recorded = agent(&|| ReactAgent::builder("assistant", recorder.clone()));
    let recorded = recorded.run("Oslo?").await.unwrap();
    recorder.save(folder.file()).unwrap();

    for streaming in [true, false] {
        let replay = Replay::open(folder.file()).unwrap();
        let agent = agent(&|| ReactAgent::builder("assistant", replay.clone()));
        let output = agent.run("Oslo?").streaming(streaming).await.unwrap();
        let bodies = |of: &agent_core::RunOutput| -> Vec<_> {
            of.messages().iter().map(|it| it.body().clone()).collect()
        };
        assert_eq!(bodies(&output), bodies(&recorded));
        assert_eq!(output.usage(), recorded.usage());
        assert_eq!(replay.left(), 0);
    }
}

#[tokio::test]
async fn the_order_of_requests_and_tools_and_the_ids_of_messages_do_not_count() {
    let folder = Folder::new("meaning");
    let offered = |order: [usize; 2]| {
        let tools = [get_weather::DEFINITION, search::DEFINITION];
        ToolList::new(order.map(|place| tools[place].clone()))
    };
    let one = || asked("One").with_tools(offered([0, 1]));
    record(&folder, [says("1"), says("2")], vec![one(), asked("Two")]).await;
    let replay = Replay::open(folder.file()).unwrap();

    let two = replay.chat(asked("Two")).await.unwrap();
    let other_order = asked("One").with_tools(offered([1, 0]));
    let one = replay.chat(other_order).await.unwrap();
    assert_eq!((&*one.message.text, &*two.message.text), ("1", "2"));
}

#[tokio::test]
async fn ids_of_calls_and_the_writing_of_their_arguments_do_not_count() {
    use agent_core::message::{AssistantMessage, ToolCall, ToolResult};
    let folder = Folder::new("calls");
    let history = |id: &str, arguments: &str| {
        let call = ToolCall::new(id, "search", arguments);
        let result = ToolResult::ok(&call, vec!["snow".into()]);
        let answer = AssistantMessage::new("", None, vec![call]);
        request([
            Message::user("?"),
            answer.into(),
            Message::tool(vec![result]),
        ])
    };
    let recorded = history("call_a", r#"{"q": "snow", "n": 1}"#);
    record(&folder, [says("Snow.")], vec![recorded]).await;
    let replay = Replay::open(folder.file()).unwrap();

    let other = history("call_b", r#"{"n":1,"q":"snow"}"#);
    assert_eq!(replay.chat(other).await.unwrap().message.text, "Snow.");
}

#[tokio::test]
async fn a_request_that_was_not_recorded_shows_how_it_differs_from_the_nearest() {
    let folder = Folder::new("mismatch");
    let recorded = vec![
        asked("Is Oslo cold?"),
        asked("Something else").with_options(ChatOptions::new().temperature(0.5)),
    ];
    record(&folder, [says("Yes."), says("No.")], recorded).await;
    let replay = Replay::open(folder.file()).unwrap();

    let error = replay.chat(asked("Is Oslo warm?")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::NoRecording);
    assert!(!error.is_retryable());
    assert_eq!(
        error.to_string(),
        "the cassette has no reply to this request; nearest is recording 1 (- recorded, + asked):\n\
         - /messages/0/content: \"Is Oslo cold?\"\n\
         + /messages/0/content: \"Is Oslo warm?\""
    );
}

#[tokio::test]
async fn a_reply_is_given_once() {
    let folder = Folder::new("once");
    record(
        &folder,
        [says("1"), says("2")],
        vec![asked("Hi"), asked("Hi")],
    )
    .await;
    let replay = Replay::open(folder.file()).unwrap();

    let mut texts = Vec::new();
    for _ in 0..2 {
        texts.push(replay.chat(asked("Hi")).await.unwrap().message.text);
    }
    assert_eq!(texts, ["1", "2"]);
    let error = streamed(&replay, asked("Hi")).await.unwrap_err();
    assert!(error.to_string().contains("no reply left"), "{error}");
}

#[tokio::test]
async fn an_error_after_some_text_is_replayed_as_it_was() {
    let folder = Folder::new("error");
    let broke = ModelError::new(ModelErrorKind::RateLimited, "slow down")
        .with_status(429)
        .with_failed_generation("<tool_call>")
        .with_retry_after(Duration::from_secs(2));
    record(
        &folder,
        [fails(broke).and_says("So far")],
        vec![asked("Hi")],
    )
    .await;
    let replay = Replay::open(folder.file()).unwrap();

    use futures_util::StreamExt as _;
    let deltas: Vec<_> = replay.stream(asked("Hi")).collect().await;
    let text = deltas.iter().filter_map(|delta| match delta {
        Ok(ModelDelta::Text(text)) => Some(&**text),
        _ => None,
    });
    assert_eq!(text.collect::<String>(), "So far");
    let error = deltas.last().unwrap().as_ref().unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::RateLimited);
    assert_eq!(error.status(), Some(429));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(2)));
    assert_eq!(error.failed_generation(), Some("<tool_call>"));
    assert_eq!(error.to_string(), "slow down; asked to wait 2 s");
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_reply_that_was_cut_off_is_replayed_as_far_as_it_came() {
    use futures_util::StreamExt as _;
    let folder = Folder::new("cut-off");
    let recorder = Recorder::new(FunctionModel::streaming(|_| {
        stream::iter([Ok(ModelDelta::Text("So far".into()))])
    }));
    let cut_off = streamed(&recorder, asked("Hi")).await.unwrap_err();
    recorder.save(folder.file()).unwrap();
    let replay = Replay::open(folder.file()).unwrap();

    let mut deltas: Vec<_> = replay.stream(asked("Hi")).collect().await;

    let error = deltas.pop().unwrap().unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::StreamTruncated);
    assert_eq!(error.kind(), cut_off.kind());
    let texts = deltas.into_iter().map(|delta| match delta {
        Ok(ModelDelta::Text(text)) => text,
        other => panic!("{other:?}"),
    });
    assert_eq!(texts.collect::<String>(), "So far");
}

#[tokio::test]
async fn a_reply_that_was_not_read_to_its_end_is_not_kept() {
    use futures_util::StreamExt as _;
    let folder = Folder::new("dropped");
    let recorder = Recorder::new(ScriptedModel::new([says("One two"), says("Three")]));
    let mut deltas = recorder.stream(asked("A"));
    let _ = deltas.next().await;
    drop(deltas);
    recorder.chat(asked("B")).await.unwrap();
    recorder.save(folder.file()).unwrap();

    assert_eq!(Replay::open(folder.file()).unwrap().left(), 1);
}

#[tokio::test]
async fn secrets_are_not_written_wherever_they_stand() {
    let folder = Folder::new("secrets");
    let secret = "hunter2-hunter2";
    let arguments = json!({"q": secret, "api_key": "k-123", "Authorization": "Basic abc"});
    let model = ScriptedModel::new([
        calls("search", arguments)
            .and_says(format!("Your word is {secret}."))
            .reasons("It came as Bearer tok-9 in the text."),
        fails(ModelError::new(ModelErrorKind::Auth, format!("no: {secret}")).with_code(secret)),
        says(r#"{"session_token":"t-789"}"#),
    ]);
    let recorder = Recorder::new(model).secret(secret);
    let options = ChatOptions::new()
        .extra("api-key", "k-456")
        .extra("user", "u1");
    let first = asked(&format!("I am {secret}")).with_options(options);
    recorder.chat(first.clone()).await.unwrap();
    let _ = streamed(&recorder, asked("Again")).await;
    let answered = asked(r#"{"headers":[{"Set-Cookie":"c-789"}]}"#);
    recorder.chat(answered).await.unwrap();
    recorder.save(folder.file()).unwrap();

    let text = folder.text();
    for hidden in [
        secret,
        "k-123",
        "k-456",
        "Basic abc",
        "tok-9",
        "t-789",
        "c-789",
    ] {
        assert!(!text.contains(hidden), "{hidden} stands in {text}");
    }
    assert!(text.contains("u1"));
    let replay = Replay::open(folder.file()).unwrap().secret(secret);
    let reply = replay.chat(first).await.unwrap();
    assert_eq!(reply.message.text, "Your word is ***.");
    assert_eq!(
        reply.message.tool_calls[0].arguments_value().unwrap()["q"],
        "***"
    );
}

#[tokio::test]
async fn a_call_that_only_began_is_replayed_as_one() {
    let folder = Folder::new("began");
    let cut = r#"{"choices":[{"message":{"tool_calls":[{"id":"c1","function":{"name":"search","arguments":""}}]},"finish_reason":"length"}]}"#;
    let began = read_answer([cut]).unwrap();
    let model = FunctionModel::streaming(move |_| {
        let call = ModelDelta::ToolCall(began.message.tool_calls[0].clone());
        stream::iter([Ok(call), Ok(ModelDelta::Finished(FinishReason::Length))])
    });
    let recorder = Recorder::new(model);
    let recorded = recorder.chat(asked("Look.")).await.unwrap();
    recorder.save(folder.file()).unwrap();

    let replay = Replay::open(folder.file()).unwrap();
    let replayed = replay.chat(asked("Look.")).await.unwrap();

    assert_eq!(replayed, recorded);
    assert!(replayed.message.tool_calls[0].invalid().is_some());
}

#[tokio::test]
async fn images_and_options_are_part_of_what_is_asked() {
    let folder = Folder::new("parts");
    let picture = |byte: u8| {
        let image = Image::new("image/png", vec![byte; 3]);
        let parts = vec![ContentPart::from("What is it?"), image.into()];
        request([Message::user_parts(parts)])
    };
    record(&folder, [says("A cat.")], vec![picture(1)]).await;
    let replay = Replay::open(folder.file()).unwrap();

    assert!(replay.chat(picture(2)).await.is_err());
    let warm = picture(1).with_options(ChatOptions::new().temperature(1.0));
    assert!(replay.chat(warm).await.is_err());
    assert!(replay.chat(picture(1)).await.is_ok());
}

#[test]
fn a_missing_file_says_so() {
    let folder = Folder::new("missing");

    let error = Replay::open(folder.file()).unwrap_err();
    assert!(matches!(error, CassetteError::Missing { .. }), "{error:?}");
}

#[tokio::test]
async fn a_file_that_was_cut_or_is_something_else_says_so() {
    let folder = Folder::new("cut");
    record(&folder, turns(), vec![asked("A"), asked("B")]).await;
    let whole = folder.text();

    for cut in 0..whole.trim_end().len() {
        if !whole.is_char_boundary(cut) {
            continue;
        }
        std::fs::write(folder.file(), &whole[..cut]).unwrap();
        let error = Replay::open(folder.file()).unwrap_err();
        assert!(
            matches!(error, CassetteError::Malformed { .. }),
            "{cut}: {error:?}"
        );
    }
    std::fs::write(folder.file(), [0xff, 0xfe]).unwrap();
    let error = Replay::open(folder.file()).unwrap_err();
    assert!(
        matches!(error, CassetteError::Unreadable { .. }),
        "{error:?}"
    );
}

#[test]
fn a_cassette_of_a_later_version_is_not_guessed_at() {
    let folder = Folder::new("version");
    let later: Value = json!({"version": 2, "exchanges": {"unknown": true}});
    std::fs::write(folder.file(), later.to_string()).unwrap();

    let error = Replay::open(folder.file()).unwrap_err();
    assert!(
        matches!(error, CassetteError::Version { version: 2, .. }),
        "{error:?}"
    );
}

#[test]
fn a_place_that_cannot_be_written_says_so() {
    let folder = Folder::new("unwritable");

    let nowhere = folder.0.join("no").join("such").join("folder.json");
    let error = Recorder::new(ScriptedModel::new([]))
        .save(nowhere)
        .unwrap_err();
    assert!(
        matches!(error, CassetteError::Unwritable { .. }),
        "{error:?}"
    );
}

fn any_turn() -> impl Strategy<Value = (String, Option<String>, Vec<String>, bool)> {
    let arguments = prop_oneof![
        Just("{}".to_owned()),
        Just(r#"{"city":"Oslo","n":1e2}"#.to_owned()),
        Just("{\"city\":\"Os".to_owned()),
        ".{0,12}",
    ];
    let calls = proptest::collection::vec(arguments, 0..3);
    (
        ".{0,20}",
        proptest::option::of(".{0,8}"),
        calls,
        any::<bool>(),
    )
}

// E7, E4
proptest! {
    #[test]
    fn what_was_recorded_is_replayed(
        turns in proptest::collection::vec(any_turn(), 1..4),
        streams: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let script = turns.iter().map(|(text, reasoning, arguments, fails)| {
                let mut turn = match fails {
                    true => agent_core::model::scripted::fails(ModelError::new(ModelErrorKind::Transport, "broke")),
                    false => says(""),
                };
                turn = turn.and_says(text.as_str());
                if let Some(reasoning) = reasoning {
                    turn = turn.reasons(reasoning.as_str());
                }
                arguments.iter().fold(turn, |turn, text| turn.and_calls("get_weather", Value::from(text.as_str())))
            });
            let folder = Folder::new("any");
            let recorder = Recorder::new(ScriptedModel::new(script));
            let ask = async |model: &dyn ChatModel, number: usize| {
                let request = asked(&number.to_string());
                let reply = match streams {
                    true => streamed(model, request).await,
                    false => model.chat(request).await,
                };
                reply.map_err(|error| (error.kind(), error.to_string()))
            };
            let mut recorded = Vec::new();
            for number in 0..turns.len() {
                recorded.push(ask(&recorder, number).await);
            }
            recorder.save(folder.file()).unwrap();
            let replay = Replay::open(folder.file()).unwrap();
            // In another order than they were recorded.
            for number in (0..turns.len()).rev() {
                assert_eq!(ask(&replay, number).await, recorded[number]);
            }
        });
    }
}

// Else an agent would ask for a form in another way than it did when it was recorded.
#[tokio::test]
async fn which_model_holds_a_schema_is_recorded_too() {
    let folder = Folder::new("holds");
    let recorder = Recorder::new(Holds(ScriptedModel::new([says("a"), says("b")])));
    let old = || ChatOptions::new().model("old");
    for options in [ChatOptions::new(), old()] {
        let request = asked("Hi").with_options(options);
        streamed(&recorder, request).await.unwrap();
    }
    recorder.save(folder.file()).unwrap();

    let replay = Replay::open(folder.file()).unwrap();
    assert!(replay.holds_json_schema(&ChatOptions::new()));
    assert!(!replay.holds_json_schema(&old()));
}
