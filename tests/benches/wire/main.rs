//! What a model round trip costs an agent over a real connection, beside two loops by hand.
//!
//! `cargo bench -p agent-tests --bench wire`. Both loops are `reqwest` and `serde_json`: *floor*
//! grows one body and writes its tools once, *hand* writes typed messages anew for each request.
//! The server, in a thread of its own, checks that every call comes back with its result. CPU
//! time is that of the client's thread alone; the three take turns, and the least of several
//! rounds counts, so that other work on the machine counts little.
#![allow(missing_docs, reason = "a program of its own")]
#![allow(clippy::print_stdout, reason = "the table is what this program is for")]

mod loops;
mod server;

use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use agent_core::agent::Limits;
use agent_core::model::OpenAi;
use agent_core::tool::{FunctionTool, IntoTools as _};
use agent_core::{ReactAgent, tool, tools};
use serde_json::{Value, json};

use loops::Loops;
use server::Server;

type Fallible<T> = Result<T, Box<dyn Error + Send + Sync>>;

const QUESTION: &str = "Work through the steps with the tools and report the result.";

/// How often the three take turns.
const ROUNDS: usize = 5;

/// Adds two integers.
#[tool]
async fn add(
    /// First addend
    a: i64,
    /// Second addend
    b: i64,
) -> i64 {
    a + b
}

/// What is measured: `rounds` times `calls` parallel calls, then a text.
#[derive(Debug, Clone, Copy)]
struct Case {
    rounds: usize,
    calls: usize,
    tools: usize,
    streaming: bool,
}

/// A tool's input of five parameters, for the tools that are only offered.
fn five() -> Value {
    let text = json!({"type": "string", "description": "A text to look for in the source"});
    let names = ["query", "place", "since", "until", "order"];
    let properties: serde_json::Map<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), text.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

fn agent(server: &Server, case: Case) -> Fallible<ReactAgent> {
    let model = OpenAi::builder()
        .base_url(server.url())
        .model(server::model(case.rounds, case.calls));
    let mut offered = tools![add];
    for number in 1..case.tools {
        let name = format!("search_{number}");
        let idle =
            FunctionTool::from_schema(name, "Searches a source.", five(), async || "nothing");
        offered.extend(idle?.into_tools());
    }
    let agent = ReactAgent::builder("bench", model.build()?)
        .tools(offered)
        .parallel_tool_execution(true)
        .max_parallel_tools(64)
        .limits(Limits::unlimited())
        .streaming(case.streaming);
    Ok(agent.build()?)
}

/// What this thread ran on a CPU so far, in user and kernel mode.
fn cpu_time() -> Fallible<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().unwrap_or_default().parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// The CPU time of one round trip in microseconds: ours, floor, hand.
async fn measure(case: Case) -> Fallible<[f64; 3]> {
    let server = Server::start()?;
    let agent = agent(&server, case)?;
    let loops = Arc::new(Loops::new(&server, case)?);
    let runs = (600 / (case.rounds + 1)).max(2);
    let mut least = [Duration::MAX; 3];
    // The first round opens connections and fills caches.
    for round in 0..=ROUNDS {
        for (who, least) in least.iter_mut().enumerate() {
            let before = cpu_time()?;
            for _ in 0..runs {
                let text = match who {
                    0 => agent.run(QUESTION).await?.text().to_owned(),
                    1 => loops.floor(QUESTION).await?,
                    _ => loops.hand(QUESTION).await?,
                };
                assert_eq!(text, server::DONE);
            }
            let took = cpu_time()?.saturating_sub(before);
            if round > 0 {
                *least = (*least).min(took);
            }
        }
    }
    let trips = runs * (case.rounds + 1);
    Ok(least.map(|took| took.as_secs_f64() * 1e6 / trips as f64))
}

fn main() -> Fallible<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    println!("rounds  calls  tools  streaming  ours µs  floor µs  hand µs  ours/floor  ours/hand");
    let cases = [
        (10, 1, 1),
        (10, 8, 1),
        (100, 1, 1),
        (200, 1, 1),
        (10, 1, 100),
        (10, 1, 1000),
    ];
    for (rounds, calls, tools) in cases {
        for streaming in [false, true] {
            let case = Case {
                rounds,
                calls,
                tools,
                streaming,
            };
            let [ours, floor, hand] = runtime.block_on(measure(case))?;
            println!(
                "{rounds:>6}  {calls:>5}  {tools:>5}  {streaming:>9}  {ours:>7.1}  {floor:>8.1}  {hand:>7.1}  {:>10.2}  {:>9.2}",
                ours / floor,
                ours / hand
            );
        }
    }
    Ok(())
}
