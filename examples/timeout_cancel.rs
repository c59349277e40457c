//! A tool of five steps of half a second, stopped after one second: once as an async tool,
//! dropped at its await, once as a blocking tool, told by its token.
//!
//! ```sh
//! cargo run -q -p agent-examples --example timeout_cancel
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::{Host, ReactAgent, ToolContext, ToolError, tool, tools};
use serde_json::json;

const STEP: Duration = Duration::from_millis(500);

/// What the tools report to this program while they run.
type Log = Sender<String>;

/// Tells when it is dropped, as a temporary file or a lock would clean up.
struct CleanUp(Log);

impl Drop for CleanUp {
    fn drop(&mut self) {
        let _ = self.0.send("async: dropped at its await".to_owned());
    }
}

/// Copies five files, waiting without a thread.
#[tool(timeout = "1s")]
async fn copy_async(log: Host<Log>) -> &'static str {
    let _clean_up = CleanUp(Log::clone(&log));
    for step in 1..=5 {
        tokio::time::sleep(STEP).await;
        let _ = log.send(format!("async: step {step}"));
    }
    "copied"
}

/// Copies five files, blocking its thread.
#[tool(timeout = "1s")]
fn copy_blocking(log: &Host<Log>, context: &ToolContext) -> Result<&'static str, ToolError> {
    let callback_log = Log::clone(log);
    let _guard = context.on_cancel(move || {
        let _ = callback_log.send("blocking: clean-up callback ran".to_owned());
    });
    for step in 1..=5 {
        std::thread::sleep(STEP);
        if let Err(cancelled) = context.check_cancelled() {
            let _ = log.send(format!(
                "blocking: saw its token after step {step} and stopped"
            ));
            return Err(cancelled);
        }
        let _ = log.send(format!("blocking: step {step}"));
    }
    Ok("copied")
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    for tool in ["copy_async", "copy_blocking"] {
        let (log, lines) = channel();
        let model = ScriptedModel::new([calls(tool, json!({})), says("That took too long.")]);
        let agent = ReactAgent::builder("copier", model)
            .tools(tools![copy_async, copy_blocking])
            .host::<Log>(log)
            .build()?;

        let output = agent.run("Copy the files.").await?;
        drop(agent);

        println!("{tool}:");
        // The channel ends once the last of them, also a blocking tool, has stopped.
        for line in lines {
            println!("  {line}");
        }
        for result in output
            .messages()
            .iter()
            .flat_map(agent_core::Message::tool_results)
        {
            println!("  the model reads: {}", result.text());
        }
        println!("  answer: {}", output.text());
    }
    Ok(())
}
