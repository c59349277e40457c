//! A conversation that goes on after the program has ended: each start says one thing.
//!
//! ```sh
//! cargo run -q -p agent-store --example remember -- "My name is Ada."
//! cargo run -q -p agent-store --example remember -- "What is my name?"
//! ```
//!
//! The thread stands in `remember.db` in the folder of temporary files, or in the file that
//! `REMEMBER_FILE` names.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example shows what it does"
)]

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use agent_core::model::scripted::{Turn, says};
use agent_core::model::{ChatRequest, FunctionModel};
use agent_core::{Message, ReactAgent};
use agent_store::SqliteSaver;

#[tokio::main]
async fn main() -> ExitCode {
    let Err(error) = run().await else {
        return ExitCode::SUCCESS;
    };
    // An error says what failed, its sources say why.
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        // Some tell their source themselves.
        let why = source.to_string();
        if !text.ends_with(&why) {
            text = format!("{text}: {why}");
        }
        next = source.source();
    }
    eprintln!("error: {text}");
    ExitCode::FAILURE
}

async fn run() -> Result<(), Box<dyn Error>> {
    let said = std::env::args().nth(1);
    let said = said.unwrap_or_else(|| "What is my name?".to_owned());
    let file = std::env::var_os("REMEMBER_FILE")
        .map_or_else(|| std::env::temp_dir().join("remember.db"), PathBuf::from);

    let agent = ReactAgent::builder("assistant", FunctionModel::new(answer))
        .saver(SqliteSaver::open(&file).await?)
        .build()?;
    let output = agent.run(said).thread("me").await?;

    for message in output.messages() {
        println!("{:?}: {}", message.role(), message.text());
    }
    println!("({} keeps it)", file.display());
    Ok(())
}

/// Stands in for a real model: it knows a name if one was said at any time.
fn answer(request: &ChatRequest) -> Turn {
    let said: Vec<String> = request.messages().map(Message::text).collect();
    let mut names = said
        .iter()
        .filter_map(|text| text.strip_prefix("My name is "));
    match names.next_back() {
        Some(name) => says(format!("You are {}.", name.trim_end_matches('.'))),
        None => says("I do not know you yet."),
    }
}
