//! What wraps calls of the model and of tools.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::agent::{
    Hook, HookPosition, ModelInterceptor, ModelNext, ReactAgentBuilder, ToolInterceptor, ToolNext,
    ToolRequest,
};
use agent_core::event::EventKind;
use agent_core::graph::CancellationToken;
use agent_core::message::{AssistantMessage, Transcript};
use agent_core::model::scripted::{Turn, calls, fails, says};
use agent_core::model::{
    ChatRequest, ChatResponse, FinishReason, ModelError, ModelErrorKind, ScriptedModel, ToolList,
};
use agent_core::tool::ToolOutcome;
use agent_core::{BoxFuture, IntoToolOutput as _, Message, Outcome, ReactAgent, ToolError};
use agent_tests::runs::{events, offered, output, result_texts, texts};
use agent_tests::tools::{Counter, answers, never, tool};
use serde_json::{Value, json};

type Log = Arc<Mutex<Vec<String>>>;

/// Runs this closure around each tool call.
struct Around<F>(&'static str, F);

impl<F> ToolInterceptor for Around<F>
where
    F: for<'a> Fn(ToolRequest, ToolNext<'a>) -> BoxFuture<'a, Result<ToolOutcome, ToolError>>
        + Send
        + Sync
        + 'static,
{
    fn name(&self) -> &str {
        self.0
    }

    fn intercept<'a>(
        &'a self,
        request: ToolRequest,
        next: ToolNext<'a>,
    ) -> BoxFuture<'a, Result<ToolOutcome, ToolError>> {
        (self.1)(request, next)
    }
}

fn around<F>(name: &'static str, around: F) -> Around<F>
where
    F: for<'a> Fn(ToolRequest, ToolNext<'a>) -> BoxFuture<'a, Result<ToolOutcome, ToolError>>
        + Send
        + Sync
        + 'static,
{
    Around(name, around)
}

/// Notes when it begins and ends.
fn notes(name: &'static str, log: &Log) -> impl ToolInterceptor + use<> {
    let log = Arc::clone(log);
    around(name, move |request, next| {
        let log = Arc::clone(&log);
        Box::pin(async move {
            log.lock().unwrap().push(format!("{name} before"));
            let outcome = next.run(request).await;
            log.lock().unwrap().push(format!("{name} after"));
            outcome
        })
    })
}

fn agent(model: &ScriptedModel) -> ReactAgentBuilder {
    let says = tool("says", (), async |(), arguments: Value, _| {
        arguments.to_string()
    });
    ReactAgent::builder("assistant", model.clone()).tools(says)
}

fn one_call() -> ScriptedModel {
    ScriptedModel::new([calls("says", json!({"a": 1})).with_id("c1"), says("done")])
}

fn two_calls() -> ScriptedModel {
    let turn = calls("says", json!({"a": 1})).with_id("c1");
    let turn = turn.and_calls("says", json!({"a": 2})).with_id("c2");
    ScriptedModel::new([turn, says("done")])
}

async fn results(agent: ReactAgentBuilder) -> Vec<String> {
    let run = agent.build().unwrap().run("Go").await.unwrap();
    let results = result_texts(run.messages()).into_iter();
    results.map(|(_, text)| text).collect()
}

// B10, IC-1, ic.1
#[tokio::test]
async fn the_first_tool_interceptor_is_the_outermost() {
    let log = Log::default();
    let noted = Arc::clone(&log);
    let runs = tool("says", noted, async |log, _, _| {
        log.lock().unwrap().push("execute".to_owned());
    });
    let model = one_call();
    let agent = ReactAgent::builder("assistant", model).tools(runs);

    let agent = agent.tool_interceptor(notes("1", &log));
    results(agent.tool_interceptor(notes("2", &log))).await;

    assert_eq!(
        *log.lock().unwrap(),
        ["1 before", "2 before", "execute", "2 after", "1 after"]
    );
}

// B10, ic.2
#[tokio::test]
async fn an_interceptor_can_change_the_arguments() {
    let model = one_call();
    let changes = around("changes", |mut request, next| {
        request.call = request.call.with_arguments(r#"{"a":7}"#);
        next.run(request)
    });

    let run = agent(&model).tool_interceptor(changes).build().unwrap();
    let run = run.run("Go").await.unwrap();

    assert_eq!(result_texts(run.messages())[0].1, r#"{"a":7}"#);
    // What the model wrote stays in the history.
    assert_eq!(run.messages()[1].tool_calls()[0].arguments(), r#"{"a":1}"#);
}

// B10, ic.2
#[tokio::test]
async fn an_interceptor_can_answer_in_place_of_the_tool() {
    let model = one_call();
    let answers = around("answers", |_, _| {
        Box::pin(std::future::ready("cached".into_tool_output()))
    });

    assert_eq!(
        results(agent(&model).tool_interceptor(answers)).await,
        ["cached"]
    );
}

// B10
#[tokio::test]
async fn an_interceptor_can_run_a_tool_again() {
    let runs = Counter::default();
    let flaky = tool("says", runs.clone(), async |runs, _, _| match runs.add() {
        0 => Err(ToolError::failed("not yet")),
        _ => Ok("now"),
    });
    let again = around("again", |request, next| {
        Box::pin(async move {
            match next.run(request.clone()).await {
                Err(_) => next.run(request).await,
                outcome => outcome,
            }
        })
    });

    let agent = ReactAgent::builder("assistant", one_call()).tools(flaky);
    assert_eq!(results(agent.tool_interceptor(again)).await, ["now"]);
}

// C15, TN-13
#[tokio::test]
async fn an_interceptors_error_is_handled_alike_in_both_modes() {
    for parallel in [false, true] {
        let model = two_calls();
        let refuses = around("refuses", |request, next| {
            if request.call.id() == "c1" {
                return Box::pin(std::future::ready(Err(ToolError::failed("not today"))));
            }
            next.run(request)
        });

        let agent = agent(&model).tool_interceptor(refuses);
        let results = results(agent.parallel_tool_execution(parallel)).await;

        assert_eq!(results, ["Error: not today", r#"{"a":2}"#]);
    }
}

// C11, C15
#[tokio::test]
async fn an_interceptors_panic_is_the_error_of_its_call_only() {
    for parallel in [false, true] {
        let model = two_calls();
        let panics = around("panics", |request, next| {
            assert!(request.call.id() != "c1", "at src/secret.rs");
            next.run(request)
        });

        let agent = agent(&model).tool_interceptor(panics);
        let results = results(agent.parallel_tool_execution(parallel)).await;

        assert_eq!(results, ["Error: the tool panicked", r#"{"a":2}"#]);
    }
}

// C2
#[tokio::test(start_paused = true)]
async fn the_time_limit_of_a_call_holds_for_its_interceptors() {
    let model = one_call();
    let hangs = around("hangs", |_, _| Box::pin(std::future::pending()));

    let agent = agent(&model).tool_interceptor(hangs);
    let agent = agent.tool_execution_timeout(Duration::from_millis(100));

    let text = "Error: timed out after 100 ms, the most that any tool call may take";
    assert_eq!(results(agent).await, [text]);
}

// HK-13
#[tokio::test]
async fn an_interceptor_of_a_name_that_is_there_is_left_out() {
    let log = Log::default();
    let agent = agent(&one_call());

    let agent = agent.tool_interceptor(notes("same", &log));
    results(agent.tool_interceptor(notes("same", &log))).await;

    assert_eq!(log.lock().unwrap().len(), 2);
}

/// A hook that brings an interceptor named `own` and one named `brought`.
struct Brings(Log);

impl Hook for Brings {
    fn name(&self) -> &str {
        "brings"
    }

    fn positions(&self) -> &[HookPosition] {
        &[]
    }

    fn tool_interceptors(&self) -> Vec<Arc<dyn ToolInterceptor>> {
        let named = |name| -> Arc<dyn ToolInterceptor> { Arc::new(notes(name, &self.0)) };
        vec![named("brought"), named("own")]
    }
}

// B12, HK-13, IC-1
#[tokio::test]
async fn interceptors_of_hooks_come_behind_the_agents_own() {
    let (own, of_hook) = (Log::default(), Log::default());
    let agent = agent(&one_call()).hook(Brings(Arc::clone(&of_hook)));
    let log = Arc::clone(&of_hook);
    let first = around("first", move |request, next| {
        assert!(log.lock().unwrap().is_empty());
        next.run(request)
    });

    results(
        agent
            .tool_interceptor(first)
            .tool_interceptor(notes("own", &own)),
    )
    .await;

    assert_eq!(*own.lock().unwrap(), ["own before", "own after"]);
    assert_eq!(
        *of_hook.lock().unwrap(),
        ["brought before", "brought after"]
    );
}

// TN-21, TN-16, tn.18
#[tokio::test]
async fn an_interceptor_sees_the_run_also_in_a_copy_of_the_request() {
    let sees = around("sees", |request, _| {
        let copy = request.clone();
        drop(request);
        let context = copy.context;
        let seen = format!(
            "{} {:?} {:?} {}",
            context.call_id(),
            context.state().value("user"),
            context.metadata("region"),
            context.run_id().is_empty()
        );
        Box::pin(std::future::ready(seen.into_tool_output()))
    });

    let agent = agent(&one_call()).tool_interceptor(sees).build().unwrap();
    let run = agent
        .run("Go")
        .state("user", "ada")
        .metadata("region", "eu");

    assert_eq!(
        result_texts(run.await.unwrap().messages())[0].1,
        r#"c1 Some(String("ada")) Some(String("eu")) false"#
    );
}

/// Notes when a model call begins and ends.
struct NotesModel(&'static str, Log);

impl ModelInterceptor for NotesModel {
    fn name(&self) -> &str {
        self.0
    }

    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        Box::pin(async move {
            self.1.lock().unwrap().push(format!("{} before", self.0));
            let reply = next.run(request).await;
            self.1.lock().unwrap().push(format!("{} after", self.0));
            reply
        })
    }
}

// B10, IC-1
#[tokio::test]
async fn the_first_model_interceptor_is_the_outermost() {
    let log = Log::default();
    let model = ScriptedModel::new([says("done")]);

    let agent = agent(&model)
        .model_interceptor(NotesModel("1", Arc::clone(&log)))
        .model_interceptor(NotesModel("2", Arc::clone(&log)));
    agent.build().unwrap().run("Go").await.unwrap();

    assert_eq!(
        *log.lock().unwrap(),
        ["1 before", "2 before", "2 after", "1 after"]
    );
}

/// Runs this closure around each model call.
struct AroundModel<F>(F);

impl<F> ModelInterceptor for AroundModel<F>
where
    F: for<'a> Fn(ChatRequest, ModelNext<'a>) -> BoxFuture<'a, Result<ChatResponse, ModelError>>
        + Send
        + Sync
        + 'static,
{
    fn intercept<'a>(
        &'a self,
        request: ChatRequest,
        next: ModelNext<'a>,
    ) -> BoxFuture<'a, Result<ChatResponse, ModelError>> {
        (self.0)(request, next)
    }
}

fn around_model<F>(around: F) -> AroundModel<F>
where
    F: for<'a> Fn(ChatRequest, ModelNext<'a>) -> BoxFuture<'a, Result<ChatResponse, ModelError>>
        + Send
        + Sync
        + 'static,
{
    AroundModel(around)
}

// B10
#[tokio::test]
async fn a_model_interceptor_can_change_the_request() {
    let model = ScriptedModel::new([says("done")]);
    let shortens = around_model(|request, next| {
        let last = request.transcript().messages().last().cloned();
        let short = Transcript::from_messages(last).unwrap();
        let tools = request.tools().definitions().iter().take(1).cloned();
        let tools = ToolList::new(tools.collect::<Vec<_>>());
        let request = request.with_transcript(short).unwrap();
        next.run(request.with_tools(tools))
    });
    let history = vec![Message::user("One"), Message::user("Two")];

    let agent = agent(&model).tools(answers("other", "o"));
    let agent = agent.model_interceptor(shortens).build().unwrap();
    let run = agent.run(history).await.unwrap();

    let request = &model.requests()[0];
    assert_eq!(texts(request), ["Two"]);
    assert_eq!(offered(request), ["says"]);
    assert_eq!(run.messages().len(), 3);
}

// B10
#[tokio::test]
async fn a_model_interceptor_can_answer_in_place_of_the_model() {
    let model = ScriptedModel::new([]);
    let cached = around_model(|_, _| {
        let message = AssistantMessage::new("From the cache", None, vec![]);
        let reply = ChatResponse::new(message, FinishReason::Stop, None);
        Box::pin(std::future::ready(Ok(reply)))
    });

    let agent = agent(&model).model_interceptor(cached).build().unwrap();

    assert_eq!(agent.run("Go").await.unwrap().text(), "From the cache");
    assert!(model.requests().is_empty());
}

fn busy() -> Turn {
    let error = ModelError::new(ModelErrorKind::RateLimited, "busy");
    fails(error).and_says("So f")
}

fn once_more() -> impl ModelInterceptor {
    around_model(|request, next| {
        Box::pin(async move {
            match next.run(request.clone()).await {
                Err(error) if error.is_retryable() => next.run(request).await,
                reply => reply,
            }
        })
    })
}

// B10
#[tokio::test]
async fn a_model_that_is_asked_again_tells_that_what_it_wrote_does_not_count() {
    let model = ScriptedModel::new([busy(), says("Done")]);

    let agent = agent(&model)
        .model_interceptor(once_more())
        .build()
        .unwrap();
    let (events, error) = events(agent.run("Go").stream()).await;

    assert!(error.is_none(), "{error:?}");
    let told = events.iter().filter_map(|event| match &event.kind {
        EventKind::TextDelta(text) => Some(text.clone()),
        EventKind::Retried { attempt } => Some(format!("<{attempt}>")),
        _ => None,
    });
    let told: String = told.collect();
    assert!(told.ends_with("<2>Done"), "{told}");
    assert_eq!(output(&events).text(), "Done");
    assert_eq!(output(&events).messages().len(), 2);
}

// C4
#[tokio::test]
async fn a_cancelled_run_drops_the_interceptors_that_hang() {
    let model = one_call();
    let token = CancellationToken::new();
    let cancels = token.clone();
    let hangs = around_model(move |_, _| {
        cancels.cancel();
        Box::pin(std::future::pending())
    });

    let agent = agent(&model).tools(never("never")).model_interceptor(hangs);
    let run = agent.build().unwrap().run("Go").cancel_token(token);

    assert_eq!(run.await.unwrap().outcome(), &Outcome::Cancelled);
}
