//! Reading the five arguments of a call, beside `serde_json::from_str` into a struct of them.
//!
//! `cargo bench -p agent-tests --bench decoding`. The bound is 1.5. A number after `--` is how
//! often each is done, for a profiler that counts instructions.
#![allow(missing_docs, reason = "a program of its own")]
#![allow(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use agent_core::__private as P;
use agent_core::ToolContext;
use serde::Deserialize;

const ARGUMENTS: &str =
    r#"{"city":"Oslo","days":3,"scale":1.5,"tags":["rain","wind"],"detailed":true}"#;

#[derive(Deserialize)]
struct Forecast {
    city: String,
    days: u8,
    scale: f64,
    tags: Vec<String>,
    detailed: Option<bool>,
}

const CITY: P::TypedParameter<String> = P::typed::<String>("city");
const DAYS: P::TypedParameter<u8> = P::typed::<u8>("days");
const SCALE: P::TypedParameter<f64> = P::typed::<f64>("scale");
const TAGS: P::TypedParameter<Vec<String>> = P::typed::<Vec<String>>("tags");
const DETAILED: P::TypedParameter<Option<bool>> = P::typed::<Option<bool>>("detailed");

#[inline(never)]
fn by_reader(arguments: &str, context: &ToolContext) -> Option<Forecast> {
    let mut reader = P::ArgumentReader::new(arguments, context);
    let forecast = Forecast {
        city: CITY.take(&mut reader)?,
        days: DAYS.take(&mut reader)?,
        scale: SCALE.take(&mut reader)?,
        tags: TAGS.take(&mut reader)?,
        detailed: DETAILED.take(&mut reader)?,
    };
    reader.finish().ok()?;
    Some(forecast)
}

#[inline(never)]
fn by_serde(arguments: &str) -> Option<Forecast> {
    serde_json::from_str(arguments).ok()
}

/// The shortest of seven runs, so that other work on the machine counts little.
fn least(rounds: u32, mut run: impl FnMut() -> Option<Forecast>) -> Duration {
    let mut once = || {
        let start = Instant::now();
        for _ in 0..rounds {
            let forecast = black_box(run());
            black_box(forecast.map(|it| (it.city, it.days, it.scale, it.tags, it.detailed)));
        }
        start.elapsed()
    };
    (0..7).map(|_| once()).min().unwrap_or_default()
}

fn main() {
    let rounds = std::env::args().find_map(|argument| argument.parse().ok());
    let rounds = rounds.unwrap_or(200_000);
    let context = ToolContext::default();
    let serde = least(rounds, || by_serde(black_box(ARGUMENTS)));
    let reader = least(rounds, || by_reader(black_box(ARGUMENTS), &context));

    println!(
        "serde_json::from_str  {:>6} ns",
        (serde / rounds).as_nanos()
    );
    println!(
        "the argument reader   {:>6} ns",
        (reader / rounds).as_nanos()
    );
    println!(
        "ratio                 {:>6.2}",
        reader.as_secs_f64() / serde.as_secs_f64()
    );
}
