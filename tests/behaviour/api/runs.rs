//! Models, agents, runs and graphs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use agent_core::agent::{
    AgentTool, Answer, BuildError, BuildFault, Input, Interrupt, Limit, Limits, OnLimit,
    ReactAgentBuilder, RunRequest, RunStream,
};
use agent_core::event::EventKind;
use agent_core::graph::checkpoint::{MemorySaver, Threads};
use agent_core::graph::{
    CancellationToken, CompiledGraph, END, GraphError, KeyStrategy, NodeAction, NodeContext,
    NodeOutput, RunError, START, State, StateGraph, StateUpdate,
};
use agent_core::message::{ToolResult, Transcript};
use agent_core::model::cassette::Replay;
use agent_core::model::scripted::{Turn, calls, fails, says};
use agent_core::model::{
    ChatModel, ChatOptions, ChatRequest, ChatResponse, FinishReason, ModelDelta, ModelError,
    ModelErrorKind, OpenAi, ScriptedModel, Timeouts, Usage, openai,
};
use agent_core::tool::{FunctionTool, IntoTools};
use agent_core::{
    AgentError, AgentEvent, BoxError, BoxFuture, BoxStream, Error, Message, Outcome, ReactAgent,
    RunOutput, ToolContext,
};
use futures_util::Stream;
use serde_json::{Value, json};
use tokio::runtime::Handle;

use super::{ByHand, Db, SCORES};

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
        .tools(ByHand::new("get_weather"))
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

#[tokio::test]
async fn an_agent_is_built_or_every_fault_is_told() {
    let error = ReactAgent::builder("", script())
        .system_prompt("Answer briefly.")
        .instruction("For {who}.")
        .output_key("answer")
        .parallel_tool_execution(true)
        .max_parallel_tools(5)
        .tool_execution_timeout(Duration::from_secs(300))
        .wrap_sync_tools_as_async(true)
        .limits(Limits::new().on_limit(OnLimit::LastAnswer))
        .limits(Limits::new().on_limit(OnLimit::ErrorResult))
        .limits(Limits::new().on_limit(OnLimit::Stop))
        .tool_names(["not_linked"])
        .execute_tools_when(|reply: &ChatResponse| !reply.message.tool_calls.is_empty())
        .host(Db)
        .runtime(Handle::current())
        .secret("sk-secret")
        .streaming(true)
        .build()
        .unwrap_err();

    let faults: &[BuildFault] = error.faults();
    assert_eq!(faults.len(), 2);
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
        .options(ChatOptions::new())
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
    let resumed: RunRequest = agent.resume("t", [Answer::new("i1", "yes")]);
    assert!(matches!(resumed.await, Err(AgentError::NoSaver { .. })));
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
        _: &'a NodeContext,
    ) -> BoxFuture<'a, Result<NodeOutput, BoxError>> {
        Box::pin(async { Ok(StateUpdate::new().with(SCORES, vec![1]).into()) })
    }
}

#[tokio::test]
async fn a_graph_is_compiled_and_run() {
    let shared: Arc<dyn NodeAction> = Arc::new(Adds);
    let inner = StateGraph::new().key(SCORES, KeyStrategy::Append);
    let inner = inner.node("a", Adds).edge(START, "a").edge("a", END);
    let graph: Result<CompiledGraph, GraphError> = StateGraph::new()
        .key(SCORES, KeyStrategy::Append)
        .key("facts", KeyStrategy::Merge)
        .node("a", async |_: State| Ok::<_, BoxError>(()))
        .node("b", Adds)
        .node("c", shared)
        .edge(START, "a")
        .conditional_edges("a", |_: &State| "b", ["b", END])
        .node("d", inner.compile().unwrap())
        .edge("b", "c")
        .edge("c", "d")
        .edge("d", END)
        .compile();

    let state: State = graph.unwrap().run(StateUpdate::new()).await.unwrap();

    assert_eq!(state.get(&SCORES).unwrap(), Some(vec![1, 1, 1]));
}

#[tokio::test]
async fn a_graph_pauses_before_a_node() {
    let graph = StateGraph::new().node("a", Adds).edge(START, "a");
    let graph = graph.edge("a", END).interrupt_before("a").compile();

    let paused = graph.unwrap().run(StateUpdate::new()).await;

    assert!(
        matches!(paused, Err(RunError::Interrupted { .. })),
        "{paused:?}"
    );
}

#[tokio::test]
async fn each_door_fails_with_an_error_that_one_type_takes() {
    async fn forks() -> Result<(), Error> {
        let threads = Threads::new(MemorySaver::new());
        Ok(threads.fork("t", None, "u").await?)
    }
    async fn sends(agent: &ReactAgent) -> Result<(), Error> {
        Ok(agent.send("t", "Hi").await?)
    }
    fn reads_schema() -> Result<(), Error> {
        FunctionTool::from_schema("t", "", json!({"type": "text"}), async || ())?;
        Ok(())
    }
    fn replays() -> Result<(), Error> {
        Replay::open("/none.json")?;
        Ok(())
    }
    let agent = ReactAgent::builder("a", ScriptedModel::new([]));

    let forked = forks().await;
    assert!(matches!(forked, Err(Error::Checkpoint(_))), "{forked:?}");
    let sent = sends(&agent.build().unwrap()).await;
    assert!(matches!(sent, Err(Error::Unsent(_))), "{sent:?}");
    let schema = reads_schema();
    assert!(matches!(schema, Err(Error::BadSchema(_))), "{schema:?}");
    let replayed = replays();
    assert!(matches!(replayed, Err(Error::Cassette(_))), "{replayed:?}");
}
