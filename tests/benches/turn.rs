//! CPU and wall time of one agent turn: one model call and one call of a no-op tool.
//!
//! `cargo bench -p agent-tests --bench turn`. CPU time is the mean of all rounds, the end
//! of a run's history included; wall time is that of the least. `scripted` is `ScriptedModel`, which keeps
//! every request; `plain` keeps none, as a client of a real endpoint does.
#![allow(missing_docs, reason = "a program of its own")]
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use agent_core::agent::Limits;
use agent_core::message::{AssistantMessage, ToolCall};
use agent_core::model::scripted::{calls, says};
use agent_core::model::{
    ChatModel, ChatRequest, ChatResponse, FinishReason, ModelDelta, ModelError, ScriptedModel,
};
use agent_core::tool::{InputSchema, ToolMetadata, ToolOutcome};
use agent_core::{
    BoxFuture, BoxStream, ReactAgent, ToolCallback, ToolContext, ToolDefinition, ToolError, tool,
    tools,
};
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::json;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Does nothing.
#[tool]
async fn no_op(city: &str) {
    let _ = city;
}

#[derive(Debug, Clone, Copy)]
struct Case {
    turns: u32,
    tools: usize,
    streaming: bool,
    scripted: bool,
}

fn main() -> Fallible<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    println!("model     streaming  tools  turns   cpu/turn  wall/turn");
    for (scripted, streaming) in [(true, false), (true, true), (false, false)] {
        for tools in [1, 100] {
            for turns in [10, 100, 1000] {
                let case = Case {
                    turns,
                    tools,
                    streaming,
                    scripted,
                };
                let (cpu, wall) = runtime.block_on(measure(case))?;
                println!(
                    "{:<8}  {streaming:>9}  {tools:>5}  {turns:>5}  {:>6.2} µs  {:>6.2} µs",
                    if scripted { "scripted" } else { "plain" },
                    micros(cpu, turns),
                    micros(wall, turns)
                );
            }
        }
    }
    Ok(())
}

/// The CPU time of a mean round and the wall time of the least, of about 20,000 turns.
///
/// The kernel counts CPU time by the tick, so only the sum of all rounds means something.
async fn measure(case: Case) -> Fallible<(Duration, Duration)> {
    let rounds = (20_000 / case.turns).clamp(5, 2000);
    let agents: Vec<ReactAgent> = (0..rounds).map(|_| agent(case)).collect::<Fallible<_>>()?;
    let mut least = Duration::MAX;
    let before = cpu_time()?;
    for agent in agents {
        let start = Instant::now();
        let output = agent.run("Begin").await?;
        least = least.min(start.elapsed());
        assert_eq!(output.text(), "Done.");
        assert_eq!(output.messages().len(), 2 * case.turns as usize);
    }
    Ok((cpu_time()?.saturating_sub(before) / rounds, least))
}

fn agent(case: Case) -> Fallible<ReactAgent> {
    let builder = if case.scripted {
        let script = (1..case.turns)
            .map(|_| calls("no_op", json!({"city": "Oslo"})))
            .chain([says("Done.")]);
        ReactAgent::builder("bench", ScriptedModel::new(script))
    } else {
        ReactAgent::builder("bench", Plain(Arc::new(AtomicU32::new(case.turns))))
    };
    let mut tools = tools![no_op];
    tools.extend((1..case.tools).map(idle));
    Ok(builder
        .tools(tools)
        .limits(Limits::unlimited())
        .streaming(case.streaming)
        .build()?)
}

fn micros(time: Duration, turns: u32) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(turns)
}

/// What this thread ran on a CPU so far, in user and kernel mode.
fn cpu_time() -> Fallible<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().unwrap_or_default().parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// A model that calls the tool until its turns are over, and keeps nothing.
#[derive(Debug)]
struct Plain(Arc<AtomicU32>);

impl Plain {
    fn answer(&self) -> ChatResponse {
        let left = self.0.fetch_sub(1, Ordering::Relaxed);
        if left == 1 {
            let message = AssistantMessage::new("Done.", None, Vec::new());
            return ChatResponse::new(message, FinishReason::Stop, None);
        }
        let call = ToolCall::new(format!("call_{left}"), "no_op", r#"{"city":"Oslo"}"#);
        let message = AssistantMessage::new("", None, vec![call]);
        ChatResponse::new(message, FinishReason::ToolCalls, None)
    }
}

impl ChatModel for Plain {
    fn stream(&self, _: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        futures_util::stream::empty().boxed()
    }

    fn chat(&self, _: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        std::future::ready(Ok(self.answer())).boxed()
    }

    fn name(&self) -> &'static str {
        "plain"
    }

    fn provider(&self) -> &'static str {
        "none"
    }
}

/// A tool that is on offer and never called.
struct Idle {
    definition: ToolDefinition,
    metadata: ToolMetadata,
}

fn idle(number: usize) -> Arc<dyn ToolCallback> {
    let schema = InputSchema::from_value(json!({"type": "object", "properties": {}}));
    Arc::new(Idle {
        definition: ToolDefinition::new(format!("idle_{number}"), "Does nothing.", schema),
        metadata: ToolMetadata::default(),
    })
}

impl ToolCallback for Idle {
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
        std::future::ready(Err(ToolError::failed("never called"))).boxed()
    }
}
