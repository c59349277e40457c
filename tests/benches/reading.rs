//! Reading the bytes of a streamed answer, beside `eventsource-stream` and `serde_json`.
//!
//! `cargo bench -p agent-tests --bench reading`. CPU time in milliseconds per megabyte of text in
//! 20-byte pieces, and of one argument in 4-byte pieces, for answers of one, two and four
//! megabytes: a cost that is linear stays the same down a column.
#![allow(missing_docs, reason = "a program of its own")]
#![allow(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]

use std::convert::Infallible;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use agent_core::model::openai::read_answer;
use eventsource_stream::Eventsource as _;
use futures_util::{FutureExt as _, StreamExt as _};
use serde::Deserialize;

type Fallible<T> = Result<T, Box<dyn Error>>;

const MEGABYTE: usize = 1024 * 1024;

/// How much comes from a connection at once.
const READ: usize = 16 * 1024;

#[derive(Deserialize)]
struct Chunk {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    arguments: Option<String>,
}

/// The longer of text and arguments, as it is read with the two crates.
fn by_crates(reads: &[&[u8]]) -> Fallible<usize> {
    let reads = reads.iter().map(|read| Ok::<_, Infallible>(*read));
    let mut events = futures_util::stream::iter(reads).eventsource();
    let (mut text, mut arguments) = (String::new(), String::new());
    while let Some(event) = events.next().now_or_never().flatten() {
        let event = event?;
        if event.data == "[DONE]" {
            break;
        }
        for choice in serde_json::from_str::<Chunk>(&event.data)?.choices {
            text += choice.delta.content.as_deref().unwrap_or_default();
            for call in choice.delta.tool_calls.into_iter().flatten() {
                arguments += call.function.arguments.as_deref().unwrap_or_default();
            }
        }
    }
    Ok(text.len().max(arguments.len()))
}

fn by_us(reads: &[&[u8]]) -> Fallible<usize> {
    let message = read_answer(reads)?.message;
    let arguments = message.tool_calls.first();
    let arguments = arguments.map_or(0, |call| call.arguments().len());
    Ok(message.text.len().max(arguments))
}

/// A stream of a text of so many bytes, in pieces of 20.
fn text(bytes: usize) -> Fallible<String> {
    let mut out = String::new();
    for _ in 0..bytes / 20 {
        out += r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"a piece of 20 bytes."},"finish_reason":null}]}"#;
        out += "\n\n";
    }
    end(&mut out, "stop")?;
    Ok(out)
}

/// A stream of one call with an argument of so many bytes, in pieces of 4.
fn argument(bytes: usize) -> Fallible<String> {
    let mut out = String::new();
    let mut piece = |head: &str, arguments: &str| {
        write!(
            out,
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\
             \"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{{\"index\":0,{head}\"function\":\
             {{\"arguments\":\"{arguments}\"}}}}]}},\"finish_reason\":null}}]}}\n\n"
        )
    };
    piece("\"id\":\"c1\",\"type\":\"function\",", "{\\\"x\\\":\\\"")?;
    for _ in 0..bytes / 4 {
        piece("", "abcd")?;
    }
    piece("", "\\\"}")?;
    end(&mut out, "tool_calls")?;
    Ok(out)
}

fn end(out: &mut String, reason: &str) -> Fallible<()> {
    write!(
        out,
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: [DONE]\n\n"
    )?;
    Ok(())
}

/// What this thread ran on a CPU so far, in user and kernel mode.
fn cpu_time() -> Fallible<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split(' ').next().unwrap_or_default().parse()?;
    Ok(Duration::from_nanos(nanoseconds))
}

/// The least of three, so that other work on the machine counts little.
fn least(stream: &str, read: fn(&[&[u8]]) -> Fallible<usize>, bytes: usize) -> Fallible<Duration> {
    let reads: Vec<&[u8]> = stream.as_bytes().chunks(READ).collect();
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let before = cpu_time()?;
        let length = read(&reads)?;
        least = least.min(cpu_time()?.saturating_sub(before));
        assert!(length + 20 > bytes, "{length} of {bytes}");
    }
    Ok(least)
}

fn main() -> Fallible<()> {
    println!("answer      MB  ours ms/MB  crates ms/MB  ratio");
    for (name, stream) in [
        ("text", text as fn(usize) -> Fallible<String>),
        ("argument", argument),
    ] {
        for megabytes in [1, 2, 4] {
            let bytes = megabytes * MEGABYTE;
            let stream = stream(bytes)?;
            let ours = least(&stream, by_us, bytes)?.as_secs_f64() * 1e3 / megabytes as f64;
            let crates = least(&stream, by_crates, bytes)?.as_secs_f64() * 1e3 / megabytes as f64;
            let ratio = ours / crates;
            println!("{name:<10}  {megabytes:>2}  {ours:>10.1}  {crates:>12.1}  {ratio:>5.2}");
        }
    }
    Ok(())
}
