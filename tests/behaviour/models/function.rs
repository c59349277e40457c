//! A model that is a function.

use agent_core::model::scripted::{calls, fails, says};
use agent_core::model::{
    ChatModel as _, ChatRequest, FinishReason, FunctionModel, ModelDelta, ModelError,
    ModelErrorKind,
};
use agent_core::{ReactAgent, tool, tools};
use futures_util::stream;
use serde_json::json;

use super::{asked, streamed};

#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn adds_once(request: &ChatRequest) -> agent_core::model::scripted::Turn {
    match request.last_tool_result() {
        none if none.is_empty() => calls("add", json!({"a": 2, "b": 3})),
        sum => says(format!("It is {sum}.")),
    }
}

// E7
#[tokio::test]
async fn an_agent_runs_on_a_function_of_the_request() {
    let agent = ReactAgent::builder("adder", FunctionModel::new(adds_once))
        .tools(tools![add])
        .build()
        .unwrap();

    assert_eq!(agent.run("2 + 3?").await.unwrap().text(), "It is 5.");
}

// E7, E4
#[tokio::test]
async fn a_function_answers_streamed_and_plain_alike() {
    let model = FunctionModel::new(|_| says("One two three.").reasons("Count."));

    let plain = model.chat(asked("Count.")).await.unwrap();
    assert_eq!(streamed(&model, asked("Count.")).await.unwrap(), plain);
}

#[tokio::test]
async fn ids_of_calls_are_not_given_twice() {
    let model = FunctionModel::new(|_| calls("add", json!({})));

    let first = model.chat(asked("A")).await.unwrap().message.tool_calls;
    let second = model.chat(asked("B")).await.unwrap().message.tool_calls;
    assert_ne!(first[0].id(), second[0].id());
}

#[tokio::test]
async fn a_function_can_fail() {
    let model =
        FunctionModel::new(|_| fails(ModelError::new(ModelErrorKind::RateLimited, "slow down")));

    let error = model.chat(asked("Hi")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::RateLimited);
}

#[tokio::test]
async fn the_pieces_of_a_streaming_function_make_the_plain_reply() {
    let model = FunctionModel::streaming(|_| {
        stream::iter([
            Ok(ModelDelta::Text("4 ".into())),
            Ok(ModelDelta::Text("°C".into())),
            Ok(ModelDelta::Finished(FinishReason::Stop)),
        ])
    });

    assert_eq!(model.chat(asked("?")).await.unwrap().message.text, "4 °C");
}

#[tokio::test]
async fn a_streaming_function_without_an_end_is_cut_off() {
    let model = FunctionModel::streaming(|_| stream::iter([Ok(ModelDelta::Text("4".into()))]));

    let error = model.chat(asked("?")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::StreamTruncated);
}
