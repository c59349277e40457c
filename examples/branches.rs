//! A graph with branches: three ways to look at a text at once, one for each of its words, and
//! its picture.
//!
//! ```sh
//! cargo run -q -p agent-examples --example branches
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;

use agent_core::graph::{
    END, FanOut, KeyStrategy, START, State, StateError, StateGraph, StateKey, StateUpdate,
};

const TEXT: StateKey<String> = StateKey::new("text");
const WORD: StateKey<String> = StateKey::new("word");
const LENGTHS: StateKey<Vec<usize>> = StateKey::new("lengths");
const FACTS: StateKey<Vec<String>> = StateKey::new("facts");

fn text(state: &State) -> Result<String, StateError> {
    Ok(state.get(&TEXT)?.unwrap_or_default())
}

fn fact(fact: String) -> StateUpdate {
    StateUpdate::new().with(FACTS, vec![fact])
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let graph = StateGraph::new()
        // Branches write these keys side by side, so it is said how that joins.
        .key(FACTS, KeyStrategy::Append)
        .key(LENGTHS, KeyStrategy::Append)
        .node("vowels", async |state: State| {
            let text = text(&state)?;
            let count = text.chars().filter(|it| "aeiou".contains(*it)).count();
            Ok::<_, StateError>(fact(format!("{count} vowels")))
        })
        .node("split", async |_: State| Ok::<_, StateError>(()))
        .node("measure", async |state: State| {
            let word = state.get(&WORD)?.unwrap_or_default();
            Ok::<_, StateError>(StateUpdate::new().with(LENGTHS, vec![word.len()]))
        })
        .node("longest", async |state: State| {
            let lengths = state.get(&LENGTHS)?.unwrap_or_default();
            let longest = lengths.into_iter().max().unwrap_or_default();
            Ok::<_, StateError>(fact(format!("the longest word has {longest} letters")))
        })
        .node("tell", async |_: State| Ok::<_, StateError>(()))
        // Two branches, one of them several nodes long, meet at `tell`.
        .edge(START, "vowels")
        .edge(START, "split")
        .edge("vowels", "tell")
        .for_each("split", "measure", "longest", |state: &State| {
            let words = text(state)?;
            let words = words.split_whitespace();
            Ok::<_, StateError>(
                words
                    .map(|word| StateUpdate::new().with(WORD, word.to_owned()))
                    .collect(),
            )
        })
        .fan_out("split", FanOut::all().max_concurrency(4))
        .edge("measure", "longest")
        .edge("longest", "tell")
        .edge("tell", END)
        .compile()?;

    let input = StateUpdate::new().with(TEXT, "the quick brown fox jumps".to_owned());
    let state = graph.run(input).await?;

    for fact in state.get(&FACTS)?.unwrap_or_default() {
        println!("{fact}");
    }
    println!("\n{}", graph.to_mermaid());
    Ok(())
}
