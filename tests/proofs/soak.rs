//! Very many turns with every kind of fault in one process: memory stays flat, and nothing
//! is left running.
//!
//! `cargo run --release -p agent-tests --bin soak -- 1000000`. The clock is paused, so that
//! what hangs takes no time. The exit code is 1 if memory grew by more than 5 % after the first
//! tenth, or if a task is left at the end.
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]
#![allow(clippy::print_stderr, reason = "the seed is told before anything else")]

use std::error::Error;
use std::fs;
use std::process::ExitCode;
use std::time::Duration;

use agent_core::agent::{RunStream, ToolRetry};
use agent_core::event::EventKind;
use agent_core::graph::CancellationToken;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{Turn, says};
use agent_core::tool::{Effect, InterruptRequest, ToolOutcome};
use agent_core::{
    AgentError, IntoToolOutput as _, ReactAgent, RunOutput, ToolContext, ToolError, tools,
};
use agent_tests::tools::{ClosureTool, tool};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::time::sleep;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Xorshift: the same seed gives the same faults.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// Blocks its thread for a moment.
#[agent_core::tool(register = false)]
fn blocks(context: &ToolContext) -> Result<&'static str, ToolError> {
    context.update("blocked", true)?;
    Ok("done")
}

fn acts() -> ClosureTool {
    let acts = tool(
        "acts",
        (),
        async |(), arguments: Value, context: ToolContext| {
            context.update("acted", arguments["kind"].clone())?;
            context.emit(json!("on it")).await;
            match arguments["kind"].as_u64().unwrap_or_default() {
                0 => sleep(Duration::from_millis(5)).await,
                1 => std::future::pending::<()>().await,
                2 => panic!("a fault of the soak"),
                3 => return Err(ToolError::failed("a fault of the soak")),
                4 => return Err(ToolError::fatal("a fault of the soak")),
                5 => return Ok(ToolOutcome::Interrupt(InterruptRequest::new("Really?"))),
                6 => return "x".repeat(100_000).into_tool_output(),
                _ => {}
            }
            "done".into_tool_output()
        },
    );
    acts.timeout(Duration::from_millis(50)).effect(Effect::Pure)
}

fn turn(random: &mut Random) -> Turn {
    (0..=random.below(4)).fold(Turn::default(), |turn, _| match random.below(12) {
        10 => turn.and_calls("missing", json!({})),
        11 => turn.and_calls("acts", json!(r#"{"kind": "#)),
        9 => turn.and_calls("blocks", json!({})),
        kind => turn.and_calls("acts", json!({"kind": kind})),
    })
}

async fn one_turn(random: &mut Random) -> Fallible<()> {
    let model = ScriptedModel::new([turn(random), says("done")]);
    let agent = ReactAgent::builder("soak", model)
        .tools(acts())
        .tools(tools![blocks])
        .parallel_tool_execution(random.below(2) == 0)
        .eager_tool_start(random.below(2) == 0)
        .max_parallel_tools(1 + usize::try_from(random.below(4))?)
        .tool_retry(
            ToolRetry::new()
                .attempts(2)
                .min_delay(Duration::from_millis(1)),
        )
        .build()?;
    let token = CancellationToken::new();
    let run = agent.run("Go").cancel_token(token.clone());
    let cancel_after = Duration::from_millis(random.below(100));
    // Half of them are read event by event.
    let run = match random.below(2) {
        0 => run.into_future(),
        _ => Box::pin(read(run.stream())),
    };
    let closed = match random.below(4) {
        0 => {
            let cancel = async {
                sleep(cancel_after).await;
                token.cancel();
                std::future::pending::<()>().await;
            };
            tokio::select! {
                end = run => Some(end),
                () = cancel => None,
            }
        }
        // The run is dropped in the middle.
        1 => tokio::time::timeout(cancel_after, run).await.ok(),
        _ => Some(run.await),
    };
    let transcript_is_closed = match &closed {
        Some(Ok(output)) => {
            let waits = matches!(output.outcome(), agent_core::Outcome::Interrupted(_));
            output.state().transcript().is_closed() != waits
        }
        Some(Err(error)) => error
            .output()
            .is_some_and(|output| output.state().transcript().is_closed()),
        None => true,
    };
    if transcript_is_closed {
        Ok(())
    } else {
        Err(format!("a history with open calls: {closed:?}").into())
    }
}

/// Reads a run to its end.
async fn read(mut events: RunStream) -> Result<RunOutput, AgentError> {
    let mut output = None;
    while let Some(event) = events.next().await {
        if let EventKind::RunFinished(end) = event?.kind {
            output = Some(end);
        }
    }
    Ok(output.expect("a stream ends with an output or an error"))
}

/// Pages of memory that the process holds.
fn resident() -> Fallible<u64> {
    let text = fs::read_to_string("/proc/self/statm")?;
    Ok(text.split(' ').nth(1).unwrap_or_default().parse()?)
}

async fn soak(turns: u64, seed: u64) -> Fallible<bool> {
    let mut random = Random(seed);
    let mut warm = 0;
    let mut most = 0;
    println!("    turns  pages  tasks");
    for turn in 1..=turns {
        one_turn(&mut random).await?;
        if turn % (turns / 20).max(1) == 0 {
            // What was cancelled or dropped ends at its next await, and lets go what it holds.
            sleep(Duration::from_secs(1)).await;
            let pages = resident()?;
            let tasks = Handle::current().metrics().num_alive_tasks();
            println!("{turn:>9}  {pages:>5}  {tasks:>5}");
            if turn <= turns / 10 {
                warm = pages;
            } else {
                most = most.max(pages);
            }
        }
    }
    let tasks = Handle::current().metrics().num_alive_tasks();
    let growth = most as f64 / warm.max(1) as f64 - 1.0;
    println!(
        "growth after the first tenth: {:.1} %; tasks left: {tasks}",
        growth * 100.0
    );
    Ok(growth <= 0.05 && tasks == 0)
}

fn main() -> Fallible<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let turns = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let seed = arguments.next().map_or(Ok(0x5eed), |text| text.parse())?;
    eprintln!("{turns} turns, seed {seed}");
    // The panics of the tools are a part of it.
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        // The pool's threads stay: what one of them takes and gives back is not the agent's.
        .thread_keep_alive(Duration::from_secs(3600))
        .build()?;
    let held = runtime.block_on(soak(turns, seed))?;
    Ok(ExitCode::from(u8::from(!held)))
}
