//! A person in the loop: the agent pauses before it pays, and asks in the terminal.
//!
//! ```sh
//! cargo run -q -p agent-examples --example approval
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::io::{BufRead, Write};

use agent_core::agent::{Answer, Interrupt};
use agent_core::graph::checkpoint::MemorySaver;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{calls, says};
use agent_core::{Outcome, ReactAgent, tool, tools};
use serde_json::json;

/// Pays a sum to somebody.
#[tool(approval)]
async fn pay(
    /// Who gets it.
    to: &str,
    /// How much.
    sum: u32,
) -> String {
    println!("  (pay runs: {sum} to {to})");
    format!("paid {sum} to {to}")
}

/// What is on the account.
#[tool(effect = "pure")]
async fn balance() -> u32 {
    println!("  (balance runs)");
    250
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Stands in for a real model.
    let model = ScriptedModel::new([
        calls("balance", json!({})).and_calls("pay", json!({"to": "Ada", "sum": 100})),
        says("I have done what you allowed."),
    ]);
    let agent = ReactAgent::builder("clerk", model)
        .tools(tools![balance, pay])
        // A store of its own would let the answer come tomorrow, and to another process.
        .saver(MemorySaver::new())
        .build()?;

    let mut output = agent.run("Pay Ada 100.").thread("example").await?;
    while let Outcome::Interrupted(asked) = output.outcome() {
        let answers: Vec<Answer> = asked.iter().map(ask).collect::<Result<_, _>>()?;
        output = agent.resume("example", answers).await?;
    }
    println!("{}", output.text());
    for result in output.messages().iter().flat_map(|it| it.tool_results()) {
        println!("  {}: {}", result.name(), result.text());
    }
    Ok(())
}

/// Asks a person about one call.
fn ask(asked: &Interrupt) -> Result<Answer, Box<dyn Error>> {
    let arguments = &asked.request.payload["arguments"];
    print!(
        "Run {} with {arguments}? [y, n, or another sum] ",
        asked.tool
    );
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line)?;
    println!();
    Ok(match line.trim() {
        "y" => Answer::approve(&asked.id),
        sum => match sum.parse::<u32>() {
            Ok(sum) => {
                let mut edited = arguments.clone();
                edited["sum"] = sum.into();
                Answer::edit(&asked.id, edited)
            }
            Err(_) => Answer::reject(&asked.id, "the user said no"),
        },
    })
}
