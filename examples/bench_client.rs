//! An agent under load, for measuring: many sessions against one chat-completions server.
//!
//! ```sh
//! BASE_URL=http://127.0.0.1:8080/v1 MODEL=m SESSIONS=4 RUNS=10 \
//!     cargo run -q --release -p agent-examples --example bench_client
//! ```
//!
//! `SESSIONS` series of `RUNS` runs go on at once, each run a fresh conversation; `WARMUP` runs
//! come first, after which a POST to `MARK_URL` tells whoever counts to begin. `TOOLS` tools are
//! offered, `STREAM=1` streams. One line of JSON says what it took; CPU and memory are Linux's.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use std::error::Error;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::agent::Limits;
use agent_core::model::OpenAi;
use agent_core::tool::{FunctionTool, IntoTools as _};
use agent_core::{ReactAgent, ToolSchema, tool, tools};
use serde::Deserialize;
use serde_json::{Value, json};

type BoxError = Box<dyn Error + Send + Sync>;

/// Add two integers.
#[tool]
async fn add(
    /// First addend
    a: i64,
    /// Second addend
    b: i64,
) -> i64 {
    a + b
}

/// Look a record up by its key.
#[tool]
async fn lookup(
    /// Key of the record
    key: &str,
) -> String {
    format!("record for {key}")
}

/// Sleep for some milliseconds.
#[tool]
async fn sleep(
    /// Milliseconds
    ms: u64,
) -> String {
    tokio::time::sleep(Duration::from_millis(ms)).await;
    format!("slept {ms} ms")
}

fn text(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_owned())
}

fn number(name: &str, default: usize) -> usize {
    text(name, "").parse().unwrap_or(default)
}

fn agent() -> Result<ReactAgent, BoxError> {
    let model = OpenAi::builder()
        .base_url(text("BASE_URL", "http://127.0.0.1:8080/v1"))
        .model(text("MODEL", "m"))
        .build()?;
    let count = number("TOOLS", 3);
    let mut offered = tools![add, lookup, sleep];
    for position in 3..count {
        let name = format!("filler_{position}");
        let description = format!("Search the {name} data source and return matching records.");
        let filler = FunctionTool::new(name, description, async |_: Filler| "nothing");
        offered.extend(filler.into_tools());
    }
    offered.truncate(count);
    let agent = ReactAgent::builder("bench", model)
        .tools(offered)
        .parallel_tool_execution(true)
        .max_parallel_tools(64)
        .limits(Limits::unlimited());
    Ok(agent.build()?)
}

// The input of each of the many tools; a doc comment would be sent with each of them.
#[derive(Deserialize, ToolSchema)]
#[expect(dead_code, reason = "only what the tool is offered with counts")]
struct Filler {
    /// What to search for
    query: String,
    /// Maximum number of results
    limit: i64,
    /// Number of results to skip
    offset: i64,
    /// Whether to include details
    verbose: bool,
    /// Only results with these tags
    tags: Vec<String>,
}

/// The time of each run, and the bytes of the final texts.
async fn all(agent: &Arc<ReactAgent>, runs: usize) -> Result<(Vec<Duration>, usize), BoxError> {
    let is_stream = number("STREAM", 0) != 0;
    let series = (0..number("SESSIONS", 1)).map(|session| {
        let agent = Arc::clone(agent);
        tokio::spawn(async move {
            let question = format!(
                "[s:{session}] Work through the steps with the tools and report the result."
            );
            let (mut times, mut bytes) = (Vec::with_capacity(runs), 0);
            for _ in 0..runs {
                let started = Instant::now();
                let output = agent.run(&*question).streaming(is_stream).await?;
                bytes += output.text().len();
                times.push(started.elapsed());
            }
            Ok::<_, BoxError>((times, bytes))
        })
    });
    let series: Vec<_> = series.collect();
    let (mut times, mut bytes) = (Vec::new(), 0);
    for one in series {
        let (more, said) = one.await??;
        times.extend(more);
        bytes += said;
    }
    Ok((times, bytes))
}

/// Seconds of CPU that all threads took so far.
fn cpu() -> f64 {
    let threads = fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    let nanos = threads.filter_map(|thread| {
        let stat = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<f64>().ok()
    });
    nanos.sum::<f64>() / 1e9
}

/// The most memory that was ever in use, in kilobytes.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let size = line.and_then(|line| line.split_whitespace().next());
    size.and_then(|size| size.parse().ok()).unwrap_or(0)
}

/// Tells the server at `MARK_URL` that the warm-up is over.
fn mark() {
    let url = text("MARK_URL", "");
    let rest = url.trim_start_matches("http://");
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if let Ok(mut stream) = TcpStream::connect(host) {
        let head = format!(
            "POST /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

async fn measured() -> Result<Value, BoxError> {
    let agent = Arc::new(agent()?);
    let warmup = number("WARMUP", 0);
    if warmup > 0 {
        all(&agent, warmup).await?;
        mark();
    }
    let (cpu_before, started) = (cpu(), Instant::now());
    let (mut times, bytes) = all(&agent, number("RUNS", 1)).await?;
    let (wall, used) = (started.elapsed(), cpu() - cpu_before);
    times.sort_unstable();
    let percentile = |part: f64| {
        let place = (times.len().saturating_sub(1) as f64 * part).round() as usize;
        times
            .get(place)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    Ok(json!({
        "client": "agent-core",
        "sessions": number("SESSIONS", 1),
        "runs": times.len(),
        "wall_s": wall.as_secs_f64(),
        // What Linux tells of a thread is the sum of both.
        "user_s": used,
        "sys_s": 0.0,
        "run_p50_ms": percentile(0.5),
        "run_p99_ms": percentile(0.99),
        "text_bytes": bytes,
        "maxrss_kb": peak_memory(),
        "error": null,
    }))
}

#[tokio::main]
async fn main() {
    let line = measured().await;
    println!(
        "{}",
        line.unwrap_or_else(|error| json!({"runs": 0, "error": error.to_string()}))
    );
}
