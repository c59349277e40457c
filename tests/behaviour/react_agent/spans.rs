//! The spans of a run, seen by a small subscriber.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex};

use agent_core::agent::{ModelFallback, ReactAgentBuilder, ToolRetry};
use agent_core::model::scripted::{Turn, calls, fails, says};
use agent_core::model::{
    ChatModel as _, ChatOptions, ModelError, ModelErrorKind, ScriptedModel, Usage,
};
use agent_core::telemetry::{self, metrics};
use agent_core::tool::{Effect, InterruptRequest, ToolOutcome};
use agent_core::{AgentError, Message, Outcome, ReactAgent, ToolError};
use agent_tests::runs::Asks;
use agent_tests::tools::tool;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Dispatch, Event, Metadata, Subscriber};
use tracing_core::span::Current;

/// A span: its name, its parent by position, and its fields.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) name: &'static str,
    metadata: Option<&'static Metadata<'static>>,
    pub(super) parent: Option<u64>,
    pub(super) fields: BTreeMap<&'static str, String>,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

/// Keeps every span and every metric; the id of a span is its position, from 1. The spans that
/// are entered are those of one thread.
#[derive(Clone, Default)]
pub(super) struct Spans(
    pub(super) Arc<Mutex<Vec<Seen>>>,
    Arc<Mutex<Vec<Seen>>>,
    Arc<Mutex<Vec<(Id, &'static Metadata<'static>)>>>,
);

impl Spans {
    /// Keeps what this thread does until the guard is dropped.
    pub(super) fn kept() -> (Self, DefaultGuard) {
        // As long as there is only one subscriber, `tracing` asks that of the thread which comes to
        // a span first, and a thread without one would switch the span off for all.
        static OTHERS: LazyLock<[Dispatch; 2]> =
            LazyLock::new(|| [(); 2].map(|()| Dispatch::new(Spans::default())));
        LazyLock::force(&OTHERS);
        let spans = Self::default();
        let guard = tracing::subscriber::set_default(spans.clone());
        (spans, guard)
    }

    fn of(&self, name: &str) -> Vec<Seen> {
        let spans = self.0.lock().unwrap();
        spans
            .iter()
            .filter(|span| span.name == name)
            .cloned()
            .collect()
    }
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_log = metadata.target().starts_with("agent_core::agent");
        metadata.is_span() || metadata.target() == metrics::TARGET || is_log
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut seen = Seen {
            name: span.metadata().name(),
            parent: match span.is_contextual() {
                true => self.current_span().id().map(Id::into_u64),
                false => span.parent().map(Id::into_u64),
            },
            metadata: Some(span.metadata()),
            fields: BTreeMap::new(),
        };
        span.record(&mut seen);
        let mut spans = self.0.lock().unwrap();
        spans.push(seen);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let position = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut self.0.lock().unwrap()[position]);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut seen = Seen::default();
        event.record(&mut seen);
        self.1.lock().unwrap().push(seen);
    }

    fn enter(&self, span: &Id) {
        let position = usize::try_from(span.into_u64()).unwrap() - 1;
        let metadata = self.0.lock().unwrap()[position].metadata.unwrap();
        self.2.lock().unwrap().push((span.clone(), metadata));
    }

    fn exit(&self, span: &Id) {
        let mut entered = self.2.lock().unwrap();
        let position = entered.iter().rposition(|(id, _)| id == span).unwrap();
        entered.remove(position);
    }

    fn current_span(&self) -> Current {
        match self.2.lock().unwrap().last() {
            Some((id, metadata)) => Current::new(id.clone(), metadata),
            None => Current::none(),
        }
    }
}

/// The spans of a run with one call that goes well and one that fails.
async fn spans(is_parallel: bool, streaming: bool) -> Result<Spans, AgentError> {
    let (spans, _guard) = Spans::kept();
    let turn = super::calls_step(1).and_calls("fails", json!({}));
    let model = ScriptedModel::new([turn, says("Done.")]);
    let fails = tool("fails", (), async |(), _, _| {
        Err::<(), _>(ToolError::failed("no"))
    });
    let agent = ReactAgent::builder("assistant", model).tools([super::step(), fails]);
    let agent = agent.parallel_tool_execution(is_parallel).build().unwrap();
    agent.run("Go").streaming(streaming).await?;
    Ok(spans)
}

// C14, TM-9
#[tokio::test]
async fn each_call_is_a_span_below_the_run() {
    for (is_parallel, streaming) in [(false, false), (false, true), (true, false), (true, true)] {
        let spans = spans(is_parallel, streaming).await.unwrap();

        assert_eq!(spans.of("invoke_agent").len(), 1);
        assert_eq!(spans.of("chat").len(), 2);
        let told: Vec<String> = spans
            .of("execute_tool")
            .iter()
            .map(|span| {
                assert_eq!(span.parent, Some(1));
                assert!(span.fields.contains_key("duration_ms"), "{span:?}");
                let field = |name| &*span.fields[name];
                format!(
                    "{} {} {}",
                    field(telemetry::TOOL_NAME),
                    field(telemetry::TOOL_CALL_ID),
                    field("outcome")
                )
            })
            .collect();
        assert_eq!(told, ["step call_1 ok", "fails call_2 failed"]);
    }
}

// C14, B9
#[tokio::test]
async fn a_run_and_its_model_calls_are_spans() {
    let spans = spans(false, true).await.unwrap();

    let run = spans.of("invoke_agent").remove(0);
    assert_eq!(run.fields[telemetry::AGENT_NAME], "assistant");
    assert_eq!(run.fields["outcome"], "finished");
    assert!(spans.of("chat").iter().all(|chat| chat.parent == Some(1)));
}

// C14
#[tokio::test]
async fn a_span_tells_the_end_of_a_run_in_one_word_and_no_content() {
    let (spans, _guard) = Spans::kept();
    let asks = tool("asks", (), async |(), _, _| {
        ToolOutcome::Interrupt(InterruptRequest::new("Delete everything?"))
    });
    let model = ScriptedModel::new([calls("asks", json!({}))]);
    let agent = ReactAgent::builder("assistant", model).tools(asks);
    let agent = agent.build().unwrap();

    let paused = agent.run("Go").await.unwrap();
    let failed = agent.run("Go").await;

    assert!(matches!(paused.outcome(), Outcome::Interrupted(_)));
    assert!(failed.is_err());
    let runs = spans.of("invoke_agent");
    assert_eq!(runs[0].fields["outcome"], "interrupted");
    assert_eq!(runs[1].fields[telemetry::ERROR_TYPE], "model");
    let all = format!("{runs:?}");
    assert!(!all.contains("everything"), "{all}");
}

/// What one run with one good and one failing call writes, on an agent set up like this.
async fn written(set_up: impl FnOnce(ReactAgentBuilder) -> ReactAgentBuilder) -> Spans {
    let (spans, _guard) = Spans::kept();
    let turn = super::calls_step(1).and_calls("fails", json!({"key": "sk-live-9"}));
    let usage = Usage::new(7, 3);
    let model = ScriptedModel::new([turn.with_usage(usage), says("Done, sk-live-9.")]);
    let fails = tool("fails", (), async |(), _, _| {
        Err::<(), _>(ToolError::failed("no"))
    });
    let agent = ReactAgent::builder("assistant", model).tools([super::step(), fails]);
    set_up(agent).build().unwrap().run("Go").await.unwrap();
    spans
}

impl Spans {
    /// The metrics that hold a field of this name.
    fn measured(&self, name: &str) -> Vec<Seen> {
        let metrics = self.1.lock().unwrap();
        let named = metrics
            .iter()
            .filter(|metric| metric.fields.contains_key(name));
        named.cloned().collect()
    }
}

// C14
#[tokio::test]
async fn what_is_said_is_recorded_only_on_request() {
    let silent = written(|agent| agent).await;
    let told = written(|agent| agent.record_content(true).secret("sk-live-9")).await;

    for span in silent.0.lock().unwrap().iter() {
        let content = ["messages", "arguments", "result"];
        let holds = |name: &&&str| content.iter().any(|end| name.ends_with(end));
        assert_eq!(span.fields.keys().find(holds), None);
    }
    let chat = told.of("chat").remove(1);
    let sent: serde_json::Value =
        serde_json::from_str(&chat.fields[telemetry::INPUT_MESSAGES]).unwrap();
    let roles: Vec<_> = sent
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    assert_eq!(sent[0]["parts"], json!([{"type": "text", "content": "Go"}]));
    assert_eq!(sent[1]["parts"][0]["type"], "tool_call");
    assert_eq!(sent[2]["parts"][1]["response"], "Error: no");
    let replied = &chat.fields[telemetry::OUTPUT_MESSAGES];
    assert!(replied.contains("Done, ***."), "{replied}");
    let call = told.of("execute_tool").remove(1);
    assert_eq!(
        call.fields[telemetry::TOOL_CALL_ARGUMENTS],
        r#"{"key":"***"}"#
    );
    assert_eq!(call.fields[telemetry::TOOL_CALL_RESULT], "Error: no");
    let all = format!("{:?}", told.0.lock().unwrap());
    assert!(!all.contains("sk-live-9"), "{all}");
}

// C14, B9
#[tokio::test]
async fn model_calls_tool_calls_and_runs_are_measured() {
    let seen = written(|agent| agent).await;

    let calls = seen.measured("histogram.gen_ai.execute_tool.duration");
    let names: Vec<_> = calls
        .iter()
        .map(|call| {
            (
                &*call.fields["gen_ai.tool.name"],
                call.fields.get("error.type"),
            )
        })
        .collect();
    assert_eq!(
        names,
        [("step", None), ("fails", Some(&"failed".to_owned()))]
    );
    let inferences = seen.measured("histogram.gen_ai.client.inference.duration");
    assert_eq!(inferences.len(), 2);
    assert_eq!(inferences[0].fields["gen_ai.request.model"], "scripted");
    let first = "histogram.gen_ai.client.inference.time_to_first_chunk";
    assert_eq!(seen.measured(first).len(), 2);
    let input = "monotonic_counter.gen_ai.client.inference.usage.input_tokens";
    assert_eq!(seen.measured(input)[0].fields[input], "7");
    let run = seen
        .measured("histogram.gen_ai.invoke_agent.duration")
        .remove(0);
    assert_eq!(
        run.fields["histogram.gen_ai.invoke_agent.inference_calls"],
        "2"
    );
    assert_eq!(run.fields["histogram.gen_ai.invoke_agent.tool_calls"], "2");
}

#[tokio::test]
async fn a_model_call_is_measured_under_the_name_of_the_model_that_was_asked() {
    let (spans, _guard) = Spans::kept();
    let down = ModelError::new(ModelErrorKind::Transport, "down");
    let other = ScriptedModel::new([says("Hi.")]).with_options(ChatOptions::new().model("third"));
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([fails(down)]))
        .options(ChatOptions::new().model("first"))
        .model_interceptor(Asks("second"))
        .model_interceptor(ModelFallback::to(other))
        .build()
        .unwrap();

    agent.run("Go").await.unwrap();

    let calls = spans.measured("histogram.gen_ai.client.inference.duration");
    let asked = calls
        .iter()
        .map(|call| &*call.fields["gen_ai.request.model"]);
    assert_eq!(asked.collect::<Vec<_>>(), ["second", "third"]);
}

#[tokio::test]
async fn a_model_that_fails_is_measured_with_the_kind_of_its_error() {
    let (spans, _guard) = Spans::kept();
    let error = ModelError::new(ModelErrorKind::RateLimited, "too many");
    let agent = ReactAgent::builder("assistant", ScriptedModel::new([fails(error)]));

    agent.build().unwrap().run("Go").await.unwrap_err();

    for (metric, word) in [
        ("histogram.gen_ai.client.inference.duration", "rate_limited"),
        ("histogram.gen_ai.invoke_agent.duration", "model"),
    ] {
        assert_eq!(
            spans.measured(metric)[0].fields[telemetry::ERROR_TYPE],
            word
        );
    }
    assert_eq!(
        spans.of("chat")[0].fields[telemetry::ERROR_TYPE],
        "rate_limited"
    );
}

// B9
#[tokio::test]
async fn each_round_is_logged_with_its_number() {
    let seen = written(|agent| agent).await;

    let logs: Vec<String> = seen
        .measured("iteration")
        .iter()
        .map(|log| format!("{} {}", log.fields["iteration"], log.fields["message"]))
        .collect();
    let expected = [
        "1 reasoning",
        "1 the model replied",
        "1 acting",
        "2 reasoning",
        "2 the model replied",
    ];
    assert_eq!(logs, expected);
}

// C14, TE-6
#[tokio::test(start_paused = true)]
async fn a_log_of_another_try_tells_its_error_only_on_request_and_masked() {
    for (records, told) in [(false, None), (true, Some("Error: no entry with ***"))] {
        let (spans, _guard) = Spans::kept();
        let model = ScriptedModel::new([calls("fails", json!({})), says("Done.")]);
        let fails = tool("fails", (), async |(), _, _| {
            Err::<(), _>(ToolError::failed("no entry with sk-live-9"))
        });
        let agent = ReactAgent::builder("assistant", model).tools(fails.effect(Effect::Pure));
        let agent = agent.tool_retry(ToolRetry::new().attempts(2));
        let agent = agent.secret("sk-live-9").record_content(records).build();

        agent.unwrap().run("Go").await.unwrap();

        let log = spans.measured("attempt").remove(0);
        assert_eq!(log.fields["kind"], "Failed");
        assert_eq!(log.fields.get("error").map(String::as_str), told);
    }
}

/// The message of each log line of a run of this turn, with this history.
async fn logged(turn: Turn, input: Vec<Message>) -> Vec<String> {
    let (seen, _guard) = Spans::kept();
    let model = ScriptedModel::new([turn, says("Done.")]);
    let agent = super::agent(&model).system_prompt("Be brief.");
    agent.build().unwrap().run(input).await.unwrap();
    let logs = seen.measured("message");
    logs.iter()
        .map(|log| {
            let called = log.fields.get("called").map_or("", String::as_str);
            format!("{called} {}", log.fields["message"])
        })
        .collect()
}

// C9
#[tokio::test]
async fn a_name_that_the_model_changed_is_logged() {
    let shortened = calls("tools.step", json!({"n": 1}));
    let turn = shortened.and_calls("steps", json!({"n": 2}));

    let logs = logged(turn, vec![Message::user("Go")]).await;

    for line in [
        "tools.step the tool has another name than the model called",
        "steps no such tool; the model may have changed or shortened the name",
    ] {
        let count = logs.iter().filter(|log| *log == line).count();
        assert_eq!(count, 1, "{logs:?}");
    }
}

// B4
#[tokio::test]
async fn a_second_system_message_is_warned_of() {
    let line = " the history holds system messages beside the system prompt";
    let user = || Message::user("Go");
    for (input, count) in [
        (vec![user()], 0),
        (vec![Message::system("Be polite."), user()], 1),
    ] {
        let logs = logged(super::calls_step(1), input).await;

        let told = logs.iter().filter(|log| *log == line).count();
        assert_eq!(told, count, "{logs:?}");
    }
}
