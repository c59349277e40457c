//! The loop of model and tools: how often each is asked, by which rule, and what it costs.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use agent_core::agent::{
    Hook, HookAction, HookContext, HookFuture, HookPosition, Limits, ModelInterceptor, ModelNext,
    ReactAgentBuilder,
};
use agent_core::graph::State;
use agent_core::message::ToolCall;
use agent_core::model::scripted::{Turn, calls, says};
use agent_core::model::{
    ChatModel, ChatOptions, ChatRequest, ChatResponse, FinishReason, FunctionModel, ModelDelta,
    ModelError, ScriptedModel, ToolChoice, ToolList, Usage,
};
use agent_core::{BoxFuture, BoxStream, Outcome, ReactAgent, ToolSet};
use agent_tests::fixtures::json_files;
use agent_tests::runs::{events, offered, output, result_texts};
use agent_tests::tools::{answers, tool};
use serde_json::{Value, json};

/// An agent of a script with the tool `look`, and how often that ran.
fn looking(
    turns: impl IntoIterator<Item = Turn>,
) -> (ReactAgentBuilder, ScriptedModel, Arc<AtomicU32>) {
    let (model, runs) = (ScriptedModel::new(turns), Arc::new(AtomicU32::new(0)));
    let look = tool("look", Arc::clone(&runs), async |runs, _, _| {
        runs.fetch_add(1, Ordering::SeqCst);
        "nothing"
    });
    let agent = ReactAgent::builder("assistant", model.clone()).tools(look);
    (agent, model, runs)
}

fn number(of: &Value, key: &str) -> u64 {
    of[key].as_u64().unwrap_or_default()
}

fn usage(round: &Value) -> Usage {
    let mut usage = Usage::new(number(round, "prompt"), number(round, "completion"));
    usage.total_tokens = number(round, "total");
    usage.cached_input_tokens = number(round, "cache_read");
    usage.cache_write_input_tokens = number(round, "cache_write");
    usage
}

fn turn(message: &Value) -> Turn {
    let mut turn = says(message["text"].as_str().unwrap_or_default());
    for call in message["calls"].as_array().into_iter().flatten() {
        let name = call["name"].as_str().unwrap();
        turn = turn.and_calls(name, call["args"].clone());
        turn = turn.with_id(call["id"].as_str().unwrap());
    }
    turn
}

// ad.3.1, ad.3.3, ad.8.2, ad.13: area tool_loop
#[tokio::test]
async fn the_references_cases_of_the_loop() {
    let (_, cases) = json_files("reference")
        .into_iter()
        .find(|(name, _)| name == "tool_loop")
        .unwrap();
    let mut seen = Vec::new();
    for case in cases.as_array().unwrap() {
        let (given, expect) = (&case["given"], &case["expect"]);
        let id = case["id"].as_str().unwrap();
        let turns = || -> Vec<Turn> {
            match &given["model"] {
                Value::Array(messages) => messages.iter().map(turn).collect(),
                _ => {
                    let rounds = given["rounds"].as_array().unwrap();
                    let last = rounds.len() - 1;
                    let reply = |(at, round)| {
                        let reply = if at == last {
                            says("hi")
                        } else {
                            calls("t", json!({}))
                        };
                        reply.with_usage(usage(round))
                    };
                    rounds.iter().enumerate().map(reply).collect()
                }
            }
        };
        for streaming in [true, false] {
            let model = ScriptedModel::new(turns());
            let direct = given["tools"][0]["result"].as_str().unwrap_or("ran");
            let tools = [
                answers("t", "ran"),
                answers("rd", direct.to_owned().leak()).direct(),
            ];
            let agent = ReactAgent::builder("assistant", model.clone())
                .tools(Vec::from(tools))
                .streaming(streaming);
            let run = agent.build().unwrap().run("Go").await.unwrap();

            if let Some(calls) = expect["model_calls"].as_u64() {
                assert_eq!(model.requests().len() as u64, calls, "{id}");
            }
            if let Some(executions) = expect["executions"].as_u64() {
                assert_eq!(
                    result_texts(run.messages()).len() as u64,
                    executions,
                    "{id}"
                );
            }
            if let Some(answer) = expect["answer"].as_str() {
                assert_eq!(run.text(), answer, "{id}");
            }
            if let Some(reason) = expect["finish_reason"].as_str() {
                assert_eq!(run.finish_reason().unwrap().to_string(), reason, "{id}");
            }
            if !expect["usage"].is_null() {
                assert_eq!(run.usage(), usage(&expect["usage"]), "{id}");
            }
        }
        seen.push(id);
    }
    assert_eq!(seen, ["ad.3.1", "ad.3.3", "ad.8.2", "ad.13"]);
}

// TA-3, ad.4, B14
#[tokio::test]
async fn a_rule_can_take_a_reply_with_calls_as_the_answer() {
    let turn = || calls("look", json!({})).and_says("That is all.");
    for hooks in [false, true] {
        let (mut agent, model, runs) = looking([turn()]);
        if hooks {
            agent = agent.hook(Counts::default());
        }
        let agent =
            agent.execute_tools_when(|reply| reply.finish_reason != FinishReason::ToolCalls);

        let output = agent.build().unwrap().run("Go").await.unwrap();
        assert_eq!(output.outcome(), &Outcome::Finished);
        assert_eq!(output.text(), "That is all.");
        assert_eq!(runs.load(Ordering::SeqCst), 0);
        assert_eq!(model.requests().len(), 1);
        // The call has its result all the same: the history can be sent again.
        assert!(output.state().transcript().is_closed());
        assert!(
            result_texts(output.messages())[0]
                .1
                .contains("no tool runs")
        );
    }
}

// TA-3, ad.4, B14
#[tokio::test]
async fn a_rule_can_ask_the_model_again_after_a_reply_without_calls() {
    for hooks in [false, true] {
        let paused = says("Let me think.").finish(FinishReason::Other("pause_turn".into()));
        let (mut agent, model, _) = looking([paused, says("Done.")]);
        let counts = Counts::default();
        if hooks {
            agent = agent.hook(counts.clone());
        }
        let agent = agent.execute_tools_when(|reply| {
            !reply.message.tool_calls.is_empty()
                || reply.finish_reason == FinishReason::Other("pause_turn".into())
        });

        let output = agent.build().unwrap().run("Go").await.unwrap();
        assert_eq!(output.text(), "Done.");
        assert_eq!(model.requests().len(), 2);
        assert_eq!(
            *counts.0.lock().unwrap(),
            if hooks { [2, 2] } else { [0, 0] }
        );
    }
}

// B14
#[tokio::test]
async fn a_rule_that_never_ends_is_ended_by_the_limit() {
    let model = FunctionModel::new(|_| says("On and on."));
    let agent = ReactAgent::builder("assistant", model)
        .execute_tools_when(|_| true)
        .limits(Limits::new().model_calls(7))
        .build()
        .unwrap();

    let output = agent.run("Go").await.unwrap();
    assert!(
        matches!(output.outcome(), Outcome::LimitReached(_)),
        "{output:?}"
    );
}

/// Counts how often it ran before and after the model.
#[derive(Clone, Default)]
struct Counts(Arc<Mutex<[u32; 2]>>);

impl Hook for Counts {
    fn name(&self) -> &str {
        "counts"
    }

    fn positions(&self) -> &[HookPosition] {
        &[HookPosition::BeforeModel, HookPosition::AfterModel]
    }

    fn before_model<'a>(&'a self, _: &'a State, _: &'a HookContext) -> HookFuture<'a> {
        self.0.lock().unwrap()[0] += 1;
        Box::pin(std::future::ready(Ok(HookAction::Continue)))
    }

    fn after_model<'a>(&'a self, _: &'a State, _: &'a HookContext) -> HookFuture<'a> {
        self.0.lock().unwrap()[1] += 1;
        Box::pin(std::future::ready(Ok(HookAction::Continue)))
    }
}

// TA-6, ad.7
#[tokio::test]
async fn hooks_around_the_model_run_once_a_round() {
    for rounds in [1, 2] {
        let mut turns: Vec<Turn> = (1..rounds).map(|_| calls("look", json!({}))).collect();
        turns.push(says("Done."));
        let (agent, ..) = looking(turns);
        let counts = Counts::default();

        agent
            .hook(counts.clone())
            .build()
            .unwrap()
            .run("Go")
            .await
            .unwrap();
        assert_eq!(*counts.0.lock().unwrap(), [rounds, rounds]);
    }
}

/// Changes each request.
struct Changes<F>(F);

impl<F: Fn(ChatRequest) -> ChatRequest + Send + Sync + 'static> ModelInterceptor for Changes<F> {
    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        next.run((self.0)(request))
    }
}

// TA-5, ad.6, B10, LN-3
#[tokio::test]
async fn a_tool_that_an_interceptor_offers_runs_if_a_resolver_knows_it() {
    for streaming in [true, false] {
        let extra = answers("extra", "extra ran");
        let set = ToolSet::new(extra).unwrap();
        let definition = set.get("extra").unwrap().definition().clone();
        let offers = Changes(move |request: ChatRequest| {
            let own = request.tools().definitions().iter().cloned();
            let tools = ToolList::new(own.chain([definition.clone()]));
            request.with_tools(tools)
        });
        let (agent, model, _) = looking([calls("extra", json!({})), says("Done.")]);
        let agent = agent
            .model_interceptor(offers)
            .resolver(set)
            .streaming(streaming);

        let output = agent.build().unwrap().run("Go").await.unwrap();
        assert_eq!(offered(&model.requests()[0]), ["look", "extra"]);
        assert_eq!(result_texts(output.messages())[0].1, "extra ran");
    }
}

// LN-2
#[tokio::test]
async fn a_request_for_no_tools_offers_none() {
    let (agent, model, _) = looking([says("Done.")]);
    let agent = agent.model_interceptor(Changes(|request: ChatRequest| {
        request.with_tools(ToolList::default())
    }));

    agent.build().unwrap().run("Go").await.unwrap();
    assert!(offered(&model.requests()[0]).is_empty());
}

// LN-6, TA-2, ad.2
#[tokio::test]
async fn what_is_not_set_is_not_in_the_request_though_there_are_tools() {
    let (agent, model, _) = looking([says("Done.")]);

    agent.build().unwrap().run("Go").await.unwrap();
    assert_eq!(model.requests()[0].options(), &ChatOptions::new());
    assert!(model.requests()[0].response_format().is_none());
}

// ad.9, US-3
#[tokio::test]
async fn usage_in_one_round_only_is_that_of_the_run() {
    let used = || Usage::new(10, 20);
    for (first, last) in [(Some(used()), None), (None, Some(used()))] {
        let with = |turn: Turn, usage: Option<Usage>| match usage {
            Some(usage) => turn.with_usage(usage),
            None => turn,
        };
        let turns = [
            with(calls("look", json!({})), first),
            with(says("Done."), last),
        ];
        let (agent, ..) = looking(turns);

        let (events, _) = events(agent.build().unwrap().run("Go").stream()).await;
        assert_eq!(output(&events).usage(), used());
    }
}

// US-1
#[tokio::test]
async fn cached_and_reasoning_tokens_are_summed() {
    let used = |n: u64| {
        let mut usage = Usage::new(10 * n, 5 * n);
        usage.cached_input_tokens = 3 * n;
        usage.reasoning_tokens = 2 * n;
        usage
    };
    let (agent, ..) = looking([
        calls("look", json!({})).with_usage(used(1)),
        says("Done.").with_usage(used(2)),
    ]);

    assert_eq!(
        agent.build().unwrap().run("Go").await.unwrap().usage(),
        used(3)
    );
}

// ad.11, TA-8, US-2
#[tokio::test]
async fn at_a_limit_the_results_and_the_usage_so_far_are_kept() {
    for streaming in [true, false] {
        let twice = calls("look", json!({}))
            .and_calls("look", json!({}))
            .with_usage(Usage::new(10, 20));
        let (agent, _, runs) = looking([twice]);
        let agent = agent
            .limits(Limits::new().tool_calls(1))
            .streaming(streaming);

        let output = agent.build().unwrap().run("Go").await.unwrap();
        assert!(matches!(output.outcome(), Outcome::LimitReached(_)));
        assert_eq!(output.usage(), Usage::new(10, 20));
        assert_eq!(runs.load(Ordering::SeqCst), 1);
        let results = result_texts(output.messages());
        assert_eq!(results[0].1, "nothing");
        assert!(results[1].1.contains("limit"), "{}", results[1].1);
    }
}

// ad.12, US-2
#[tokio::test]
async fn a_direct_result_in_the_second_round_keeps_the_usage_of_both() {
    let model = ScriptedModel::new([
        calls("look", json!({})).with_usage(Usage::new(10, 20)),
        calls("show", json!({})).with_usage(Usage::new(1, 2)),
    ]);
    let agent = ReactAgent::builder("assistant", model)
        .tools(vec![
            answers("look", "nothing"),
            answers("show", "shown").direct(),
        ])
        .build()
        .unwrap();

    let output = agent.run("Go").await.unwrap();
    assert_eq!(output.text(), "shown");
    assert_eq!(output.usage(), Usage::new(11, 22));
}

/// A model of a provider without seeds.
struct Seedless(ScriptedModel);

impl ChatModel for Seedless {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        self.0.stream(request)
    }

    fn unsupported(&self, options: &ChatOptions, _: &ToolList) -> Vec<&'static str> {
        options.seed.map(|_| "seed").into_iter().collect()
    }
}

// B7
#[tokio::test]
async fn a_setting_that_the_provider_has_not_is_told() {
    let model = Seedless(ScriptedModel::new([says("Done."), says("Done.")]));
    let agent = ReactAgent::builder("assistant", model).build().unwrap();

    let with_seed = agent
        .run("Go")
        .options(ChatOptions::new().seed(7).temperature(0.1))
        .await
        .unwrap();
    assert_eq!(with_seed.unsupported(), ["seed"]);
    assert!(agent.run("Go").await.unwrap().unsupported().is_empty());
}

// ex-27
#[tokio::test]
async fn a_call_that_was_cut_is_told_so_and_the_whole_one_runs() {
    let cut = calls("look", json!({})).and_calls("look", json!("{\"p\":\"b\",\"t\":\"xx"));
    let (agent, _, runs) = looking([cut.finish(FinishReason::Length), says("Done.")]);

    let output = agent.build().unwrap().run("Go").await.unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert!(result_texts(output.messages())[1].1.contains("truncated"));
}

// ex-38
#[tokio::test]
async fn a_megabyte_of_arguments_in_fragments_reaches_the_tool() {
    let content = "a".repeat(1 << 20);
    let arguments = json!({"content": content}).to_string();
    let model = FunctionModel::streaming(move |request: ChatRequest| {
        let deltas: Vec<ModelDelta> = match request.last_tool_result().is_empty() {
            false => vec![
                ModelDelta::Finished(FinishReason::Stop),
                ModelDelta::Text("Done.".into()),
            ],
            true => {
                let pieces = arguments.as_bytes().chunks(1024);
                let fragments = pieces.map(|piece| ModelDelta::ToolCallFragment {
                    index: 0,
                    id: "c1".into(),
                    name: "measure".into(),
                    arguments: String::from_utf8_lossy(piece).into_owned(),
                });
                let call = ModelDelta::ToolCall(ToolCall::new("c1", "measure", arguments.clone()));
                fragments
                    .chain([call, ModelDelta::Finished(FinishReason::ToolCalls)])
                    .collect()
            }
        };
        futures_util::stream::iter(deltas.into_iter().map(Ok))
    });
    let measure = tool("measure", (), async |(), input: Value, _| {
        input["content"]
            .as_str()
            .unwrap_or_default()
            .len()
            .to_string()
    });
    let agent = ReactAgent::builder("assistant", model)
        .tools(measure)
        .build()
        .unwrap();

    let output = agent.run("Go").await.unwrap();
    assert_eq!(result_texts(output.messages())[0].1, "1048576");
}

// B7
#[tokio::test]
async fn settings_of_the_model_the_agent_and_the_run_come_over_each_other() {
    for streaming in [true, false] {
        let scripted = ScriptedModel::new([says("Done.")]);
        let own = ChatOptions::new()
            .seed(1)
            .temperature(0.1)
            .extra("a", 1)
            .extra("b", 1);
        let of_agent = ChatOptions::new().temperature(0.2).top_p(0.2).extra("b", 2);
        let of_run = ChatOptions::new().top_p(0.3).max_output_tokens(3);
        let model = Seedless(scripted.clone()).with_options(own);
        let agent = ReactAgent::builder("assistant", model)
            .options(of_agent)
            .streaming(streaming);

        let output = agent
            .build()
            .unwrap()
            .run("Go")
            .options(of_run)
            .await
            .unwrap();
        let expected = ChatOptions::new()
            .seed(1)
            .temperature(0.2)
            .top_p(0.3)
            .max_output_tokens(3)
            .extra("a", 1)
            .extra("b", 2);
        assert_eq!(scripted.requests()[0].options(), &expected);
        assert_eq!(output.unsupported(), ["seed"]);
    }
}

// B7
#[tokio::test]
async fn a_choice_of_tools_is_an_option_like_any_other() {
    let (agent, model, _) = looking([says("Done.")]);
    let options = |choice| ChatOptions::new().tool_choice(choice);
    let agent = agent
        .options(options(ToolChoice::Required))
        .build()
        .unwrap();

    agent
        .run("Go")
        .options(options(ToolChoice::None))
        .await
        .unwrap();
    assert_eq!(
        model.requests()[0].options().tool_choice,
        Some(ToolChoice::None)
    );
}
