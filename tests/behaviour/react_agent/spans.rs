//! The spans of a run, seen by a small subscriber.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::tool::{InterruptRequest, ToolOutcome};
use agent_core::{AgentError, Outcome, ReactAgent, ToolError};
use agent_tests::tools::tool;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// A span: its name, its parent by position, and its fields.
#[derive(Debug, Clone, Default)]
struct Seen {
    name: &'static str,
    parent: Option<u64>,
    fields: BTreeMap<&'static str, String>,
}

impl Visit for Seen {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.fields.insert(field.name(), value.to_owned());
    }
}

/// Keeps every span; the id of a span is its position, from 1.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<Seen>>>);

impl Spans {
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
        metadata.is_span()
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut seen = Seen {
            name: span.metadata().name(),
            parent: span.parent().map(Id::into_u64),
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
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The spans of a run with one call that goes well and one that fails.
async fn spans(is_parallel: bool, streaming: bool) -> Result<Spans, AgentError> {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
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

// C14
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
                    field("gen_ai.tool.name"),
                    field("gen_ai.tool.call.id"),
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
    assert_eq!(run.fields["gen_ai.agent.name"], "assistant");
    assert_eq!(run.fields["outcome"], "finished");
    assert!(spans.of("chat").iter().all(|chat| chat.parent == Some(1)));
}

// C14
#[tokio::test]
async fn a_span_tells_the_end_of_a_run_in_one_word_and_no_content() {
    let spans = Spans::default();
    let _guard = tracing::subscriber::set_default(spans.clone());
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
    assert_eq!(runs[1].fields["error.type"], "model");
    let all = format!("{runs:?}");
    assert!(!all.contains("everything"), "{all}");
}
