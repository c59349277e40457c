//! Answers of a form: asked for when the tools are done, checked, and asked for again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::time::Duration;

use agent_core::agent::{
    AgentTool, BuildFault, Limits, OnLimit, OutputMode, ReactAgentBuilder, ToolInterceptor,
    ToolNext, ToolRequest,
};
use agent_core::event::EventKind;
use agent_core::model::scripted::{Turn, calls, fails, hangs, says};
use agent_core::model::{
    ChatModel, ChatOptions, ChatRequest, FinishReason, FunctionModel, ModelDelta, ModelError,
    ModelErrorKind, ResponseFormat, ScriptedModel, TestModel, ToolChoice, Usage,
};
use agent_core::schema::Schemars;
use agent_core::tool::ToolOutcome;
use agent_core::{
    AgentError, BoxFuture, Message, Outcome, ReactAgent, RunOutput, ToolCallback as _, ToolError,
    ToolSchema,
};
use agent_tests::runs::{Asks, Holds, events, offered, output, result_texts, texts};
use agent_tests::tools::answers;
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, PartialEq, Deserialize, ToolSchema)]
struct Weather {
    /// The city
    city: String,
    degrees: f64,
}

const OSLO: &str = r#"{"city":"Oslo","degrees":4.5}"#;

fn oslo() -> Weather {
    serde_json::from_str(OSLO).unwrap()
}

fn holds(turns: impl IntoIterator<Item = Turn>) -> Holds {
    Holds(ScriptedModel::new(turns))
}

fn scripted(turns: impl IntoIterator<Item = Turn>) -> ScriptedModel {
    ScriptedModel::new(turns)
}

fn weather(model: impl ChatModel + 'static) -> ReactAgentBuilder {
    ReactAgent::builder("assistant", model).output_type::<Weather>()
}

fn gives(arguments: Value) -> Turn {
    calls("final_answer", arguments)
}

fn has_form(request: &ChatRequest) -> bool {
    matches!(
        request.response_format(),
        Some(ResponseFormat::JsonSchema(_))
    )
}

async fn run(agent: ReactAgentBuilder) -> Result<RunOutput, AgentError> {
    agent.build().unwrap().run("Oslo?").await
}

fn fault(error: AgentError) -> String {
    match error {
        AgentError::InvalidOutput { source, .. } => source.fault,
        other => panic!("{other:?}"),
    }
}

// B5
#[tokio::test]
async fn a_model_that_holds_a_schema_is_asked_for_it_at_once_if_there_are_no_tools() {
    let model = holds([says(OSLO)]);

    let output = run(weather(model.clone())).await.unwrap();
    assert_eq!(output.parse::<Weather>().unwrap(), oslo());
    let requests = model.0.requests();
    let Some(ResponseFormat::JsonSchema(schema)) = requests[0].response_format() else {
        panic!("{:?}", requests[0]);
    };
    assert_eq!(schema.name(), "Weather");
    assert_eq!(schema.schema()["required"], json!(["city", "degrees"]));
}

#[tokio::test]
async fn the_way_to_ask_follows_the_model_that_is_asked() {
    let old = || ChatOptions::new().model("old");
    let new = || ChatOptions::new().model("new");
    for (of_agent, of_run, by_tool) in [
        (new(), new(), false),
        (old(), ChatOptions::new(), true),
        (new(), old(), true),
        (old(), new(), false),
    ] {
        let turn = match by_tool {
            true => gives(serde_json::from_str(OSLO).unwrap()),
            false => says(OSLO),
        };
        let model = holds([turn]);
        let agent = weather(model.clone()).options(of_agent).build().unwrap();

        let output = agent.run("Oslo?").options(of_run).await.unwrap();
        assert_eq!(output.parse::<Weather>().unwrap(), oslo());
        let request = &model.0.requests()[0];
        assert_eq!(has_form(request), !by_tool);
        let tools: &[&str] = if by_tool { &["final_answer"] } else { &[] };
        assert_eq!(offered(request), tools);
        assert!(!texts(request)[0].contains("JSON Schema"));
    }
}

#[tokio::test]
async fn a_model_that_an_interceptor_asks_instead_is_told_of_the_form_in_words() {
    // The first answer does not fit, so that it is asked for again.
    let model = holds([says("Mild."), says(OSLO)]);
    let agent = weather(model.clone())
        .system_prompt("Be brief.")
        .model_interceptor(Asks("old"));

    let output = run(agent).await.unwrap();
    assert_eq!(output.parse::<Weather>().unwrap(), oslo());
    let requests = model.0.requests();
    assert!(texts(&requests[0])[0].starts_with("Be brief.\n\nAnswer with JSON only"));
    for request in requests {
        let told = texts(&request).concat().matches("JSON Schema").count();
        assert_eq!(told, 1);
    }
}

// SO-3, so.1, B5
#[tokio::test]
async fn tools_run_first_and_the_form_is_asked_for_when_they_are_done() {
    let model = holds([calls("look", json!({})), says("4.5 degrees."), says(OSLO)]);
    let agent = weather(model.clone())
        .tools(answers("look", "4.5"))
        .output_mode(OutputMode::Native);

    let output = run(agent).await.unwrap();
    assert_eq!(output.parse::<Weather>().unwrap(), oslo());
    let requests = model.0.requests();
    let forms: Vec<bool> = requests.iter().map(has_form).collect();
    assert_eq!(forms, [false, false, true]);
    assert_eq!(requests[1].options().tool_choice, None);
    assert_eq!(requests[2].options().tool_choice, Some(ToolChoice::None));
    // What was sent before stays as it was, and so does what is cached of it.
    assert_eq!(offered(&requests[2]), ["look"]);
    assert_eq!(
        texts(&requests[2])[..4],
        texts(&requests[1])[..]
            .iter()
            .cloned()
            .chain(["4.5 degrees.".into()])
            .collect::<Vec<_>>()[..4]
    );
}

#[tokio::test]
async fn an_answer_that_fits_already_is_not_asked_for_again() {
    let model = holds([calls("look", json!({})), says(OSLO)]);
    let agent = weather(model.clone())
        .tools(answers("look", "4.5"))
        .output_mode(OutputMode::Native);

    assert_eq!(run(agent).await.unwrap().text(), OSLO);
    assert_eq!(model.0.turns_left(), 0);
}

// SO-3, so.1, B5
#[tokio::test]
async fn with_tools_the_answer_is_a_call_that_comes_after_theirs() {
    let model = scripted([
        calls("look", json!({})),
        gives(json!({"city": "Oslo", "degrees": 4.5})),
    ]);

    let output = run(weather(model.clone()).tools(answers("look", "4.5")))
        .await
        .unwrap();
    assert_eq!(output.outcome(), &Outcome::Finished);
    assert_eq!(output.parse::<Weather>().unwrap(), oslo());
    let requests = model.requests();
    assert_eq!(offered(&requests[0]), ["look", "final_answer"]);
    assert_eq!(requests[0].options().tool_choice, None);
    assert!(!requests.iter().any(has_form));
}

#[tokio::test]
async fn an_answer_beside_other_calls_is_refused_and_those_run() {
    let early =
        calls("look", json!({})).and_calls("final_answer", json!({"city": "?", "degrees": 0}));
    let model = scripted([early, gives(json!({"city": "Oslo", "degrees": 4.5}))]);
    for parallel in [false, true] {
        let agent = weather(model.clone())
            .tools(answers("look", "4.5"))
            .parallel_tool_execution(parallel);

        let Ok(output) = run(agent).await else {
            continue;
        };
        assert_eq!(output.parse::<Weather>().unwrap(), oslo());
        let results = result_texts(output.messages());
        assert_eq!(results[0].1, "4.5");
        assert!(
            results[1].1.contains("it came beside other calls"),
            "{}",
            results[1].1
        );
    }
}

#[tokio::test]
async fn many_answers_in_one_reply_are_one_try() {
    let mut many = gives(json!({"city": 7}));
    for _ in 0..20 {
        many = many.and_calls("final_answer", json!({"city": 7}));
    }
    let model = scripted([many, gives(json!({"city": "Oslo", "degrees": 4.5}))]);

    let output = run(weather(model).output_retries(1)).await.unwrap();
    assert_eq!(output.parse::<Weather>().unwrap(), oslo());
}

#[tokio::test]
async fn an_answer_beside_a_direct_result_is_refused() {
    let early = gives(json!({"city": "A", "degrees": 0}))
        .and_calls("final_answer", json!({"city": "B", "degrees": 0}));
    let model = scripted([early, gives(json!({"city": "Oslo", "degrees": 4.5}))]);

    assert_eq!(
        run(weather(model).output_retries(2))
            .await
            .unwrap()
            .parse::<Weather>()
            .unwrap(),
        oslo()
    );
}

#[tokio::test]
async fn without_other_tools_the_call_of_the_answer_is_forced() {
    let model = scripted([gives(json!({"city": "Oslo", "degrees": 4.5}))]);

    run(weather(model.clone())).await.unwrap();
    assert_eq!(offered(&model.requests()[0]), ["final_answer"]);
    assert_eq!(
        model.requests()[0].options().tool_choice,
        Some(ToolChoice::Required)
    );
}

#[tokio::test]
async fn a_choice_of_the_user_comes_first_until_the_form_is_asked_for() {
    let model = scripted([
        says("4.5 degrees."),
        gives(json!({"city": "Oslo", "degrees": 4.5})),
    ]);
    let agent = weather(model.clone()).options(ChatOptions::new().tool_choice(ToolChoice::Auto));

    run(agent).await.unwrap();
    let choices: Vec<_> = model
        .requests()
        .iter()
        .map(|it| it.options().tool_choice.clone())
        .collect();
    assert_eq!(
        choices,
        [Some(ToolChoice::Auto), Some(ToolChoice::Required)]
    );
}

#[tokio::test]
async fn text_in_place_of_the_call_is_taken_if_it_fits_and_else_asked_for_as_a_call() {
    let fits = scripted([says(OSLO)]);
    assert_eq!(run(weather(fits)).await.unwrap().text(), OSLO);

    let model = scripted([
        says("4.5 degrees."),
        gives(json!({"city": "Oslo", "degrees": 4.5})),
    ]);
    let output = run(weather(model.clone()).tools(answers("look", "4.5")))
        .await
        .unwrap();
    assert_eq!(output.parse::<Weather>().unwrap(), oslo());
    let forced = ToolChoice::Named("final_answer".into());
    assert_eq!(model.requests()[1].options().tool_choice, Some(forced));
}

// SO-4, so.2, US-1
// SO-5
#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_twice_more_with_what_is_wrong() {
    let used = |turn: Turn| turn.with_usage(Usage::new(10, 1));
    for mode in [OutputMode::Native, OutputMode::Prompted] {
        let model = holds([
            used(says("no JSON")),
            used(says(r#"{"city":"Oslo"}"#)),
            used(says(OSLO)),
        ]);

        let output = run(weather(model.clone()).output_mode(mode)).await.unwrap();
        assert_eq!(output.parse::<Weather>().unwrap(), oslo());
        assert_eq!(output.usage(), Usage::new(30, 3));
        let requests = model.0.requests();
        assert_eq!(requests.len(), 3);
        let told = |at: usize| texts(&requests[at]).pop().unwrap();
        assert!(told(1).contains("no JSON"), "{}", told(1));
        assert!(told(2).contains("degrees"), "{}", told(2));
    }
}

#[tokio::test]
async fn a_call_that_does_not_fit_is_told_what_is_wrong() {
    let model = scripted([
        gives(json!({"city": "Oslo"})),
        gives(json!("{broken")),
        gives(json!({"city": "Oslo", "degrees": 4.5})),
    ]);

    let output = run(weather(model)).await.unwrap();
    assert_eq!(output.parse::<Weather>().unwrap(), oslo());
    let results = result_texts(output.messages());
    assert!(results[0].1.contains("degrees"), "{}", results[0].1);
    assert_eq!(results.len(), 3);
}

// B5
#[tokio::test]
async fn a_model_that_never_fits_ends_the_run_with_the_last_fault() {
    let bad = || says(r#"{"city":7}"#);
    let text = weather(holds([bad(), bad(), bad(), bad()]));
    assert!(fault(run(text).await.unwrap_err()).contains("city"));

    let bad = || gives(json!({"degrees": "warm"}));
    let model = scripted([bad(), bad(), bad(), bad()]);
    let error = run(weather(model.clone())).await.unwrap_err();
    let output = error.output().unwrap();
    assert_eq!(output.outcome(), &Outcome::Failed);
    assert_eq!(result_texts(output.messages()).len(), 3);
    assert!(fault(error).contains("degrees"));
    assert_eq!(model.turns_left(), 1);
}

#[tokio::test]
async fn an_answer_that_can_never_be_read_is_not_asked_for_for_ever() {
    for broken in [
        "{\"city\":\"Os",
        "{\"city\":\"A\",\"city\":\"B\",\"degrees\":1}",
        "[1]",
        "warm",
    ] {
        let asked = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
        let count = std::sync::Arc::clone(&asked);
        let model = FunctionModel::new(move |_| {
            count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            gives(json!(broken))
        });

        let error = run(weather(model)).await.unwrap_err();
        assert!(error.output().unwrap().state().transcript().is_closed());
        assert!(fault(error).contains("arguments"), "{broken}");
        assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 3);
    }
}

#[tokio::test]
async fn no_retry_means_one_try() {
    let model = holds([says("no"), says(OSLO)]);

    let error = run(weather(model.clone()).output_retries(0))
        .await
        .unwrap_err();
    assert!(fault(error).contains("no JSON"));
    assert_eq!(model.0.turns_left(), 1);
}

#[tokio::test]
async fn tries_count_for_the_limit_of_model_calls() {
    let model = holds([says("no"), says("no"), says("no")]);
    let limits = Limits::new().model_calls(2);

    let output = run(weather(model).limits(limits).output_retries(9))
        .await
        .unwrap();
    assert_eq!(
        output.outcome(),
        &Outcome::LimitReached(agent_core::agent::Limit::ModelCalls)
    );
}

#[tokio::test]
async fn the_last_answer_at_a_limit_is_asked_for_in_its_form() {
    let model = holds([calls("look", json!({})), says(OSLO)]);
    let limits = Limits::new().model_calls(2).on_limit(OnLimit::LastAnswer);
    let agent = weather(model.clone())
        .tools(answers("look", "4.5"))
        .limits(limits);

    let output = run(agent).await.unwrap();
    assert!(matches!(output.outcome(), Outcome::LimitReached(_)));
    assert_eq!(output.parse::<Weather>().unwrap(), oslo());
    assert!(has_form(&model.0.requests()[1]));
}

// SO-2
#[tokio::test]
async fn in_words_the_schema_stands_once_behind_the_system_prompt() {
    let model = scripted([says(format!("Here:\n```json\n{OSLO}\n```"))]);
    let agent = weather(model.clone())
        .output_mode(OutputMode::Prompted)
        .system_prompt("Be brief.");

    let output = run(agent).await.unwrap();
    assert_eq!(output.text(), OSLO);
    let texts = texts(&model.requests()[0]);
    assert!(
        texts[0].starts_with("Be brief.\n\nAnswer with JSON only"),
        "{}",
        texts[0]
    );
    assert_eq!(texts[0].matches("\"degrees\":").count(), 1);
    assert_eq!(texts[1], "Oslo?");
    assert!(model.requests()[0].tools().definitions().is_empty());
}

// SO-2, SO-3, LN-7
#[tokio::test]
async fn in_words_beside_tools_the_schema_is_told_once_when_they_are_done() {
    let model = scripted([calls("look", json!({})), says("4.5 degrees."), says(OSLO)]);
    let agent = weather(model.clone())
        .tools(answers("look", "4.5"))
        .output_mode(OutputMode::Prompted);

    run(agent).await.unwrap();
    let counts: Vec<usize> = model
        .requests()
        .iter()
        .map(|request| texts(request).concat().matches("JSON Schema").count())
        .collect();
    assert_eq!(counts, [0, 0, 1]);
}

#[tokio::test]
async fn a_model_that_holds_no_schema_is_told_of_it_in_words_too() {
    let counts = |requests: &[ChatRequest]| -> Vec<usize> {
        let count = |it| texts(it).concat().matches("JSON Schema").count();
        requests.iter().map(count).collect()
    };
    let native = |model| weather(model).output_mode(OutputMode::Native);

    let alone = scripted([says(OSLO)]);
    run(native(alone.clone())).await.unwrap();
    assert_eq!(counts(&alone.requests()), [1]);
    assert!(has_form(&alone.requests()[0]));

    let beside = scripted([calls("look", json!({})), says("4.5 degrees."), says(OSLO)]);
    let agent = native(beside.clone()).tools(answers("look", "4.5"));
    run(agent).await.unwrap();
    assert_eq!(counts(&beside.requests()), [0, 0, 1]);
    assert!(has_form(&beside.requests()[2]));
}

#[tokio::test]
async fn json_between_words_is_found_where_it_has_one_reading() {
    for answer in [
        OSLO.to_owned(),
        format!("  {OSLO}\n"),
        format!("```\n{OSLO}\n```"),
        format!("Sure, here it is: {OSLO} Anything else?"),
        format!("Use {{city}} [see 1]:\n```rust\nfn f() {{}}\n```\n```json\n{OSLO}\n```"),
        format!("<think>{{\"days\": [1, 2]}}?</think>{OSLO}"),
        format!("{OSLO}\n\nAgain: {OSLO}"),
        format!("[[Oslo]], [{{city}}] and [[1], [see\n{OSLO}"),
    ] {
        let agent = weather(scripted([says(answer.as_str())])).output_mode(OutputMode::Prompted);
        assert_eq!(run(agent).await.unwrap().text(), OSLO, "{answer}");
    }
    for answer in [
        format!("{OSLO} or {}", OSLO.replace("Oslo", "Bergen")),
        format!("[{OSLO},]"),
        format!("{OSLO} {{\"city\": "),
        format!("<think>{OSLO}"),
    ] {
        let agent = weather(scripted([says(answer.as_str())])).output_mode(OutputMode::Prompted);
        assert!(run(agent.output_retries(0)).await.is_err(), "{answer}");
    }
}

#[tokio::test]
async fn an_answer_that_is_told_twice_is_one_however_it_is_written() {
    let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(OSLO).unwrap());
    let answer = format!("{OSLO}\n\nThat is:\n{}", pretty.unwrap());
    let agent = weather(scripted([says(answer)])).output_mode(OutputMode::Prompted);

    let output = run(agent.output_retries(0)).await.unwrap();
    assert_eq!(output.parse::<Weather>().unwrap(), oslo());
}

#[tokio::test]
async fn what_is_wrong_with_an_answer_is_told_and_not_what_is_with_the_words_around_it() {
    let answer = r#"[see 1] {"city": 7, "degrees": 4.5} as of [2]"#;
    let agent = weather(scripted([says(answer)])).output_mode(OutputMode::Prompted);

    let fault = fault(run(agent.output_retries(0)).await.unwrap_err());
    assert!(fault.contains("city"), "{fault}");
}

// SO-1
#[tokio::test]
async fn an_answer_is_held_to_a_schema_that_has_no_type() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]});
    let model = holds([says(r#"{"n":1}"#), says(r#"{"n":"x"}"#), says(r#"{"n":5}"#)]);
    let agent = ReactAgent::builder("assistant", model.clone()).output_schema(schema);

    let output = run(agent).await.unwrap();
    assert_eq!(output.parse::<Value>().unwrap(), json!({"n": 5}));
    let told = texts(&model.0.requests()[1]).pop().unwrap();
    assert!(
        told.contains("`/n`") && told.contains("minimum of 3"),
        "{told}"
    );
}

#[tokio::test]
async fn a_form_that_is_no_object_is_wrapped_for_the_provider_and_not_for_the_user() {
    let model = holds([says(r#"{"answer":["a","b"]}"#)]);
    let agent = ReactAgent::builder("assistant", model.clone()).output_type::<Vec<String>>();
    let output = run(agent).await.unwrap();
    assert_eq!(output.parse::<Vec<String>>().unwrap(), ["a", "b"]);
    assert_eq!(output.text(), r#"["a","b"]"#);

    let model = scripted([gives(json!({"answer": 18_446_744_073_709_551_615_u64}))]);
    let agent = ReactAgent::builder("assistant", model).output_type::<u64>();
    assert_eq!(run(agent).await.unwrap().parse::<u64>().unwrap(), u64::MAX);
}

#[tokio::test]
async fn a_type_with_only_schemars_is_wrapped() {
    #[derive(Deserialize, schemars::JsonSchema)]
    struct Sum {
        sum: i64,
    }
    let model = scripted([gives(json!({"sum": 5}))]);
    let agent = ReactAgent::builder("assistant", model).output_type::<Schemars<Sum>>();

    assert_eq!(run(agent).await.unwrap().parse::<Sum>().unwrap().sum, 5);
}

#[test]
fn a_schema_that_is_none_and_a_tool_of_the_same_name_are_faults() {
    let schema = json!({"type": "object", "properties": []});
    let agent = ReactAgent::builder("assistant", scripted([])).output_schema(schema);
    let error = agent.build().unwrap_err();
    assert!(matches!(error.faults(), [BuildFault::Output(_)]), "{error}");

    let agent = weather(scripted([])).tools(answers("final_answer", "x"));
    let error = agent.build().unwrap_err();
    assert!(
        matches!(error.faults(), [BuildFault::OutputTool { .. }]),
        "{error}"
    );
}

#[tokio::test]
async fn an_empty_answer_is_asked_for_again() {
    let model = holds([says(""), says(OSLO)]);

    assert_eq!(run(weather(model)).await.unwrap().text(), OSLO);
}

#[tokio::test]
async fn an_answer_that_was_cut_is_told_so() {
    let cut = says(r#"{"city":"Oslo","deg"#).finish(FinishReason::Length);
    let model = holds([cut, says(OSLO)]);

    run(weather(model.clone())).await.unwrap();
    let told = texts(&model.0.requests()[1]).pop().unwrap();
    assert!(told.contains("limit of tokens"), "{told}");
}

// ST-9
#[tokio::test]
async fn the_output_key_holds_the_json() {
    let model = scripted([says(format!("Here: {OSLO}"))]);
    let agent = weather(model)
        .output_mode(OutputMode::Prompted)
        .output_key("weather");

    let output = run(agent).await.unwrap();
    assert_eq!(output.state().value("weather"), Some(&json!(OSLO)));
}

// E7
#[tokio::test]
async fn the_test_model_gives_an_answer_of_the_form() {
    for mode in [OutputMode::Auto, OutputMode::Native, OutputMode::Tool] {
        for seed in 0..20 {
            let agent = weather(TestModel::new().seed(seed))
                .tools(answers("look", "4.5"))
                .output_mode(mode);
            let output = run(agent).await.unwrap();
            output.parse::<Weather>().unwrap();
            assert_eq!(result_texts(output.messages())[0].1, "4.5");
        }
    }
}

// B5
#[tokio::test]
async fn the_answer_can_be_read_while_it_is_written() {
    #[derive(Deserialize)]
    struct Draft {
        city: Option<String>,
        degrees: Option<f64>,
    }
    for model in [
        scripted([
            fails(ModelError::new(ModelErrorKind::Transport, "broke"))
                .and_says("{\"city\": \"Bergen\""),
            says(r#"{"city": "Oslo by night", "degrees": 4.5}"#),
        ]),
        scripted([
            calls("look", json!({})),
            gives(json!("{\"city\": \"Oslo by night\", \"degrees\": 4.5}")),
        ]),
    ] {
        let agent = weather(model)
            .tools(answers("look", "4.5"))
            .model_interceptor(agent_core::agent::ModelRetry::new().min_delay(Duration::ZERO))
            .build()
            .unwrap();
        let mut run = agent.run("Oslo?").stream();
        let mut cities: Vec<String> = Vec::new();
        let mut degrees = None;
        while let Some(event) = run.next().await {
            event.unwrap();
            if let Some(draft) = run.partial::<Draft>() {
                cities.extend(draft.city.filter(|city| cities.last() != Some(city)));
                degrees = draft.degrees;
            }
        }
        let written = ["Oslo ", "Oslo by ", "Oslo by night"];
        assert!(cities.ends_with(&written.map(String::from)), "{cities:?}");
        assert_eq!(degrees, Some(4.5));
    }
}

/// A model that writes this text a piece at a time.
fn writes(pieces: Vec<String>) -> FunctionModel {
    FunctionModel::streaming(move |_| {
        let text = pieces.clone().into_iter().map(ModelDelta::Text);
        let deltas = text.chain([ModelDelta::Finished(FinishReason::Stop)]);
        futures_util::stream::iter(deltas.map(Ok))
    })
}

#[tokio::test]
async fn thoughts_and_brackets_before_an_answer_are_no_part_of_it_while_it_is_written() {
    let text = format!("<think>{{\"city\": \"Bergen\"}}?</think>Use {{city}} [see 1]: {OSLO}");
    let pieces: Vec<char> = text.chars().collect();
    let pieces = pieces.chunks(3).map(|piece| piece.iter().collect());
    let agent = weather(writes(pieces.collect())).output_mode(OutputMode::Native);
    let agent = agent.build().unwrap();

    let mut run = agent.run("Oslo?").stream();
    let mut cities = Vec::new();
    while let Some(event) = run.next().await {
        event.unwrap();
        let city = run.partial::<Value>().map(|part| part["city"].clone());
        cities.extend(city.filter(|city| city.is_string() && cities.last() != Some(city)));
    }

    assert!(cities.len() > 1, "{cities:?}");
    let is_oslo = |city: &Value| city.as_str().is_some_and(|city| "Oslo".starts_with(city));
    assert!(cities.iter().all(is_oslo), "{cities:?}");
}

#[tokio::test]
async fn what_an_agent_of_the_same_name_writes_in_a_call_is_no_part_of_the_answer() {
    let inner = scripted([says(r#"{"city": "Bergen", "degrees": 1.0}"#)]);
    let inner = weather(inner).description("Tells the weather.");
    let inner = AgentTool::new(inner.build().unwrap());
    let name = inner.definition().name().to_owned();
    let outer = scripted([calls(&*name, json!({"input": "Bergen?"})), says(OSLO)]);
    let agent = weather(outer).output_mode(OutputMode::Native).tools(inner);
    let agent = agent.build().unwrap();
    assert_eq!(agent.name(), name);

    let mut run = agent.run("Oslo?").stream();
    let mut cities = Vec::new();
    while let Some(event) = run.next().await {
        event.unwrap();
        let part = run.partial::<Value>();
        cities.extend(part.and_then(|part| Some(part["city"].as_str()?.to_owned())));
    }

    assert!(!cities.is_empty());
    assert!(
        cities.iter().all(|city| "Oslo".starts_with(city)),
        "{cities:?}"
    );
}

#[tokio::test]
async fn an_answer_that_speaks_of_thoughts_is_read_while_it_is_written() {
    let text = r#"{"city": "a</think>b", "degrees": 4.5}"#.to_owned();
    let agent = weather(writes(vec![text])).output_mode(OutputMode::Native);
    let agent = agent.build().unwrap();

    let mut run = agent.run("Oslo?").stream();
    let mut last = None;
    while let Some(event) = run.next().await {
        event.unwrap();
        last = run.partial::<Value>().or(last);
    }

    assert_eq!(last.unwrap()["city"], "a</think>b");
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(".{0,4}", inner, 0..4)
                .prop_map(|all| all.into_iter().collect()),
        ]
    })
}

/// True if `small` may be what was written of `whole` so far.
fn is_part(small: &Value, whole: &Value) -> bool {
    match (small, whole) {
        (Value::Object(small), Value::Object(whole)) => small
            .iter()
            .all(|(key, value)| whole.get(key).is_some_and(|it| is_part(value, it))),
        (Value::Array(small), Value::Array(whole)) => {
            small.len() <= whole.len()
                && small
                    .iter()
                    .zip(whole)
                    .all(|(small, whole)| is_part(small, whole))
        }
        (Value::String(small), Value::String(whole)) => whole.starts_with(small.as_str()),
        (small, whole) => small == whole,
    }
}

// B5, E4, B8
proptest! {
    #[test]
    fn what_is_read_while_it_is_written_is_part_of_the_answer(answer in value(), cuts in proptest::collection::vec(1usize..6, 1..40)) {
        let answer = json!({"answer": answer});
        let text: Vec<char> = answer.to_string().chars().collect();
        let mut pieces = Vec::new();
        let (mut rest, mut sizes) = (&text[..], cuts.iter().cycle());
        while !rest.is_empty() {
            let (piece, more) = rest.split_at(rest.len().min(*sizes.next().unwrap()));
            pieces.push(piece.iter().collect::<String>());
            rest = more;
        }
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let agent = |model| ReactAgent::builder("assistant", model).output_schema(json!({"type": "object"})).output_mode(OutputMode::Native);
            let streaming = agent(writes(pieces.clone())).build().unwrap();
            let mut run = streaming.run("?").stream();
            let (mut last, mut finished) = (None, None);
            while let Some(event) = run.next().await {
                if let EventKind::RunFinished(output) = event.unwrap().kind {
                    finished = Some(output);
                }
                if let Some(part) = run.partial::<Value>() {
                    assert!(is_part(&part, &answer), "{part} is no part of {answer}");
                    last = Some(part);
                }
            }
            let plain = agent(writes(pieces)).streaming(false).build().unwrap().run("?").await.unwrap();
            let streamed = finished.unwrap();
            assert_eq!(streamed.text(), plain.text());
            assert_eq!(last.unwrap(), streamed.parse::<Value>().unwrap());
        });
    }
}

// Never more than the text is read, whatever is written.
#[tokio::test]
async fn hostile_text_is_read_as_far_as_it_goes() {
    for text in [
        "[".repeat(100_000),
        "{\"a\":".repeat(50_000),
        "\"\\u".repeat(1000),
        "{\"a\":\"\\ud83d".to_owned(),
        "```json".to_owned(),
        "{]".to_owned(),
    ] {
        let agent = ReactAgent::builder("assistant", writes(vec![text]))
            .output_schema(json!({"type": "object"}))
            .output_mode(OutputMode::Native)
            .output_retries(0);
        let agent = agent.build().unwrap();
        let mut run = agent.run("?").stream();
        let mut error = None;
        while let Some(event) = run.next().await {
            error = event.err();
            let _ = run.partial::<Value>();
        }
        assert!(matches!(error, Some(AgentError::InvalidOutput { .. })));
    }
}

struct Sees(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl ToolInterceptor for Sees {
    fn intercept<'a>(
        &'a self,
        request: ToolRequest,
        next: ToolNext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        self.0.lock().unwrap().push(request.call.name().to_owned());
        next.run(request)
    }
}

#[tokio::test]
async fn events_tell_of_the_call_that_gives_the_answer_as_of_any_other() {
    let seen = std::sync::Arc::default();
    let model = scripted([gives(json!({"city": "Oslo", "degrees": 4.5}))]);
    let agent = weather(model).tool_interceptor(Sees(std::sync::Arc::clone(&seen)));

    let (events, _) = events(agent.build().unwrap().run("Oslo?").stream()).await;
    assert_eq!(*seen.lock().unwrap(), ["final_answer"]);
    assert_eq!(
        output(&events)
            .messages()
            .last()
            .map(Message::text)
            .unwrap(),
        OSLO
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_ends_while_the_form_is_asked_for_again_ends_as_said() {
    for streaming in [true, false] {
        let model = holds([says("no JSON"), hangs().and_says(OSLO)]);
        let agent = weather(model.clone()).build().unwrap();
        let late = agent
            .run("Oslo?")
            .streaming(streaming)
            .deadline(Duration::from_secs(9));
        let output = late.await.unwrap();
        assert!(matches!(output.outcome(), Outcome::LimitReached(_)));
        assert!(output.state().transcript().is_closed());

        let model = scripted([gives(json!({"city": 7})), hangs()]);
        let token = agent_core::graph::CancellationToken::new();
        let (agent, cancels) = (weather(model).build().unwrap(), token.clone());
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            cancels.cancel();
        });
        let output = agent
            .run("Oslo?")
            .streaming(streaming)
            .cancel_token(token)
            .await
            .unwrap();
        assert_eq!(output.outcome(), &Outcome::Cancelled);
        assert!(output.state().transcript().is_closed());
    }
}

#[tokio::test]
async fn an_agent_with_a_form_is_a_tool_that_gives_its_json() {
    let inner = weather(scripted([gives(json!({"city": "Oslo", "degrees": 4.5}))]))
        .description("Knows the weather.")
        .build()
        .unwrap();
    let model = scripted([calls("assistant", json!({"input": "Oslo?"})), says("Cold.")]);
    let outer = ReactAgent::builder("outer", model).tools(AgentTool::new(inner));

    let output = outer.build().unwrap().run("Oslo?").await.unwrap();
    assert_eq!(
        result_texts(output.messages())[0].1,
        r#"{"city":"Oslo","degrees":4.5}"#
    );
}
