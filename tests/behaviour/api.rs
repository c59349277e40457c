//! The public surface, as outside programs write it: every name once, in its shape.
//!
//! Most of it is proven by compiling. A name that changes here breaks programs.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::agent::{
    AgentTool, BuildError, BuildFault, Input, Interrupt, Limit, Limits, OnLimit, ReactAgentBuilder,
    RunRequest, RunStream,
};
use agent_core::event::EventKind;
use agent_core::graph::{
    CancellationToken, CompiledGraph, END, GraphError, KeyStrategy, NodeAction, NodeOutput, START,
    State, StateError, StateGraph, StateKey, StateUpdate,
};
use agent_core::message::{ContentPart, Image, ToolResult, Transcript};
use agent_core::model::scripted::{Turn, calls, fails, says};
use agent_core::model::{
    ChatModel, ChatRequest, ChatResponse, FinishReason, ModelDelta, ModelError, ModelErrorKind,
    OpenAi, ScriptedModel, Timeouts, Usage, openai,
};
use agent_core::schema::{Dialect, Schema};
use agent_core::tool::{
    CancelGuard, FunctionTool, InputSchema, InterruptRequest, IntoTools, Json, ParamKind,
    ToolErrorKind, ToolMetadata, ToolOutcome, ToolParam, ToolProvider, ToolSetError,
};
use agent_core::{
    AgentError, AgentEvent, BoxError, BoxFuture, BoxStream, Error, Host, IntoToolOutput, Message,
    Outcome, ReactAgent, RunOutput, ToolCallback, ToolContext, ToolDefinition, ToolError,
    ToolOutput, ToolSchema, ToolSet, tool, tools,
};
use futures_util::Stream;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

#[tool(register = false)]
async fn get_weather(
    /** City name */
    city: String,
    days: Option<u8>,
) -> String {
    format!("{city} {days:?}")
}

mod m {
    #[agent_core::tool(type = SearchTool, register = false)]
    pub(super) fn search(words: &[String]) -> usize {
        words.len()
    }
}

const DEFINITION: &ToolDefinition = get_weather::DEFINITION;
const NAME: &str = DEFINITION.name();
const DESCRIPTION: &str = DEFINITION.description();
const INPUT: &InputSchema = DEFINITION.input_schema();
const OUTPUT: Option<&InputSchema> = DEFINITION.output_schema();
const TEXT: Option<&'static str> = INPUT.const_text();

#[test]
fn a_tool_is_a_constant_and_a_callback() {
    let callback: fn() -> Arc<dyn ToolCallback> = get_weather::callback;
    let listed: Vec<Arc<dyn ToolCallback>> = tools![get_weather, m::SearchTool];

    assert_eq!((NAME, DESCRIPTION), ("get_weather", "get weather"));
    assert!(OUTPUT.is_none());
    let text = r#"{"type":"object","properties":{"city":{"type":"string","description":"City name"},"days":{"type":["integer","null"],"minimum":0,"maximum":255}},"required":["city"],"additionalProperties":false}"#;
    assert_eq!(TEXT, Some(text));
    assert_eq!(INPUT.text(), text);
    let value: Value = INPUT.value();
    assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
    assert_eq!(callback().definition().name(), NAME);
    assert_eq!(listed[1].definition().name(), "search");
    assert_eq!(m::search(&["a".to_owned()]), 1);
}

/// How to sort.
#[derive(Debug, Deserialize, ToolSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Order {
    /// The key.
    #[param(description = "Sorts by this.")]
    by: String,
}

struct Cities;

impl ToolSchema for Cities {
    const SCHEMA: Schema = Schema::array(&<String as ToolSchema>::SCHEMA);
    const REQUIRED: bool = true;
}

struct Tenant(String);

impl ToolParam for Tenant {
    const KIND: ParamKind = ParamKind::Context;

    fn take(argument: Option<&RawValue>, context: &ToolContext) -> Result<Self, ToolError> {
        assert!(argument.is_none());
        Ok(Self(context.run_id().to_owned()))
    }
}

#[tool(register = false)]
async fn of_tenant(tenant: Tenant, _token: CancellationToken, _db: Host<Db>) -> String {
    tenant.0
}

#[test]
fn a_type_is_a_parameter_by_its_traits() {
    assert!(<Order as ToolSchema>::SCHEMA.to_string().contains("\"by\""));
    const { assert!(!<Option<u8> as ToolSchema>::REQUIRED) };
    assert!(Cities::SCHEMA.to_string().contains("array"));
    assert_eq!(tools![of_tenant].len(), 1);
}

struct ByHand {
    definition: ToolDefinition,
    metadata: ToolMetadata,
}

impl ByHand {
    fn new(name: &'static str) -> Self {
        let schema = InputSchema::from_value(json!({"type": "object", "properties": {}}));
        Self {
            definition: ToolDefinition::new(name, "", schema),
            metadata: ToolMetadata::new(),
        }
    }
}

impl ToolCallback for ByHand {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn metadata(&self) -> &ToolMetadata {
        &self.metadata
    }

    fn call<'a>(
        &'a self,
        _: &'a str,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        Box::pin(async {
            let asked = ToolOutcome::Interrupt(InterruptRequest::new("?"));
            if matches!(asked, ToolOutcome::Done(_)) {
                return Err(ToolError::fatal("never"));
            }
            Ok(ToolOutcome::Done(ToolOutput::from_text("done")))
        })
    }
}

struct Provider;

impl ToolProvider for Provider {
    fn callbacks(self: Arc<Self>) -> Vec<Arc<dyn ToolCallback>> {
        vec![Arc::new(ByHand::new("provided"))]
    }
}

#[test]
fn anything_that_is_tools_can_be_given() {
    let one: Arc<dyn ToolCallback> = Arc::new(ByHand::new("c"));
    let provider: Arc<dyn ToolProvider> = Arc::new(Provider);
    let set: Result<ToolSet, ToolSetError> = ToolSet::new(ByHand::new("set"));
    let set = set.unwrap();
    let _: fn() -> Result<ToolSet, ToolSetError> = ToolSet::registered;
    let first: Option<&Arc<dyn ToolCallback>> = set.iter().next();
    assert_eq!(first.is_some(), set.get("set").is_some());

    let given = [
        ByHand::new("a").into_tools(),
        one.into_tools(),
        Arc::new(Provider).into_tools(),
        provider.into_tools(),
        (&set).into_tools(),
        set.into_tools(),
        vec![ByHand::new("v")].into_tools(),
        [ByHand::new("n")].into_tools(),
        Some(ByHand::new("o")).into_tools(),
    ];

    assert!(given.iter().all(|tools| tools.len() == 1));
}

#[test]
fn a_set_gives_other_sets_and_a_report() {
    let set = ToolSet::new([ByHand::new("a"), ByHand::new("b")]).unwrap();

    let set = set.prefix("x_").unwrap().rename("x_b", "c").unwrap();
    let set: ToolSet = set.filter(|tool: &Arc<dyn ToolCallback>| tool.definition().name() == "c");
    let _ = set.report(Dialect::OpenAi);

    assert_eq!(set.names().collect::<Vec<_>>(), ["c"]);
}

#[test]
fn closures_are_tools() {
    let nothing = FunctionTool::new("a", "", async || "x");
    let input = FunctionTool::new("b", "", async |order: Order| order.by);
    let context = FunctionTool::new("c", "", async |_: Order, context: ToolContext| {
        Ok::<_, BoxError>(context.run_id().to_owned())
    });
    let blocking = FunctionTool::blocking("d", "", || 1);
    let schema = json!({"type": "object", "properties": {}});
    let of_schema = FunctionTool::from_schema("e", "", schema, async |_: Value| 1);

    let tools = [nothing, input, context, blocking, of_schema.unwrap()];
    assert_eq!(ToolSet::new(tools).unwrap().len(), 5);
}

#[test]
fn what_a_tool_gives() {
    fn shown<T: IntoToolOutput>() -> fn(T) -> Result<ToolOutcome, ToolError> {
        T::into_tool_output
    }

    shown::<&str>();
    shown::<String>();
    shown::<Cow<'static, str>>();
    shown::<Json<Vec<u8>>>();
    shown::<Image>();
    shown::<Vec<ContentPart>>();
    shown::<ToolOutput>();
    shown::<ToolOutcome>();
    shown::<std::process::Output>();
    shown::<Option<String>>();
    shown::<Result<String, std::io::Error>>();
    shown::<Result<(), ToolError>>();
    let ToolOutcome::Done(done) = shown::<()>()(()).unwrap() else {
        panic!("`()` pauses");
    };
    assert_eq!(done.text(), "Done");
}

#[test]
fn a_tool_error_has_a_kind_and_a_text_for_the_model() {
    let kinds = [
        ToolErrorKind::Unknown,
        ToolErrorKind::InvalidArguments,
        ToolErrorKind::Correctable,
        ToolErrorKind::Failed,
        ToolErrorKind::Panicked,
        ToolErrorKind::TimedOut,
        ToolErrorKind::Cancelled,
        ToolErrorKind::Fatal,
    ];
    let error = ToolError::failed(std::io::Error::other("no disk"));

    assert!(kinds.contains(&error.kind()));
    assert_eq!(error.model_text(), "Error: no disk");
    assert_eq!(
        ToolError::correctable("x").kind(),
        ToolErrorKind::Correctable
    );
    assert_eq!(ToolError::fatal("x").kind(), ToolErrorKind::Fatal);
    assert_eq!(
        ToolError::timed_out(Duration::from_millis(100)).model_text(),
        "Error: timed out after 100 ms"
    );
}

struct Db;

const SCORES: StateKey<Vec<i32>> = StateKey::new("scores");

#[tokio::test]
async fn a_context_tells_of_the_run() {
    let context = ToolContext::default().clone();

    let _: (&str, Option<&str>) = (context.run_id(), context.thread_id());
    let _: (&str, &str) = (context.call_id(), context.tool_name());
    let _: Option<Instant> = context.deadline();
    let _: String = context.idempotency_key();
    let token: &CancellationToken = context.cancellation();
    let checked: Result<(), ToolError> = context.check_cancelled();
    let _: CancelGuard = context.on_cancel(|| {});
    let _: (Option<&Db>, Option<&Value>) = (context.host::<Db>(), context.metadata("k"));
    let state: &State = context.state();
    let updated: Result<(), StateError> = context.update(SCORES, vec![1]);
    context.emit("half").await;

    assert!(checked.is_ok() && updated.is_ok() && !token.is_cancelled());
    assert_eq!(context.attempt(), 1);
    assert_eq!(state.get(&SCORES).unwrap(), None);
    let Host(_) = Host(Arc::new(Db));
}

struct Echo;

impl ChatModel for Echo {
    fn stream(&self, _: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        let deltas = [
            ModelDelta::Text("echo".into()),
            ModelDelta::Finished(FinishReason::Stop),
        ];
        Box::pin(futures_util::stream::iter(deltas.map(Ok)))
    }
}

#[tokio::test]
async fn a_model_needs_one_method() {
    let model: Arc<dyn ChatModel> = Arc::new(Echo);
    let transcript = Transcript::from_messages([Message::user("Hi")]).unwrap();

    let reply: BoxFuture<'static, Result<ChatResponse, ModelError>> =
        ChatModel::chat(&model, ChatRequest::new(transcript).unwrap());

    assert_eq!(reply.await.unwrap().message.text, "echo");
}

#[test]
fn a_client_is_set_up_by_the_environment_or_by_hand() {
    let _: fn() -> Result<OpenAi, ModelError> = OpenAi::from_env;

    let model: Result<OpenAi, ModelError> = OpenAi::builder()
        .base_url("http://127.0.0.1:1/v1")
        .model("m")
        .api_key("k")
        .profile(openai::Profile::Compatible)
        .timeouts(Timeouts::new())
        .headers([("x-team", "a")])
        .header("x-user", "b")
        .build();

    assert!(model.is_ok());
}

fn script() -> ScriptedModel {
    let turns: [Turn; 3] = [
        calls("get_weather", json!({"city": "Oslo"}))
            .with_id("c1")
            .and_calls("get_weather", json!({"city": "Beijing"}))
            .with_usage(Usage::new(1, 1))
            .finish(FinishReason::ToolCalls),
        says("Oslo."),
        fails(ModelError::new(ModelErrorKind::Transport, "gone")),
    ];
    ScriptedModel::new(turns)
}

fn agent(model: ScriptedModel) -> ReactAgentBuilder {
    ReactAgent::builder("assistant", model)
        .description("Knows the weather.")
        .tools(tools![get_weather])
}

#[tokio::test]
async fn an_agent_runs() {
    let model = script();
    let agent: Result<ReactAgent, BuildError> = agent(model.clone()).build();
    let agent = agent.unwrap();

    let output: RunOutput = agent.run("Where is it colder?").await.unwrap();

    let _: &Outcome = output.outcome();
    let _: (Option<&FinishReason>, Usage) = (output.finish_reason(), output.usage());
    let _: (&[Message], &[Message]) = (output.messages(), output.new_messages());
    let _: (&State, &[ToolResult]) = (output.state(), output.direct_results());
    let parsed: Result<Value, serde_json::Error> = output.parse();
    assert!(parsed.is_err());
    assert_eq!(output.text(), "Oslo.");
    let requests: Vec<ChatRequest> = model.requests();
    assert_eq!(requests.len(), 2);
    let error: AgentError = agent.run("Again").await.unwrap_err();
    let _: Error = error.into();
}

#[test]
fn an_agent_is_built_or_every_fault_is_told() {
    let error = ReactAgent::builder("", script())
        .system_prompt("Answer briefly.")
        .instruction("For {who}.")
        .output_key("answer")
        .parallel_tool_execution(true)
        .max_parallel_tools(5)
        .tool_execution_timeout(Duration::from_secs(300))
        .wrap_sync_tools_as_async(true)
        .limits(Limits::new().on_limit(OnLimit::LastAnswer))
        .host(Db)
        .secret("sk-secret")
        .streaming(true)
        .build()
        .unwrap_err();

    let faults: &[BuildFault] = error.faults();
    assert_eq!(faults.len(), 1);
}

#[tokio::test]
async fn a_run_is_awaited_or_streamed() {
    fn owned<T: 'static>(value: T) -> T {
        value
    }
    fn items(_: &impl Stream<Item = Result<AgentEvent, AgentError>>) {}
    type Awaited = Pin<Box<dyn Future<Output = Result<RunOutput, AgentError>> + Send>>;
    let _: [Input; 4] = [
        "a".into(),
        String::new().into(),
        Message::user("a").into(),
        vec![Message::user("a")].into(),
    ];
    let agent = agent(script()).build().unwrap();
    let token = CancellationToken::new();

    let run: RunRequest = owned(agent.run("Go"))
        .options(agent_core::model::ChatOptions::new())
        .host(Db)
        .metadata("user", "ada")
        .tools(ByHand::new("more"))
        .deadline(Duration::from_secs(60))
        .cancel_token(token)
        .streaming(true)
        .within(&ToolContext::default());
    let mut stream: RunStream = run.stream();
    items(&stream);
    let AgentEvent {
        sequence,
        agent: name,
        kind,
        ..
    } = stream.next().await.unwrap().unwrap();
    let _: (u64, Arc<str>) = (sequence, name);
    assert!(matches!(kind, EventKind::RunStarted { .. }));
    let awaited: Awaited = agent.run("Go").thread("t").into_future();
    assert!(matches!(awaited.await, Err(AgentError::NoSaver { .. })));
    assert_eq!(tools_of(AgentTool::new(agent)), 1);
}

fn tools_of(tools: impl IntoTools) -> usize {
    tools.into_tools().len()
}

#[test]
fn events_and_outcomes_can_be_told_apart() {
    let name = |kind: &EventKind| match kind {
        EventKind::RunStarted { .. } => 1,
        EventKind::NodeStarted { .. } | EventKind::NodeFinished { .. } => 2,
        EventKind::TextDelta(_) | EventKind::ReasoningDelta(_) => 3,
        EventKind::ToolCallDelta { .. } | EventKind::ModelFinished { .. } => 4,
        EventKind::ToolStarted { .. } | EventKind::ToolProgress { .. } => 5,
        EventKind::ToolFinished { .. } | EventKind::StateUpdated { .. } => 6,
        EventKind::Retried { .. } | EventKind::Interrupted(_) => 7,
        EventKind::RunFinished(_) => 8,
        _ => 0,
    };
    let outcome = |outcome: &Outcome| match outcome {
        Outcome::Finished | Outcome::Cancelled => 1,
        Outcome::Interrupted(interrupts) => interrupts.iter().map(|_: &Interrupt| 1).sum(),
        Outcome::LimitReached(limit) => match limit {
            Limit::ModelCalls | Limit::ToolCalls | Limit::RepeatedCall => 2,
            Limit::ToolCallsOf(_) | Limit::ConsecutiveErrors => 3,
            Limit::Depth | Limit::Deadline => 4,
            _ => 0,
        },
        _ => 0,
    };

    assert_eq!(name(&EventKind::TextDelta(String::new())), 3);
    assert_eq!(outcome(&Outcome::Cancelled), 1);
}

struct Adds;

impl NodeAction for Adds {
    fn run<'a>(
        &'a self,
        _: State,
        _: &'a agent_core::graph::NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
        Box::pin(async { Ok(StateUpdate::new().with(SCORES, vec![1]).into()) })
    }
}

#[tokio::test]
async fn a_graph_is_compiled_and_run() {
    let shared: Arc<dyn NodeAction> = Arc::new(Adds);
    let graph: Result<CompiledGraph, GraphError> = StateGraph::new()
        .key(SCORES, KeyStrategy::Append)
        .node("a", async |_: State| Ok::<_, BoxError>(()))
        .node("b", Adds)
        .node("c", shared)
        .edge(START, "a")
        .conditional_edges("a", |_: &State| "b", ["b", END])
        .edge("b", "c")
        .edge("c", END)
        .compile();

    let state: State = graph.unwrap().run(StateUpdate::new()).await.unwrap();

    assert_eq!(state.get(&SCORES).unwrap(), Some(vec![1, 1]));
}
