//! Any turn, in any mode, cancelled at any moment, ends as a turn must end.
//!
//! A case is a reply with up to twelve calls of every kind of tool. It runs on a paused clock,
//! so that a case takes no time and each run of it is the same. `AGENT_TEST_TURNS` sets how many
//! cases are tried; 2,000 are by default. Each run prints its seed; `AGENT_TEST_SEED` sets it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the seed is told")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_core::agent::Limits;
use agent_core::event::EventKind;
use agent_core::graph::CancellationToken;
use agent_core::message::MessageBody;
use agent_core::model::ScriptedModel;
use agent_core::model::scripted::{Turn, says};
use agent_core::tool::{Effect, InterruptRequest, IntoTools as _, ToolOutcome};
use agent_core::{
    AgentError, AgentEvent, IntoToolOutput as _, Outcome, ReactAgent, RunOutput, ToolCallback,
    ToolContext, ToolError,
};
use agent_tests::runs::events;
use agent_tests::tools::tool;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// The limit of each call, in milliseconds.
const LIMIT: u64 = 100;

/// What a call of the reply does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Fast,
    /// Takes this long, in milliseconds; at `LIMIT` and above it is over its time.
    Slow(u64),
    Hang,
    Panic,
    Error,
    Fatal,
    Blocking,
    Interrupt,
    Unknown,
    BadArguments,
    /// A second call with the id of the first of the reply.
    DuplicateId,
}

#[derive(Debug, Clone)]
struct Case {
    calls: Vec<Kind>,
    parallel: bool,
    slots: usize,
    calls_per_tool: Option<u32>,
    cancel_after: Option<u64>,
    /// Tools are pure and may start while the model writes.
    eager: bool,
}

impl Case {
    /// A blocking tool takes real time: where something stops its siblings, either may win.
    fn is_the_same_each_time(&self) -> bool {
        let stops = self.cancel_after.is_some() || self.calls.contains(&Kind::Fatal);
        !(stops && (self.calls.contains(&Kind::Blocking) || self.eager))
    }
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        4 => Just(Kind::Fast),
        4 => (1..2 * LIMIT).prop_map(Kind::Slow),
        1 => Just(Kind::Hang),
        1 => Just(Kind::Panic),
        1 => Just(Kind::Error),
        1 => Just(Kind::Fatal),
        1 => Just(Kind::Blocking),
        1 => Just(Kind::Interrupt),
        1 => Just(Kind::Unknown),
        1 => Just(Kind::BadArguments),
        1 => Just(Kind::DuplicateId),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let calls = prop::collection::vec(kind(), 1..=12);
    let limit = prop::option::weighted(0.2, 0..6_u32);
    let cancel = prop::option::weighted(0.3, 0..3 * LIMIT);
    let eager = prop::bool::weighted(0.3);
    (calls, any::<bool>(), 1..6_usize, limit, cancel, eager).prop_map(
        |(calls, parallel, slots, calls_per_tool, cancel_after, eager)| Case {
            calls,
            parallel,
            slots,
            calls_per_tool,
            cancel_after,
            eager,
        },
    )
}

/// What the tools of a case saw.
#[derive(Debug, Default)]
struct Seen {
    now: AtomicUsize,
    most: AtomicUsize,
    began: Mutex<Vec<String>>,
}

/// Counts a tool that runs, for as long as it does.
struct Running(Arc<Seen>);

impl Running {
    fn of(seen: &Arc<Seen>, context: &ToolContext) -> Self {
        let now = seen.now.fetch_add(1, Ordering::SeqCst) + 1;
        seen.most.fetch_max(now, Ordering::SeqCst);
        seen.began
            .lock()
            .unwrap()
            .push(context.call_id().to_owned());
        Self(Arc::clone(seen))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Blocks its thread, for as long as that takes.
#[agent_core::tool(register = false)]
fn blocking(position: usize, context: &ToolContext) -> Result<String, ToolError> {
    context.update(format!("key{position}"), position)?;
    Ok(format!("{position} blocked"))
}

/// One tool for all kinds but the blocking one: the arguments say what it does.
fn acts(seen: &Arc<Seen>, eager: bool) -> Arc<dyn ToolCallback> {
    let act = async |seen: Arc<Seen>, arguments: Value, context: ToolContext| {
        let _running = Running::of(&seen, &context);
        let position = arguments["position"].as_u64().unwrap();
        context.update(format!("key{position}"), position)?;
        match arguments["kind"].as_str().unwrap() {
            "slow" => sleep(Duration::from_millis(arguments["time"].as_u64().unwrap())).await,
            "hang" => std::future::pending::<()>().await,
            "panic" => panic!("{position} panics"),
            "error" => return Err(ToolError::failed(format!("{position} failed"))),
            "fatal" => return Err(ToolError::fatal(format!("{position} is fatal"))),
            "interrupt" => {
                return Ok(ToolOutcome::Interrupt(InterruptRequest::new("Really?")));
            }
            _ => {}
        }
        format!("{position} done").into_tool_output()
    };
    tool("acts", Arc::clone(seen), act)
        .timeout(Duration::from_millis(LIMIT))
        .effect(if eager { Effect::Pure } else { Effect::Once })
        .into_tools()
        .remove(0)
}

fn turn(calls: &[Kind]) -> Turn {
    let numbered = calls.iter().enumerate();
    numbered.fold(Turn::default(), |turn, (position, kind)| {
        let acts = |kind: &str, time: u64| {
            (
                "acts",
                json!({"kind": kind, "position": position, "time": time}),
            )
        };
        let (name, arguments) = match kind {
            Kind::Fast | Kind::DuplicateId => acts("fast", 0),
            Kind::Slow(time) => acts("slow", *time),
            Kind::Hang => acts("hang", 0),
            Kind::Panic => acts("panic", 0),
            Kind::Error => acts("error", 0),
            Kind::Fatal => acts("fatal", 0),
            Kind::Interrupt => acts("interrupt", 0),
            Kind::Blocking => ("blocking", json!({"position": position})),
            Kind::Unknown => ("missing", json!({})),
            Kind::BadArguments => ("acts", json!(r#"{"position": "#)),
        };
        let id = match kind {
            Kind::DuplicateId => 0,
            _ => position,
        };
        turn.and_calls(name, arguments).with_id(format!("c{id}"))
    })
}

/// How a run of a case ended.
struct End {
    events: Vec<AgentEvent>,
    error: Option<AgentError>,
    output: RunOutput,
    elapsed: Duration,
    seen: Arc<Seen>,
}

async fn run(case: &Case, streaming: bool) -> End {
    let seen = Arc::<Seen>::default();
    let model = ScriptedModel::new([turn(&case.calls), says("done")]);
    let agent = ReactAgent::builder("assistant", model)
        .tools(acts(&seen, case.eager))
        .eager_tool_start(case.eager)
        .tools(agent_core::tools![blocking])
        .parallel_tool_execution(case.parallel)
        .max_parallel_tools(case.slots)
        .limits(Limits::new().calls_per_tool(case.calls_per_tool))
        .build()
        .unwrap();
    let token = CancellationToken::new();
    if let Some(after) = case.cancel_after {
        let token = token.clone();
        tokio::spawn(async move {
            sleep(Duration::from_millis(after)).await;
            token.cancel();
        });
    }
    let start = Instant::now();
    let run = agent.run("Go").cancel_token(token).streaming(streaming);
    let (events, error) = events(run.stream()).await;
    let output = match (&error, events.last().map(|event| &event.kind)) {
        (Some(error), _) => error.output().unwrap().clone(),
        (None, Some(EventKind::RunFinished(output))) => output.clone(),
        (None, last) => panic!("the run ends with {last:?}"),
    };
    let elapsed = start.elapsed();
    if case.eager {
        // What began early is a task of its own, which ends at its next await.
        sleep(Duration::from_millis(1)).await;
    }
    End {
        events,
        error,
        output,
        elapsed,
        seen,
    }
}

/// The results of the turn as the history has them, by call id, in order.
fn results(output: &RunOutput) -> Vec<(String, String, bool)> {
    let tools = output.messages().iter().filter_map(|message| {
        let results = match message.body() {
            MessageBody::Tool(results) => results,
            _ => return None,
        };
        Some(results.clone())
    });
    let open = output.state().transcript().partial_results().cloned();
    tools
        .flatten()
        .chain(open)
        .map(|result| {
            (
                result.call_id().to_owned(),
                result.text(),
                result.is_error(),
            )
        })
        .collect()
}

fn check(case: &Case, end: &End) -> Result<(), TestCaseError> {
    let transcript = end.output.state().transcript();
    let assistant = end.output.messages().iter();
    let mut assistant = assistant.filter(|message| !message.tool_calls().is_empty());
    let Some(reply) = assistant.next() else {
        // Cancelled before the model answered.
        prop_assert_eq!(end.output.outcome(), &Outcome::Cancelled);
        return Ok(());
    };
    let ids: Vec<&str> = reply.tool_calls().iter().map(|call| call.id()).collect();
    let results = results(&end.output);

    // One result per call, in call order; what is open is what waits for a person.
    let waiting: Vec<&str> = match end.output.outcome() {
        Outcome::Interrupted(interrupts) => {
            interrupts.iter().map(|asked| &*asked.call_id).collect()
        }
        _ => Vec::new(),
    };
    prop_assert_eq!(transcript.is_closed(), waiting.is_empty());
    let answered: Vec<&str> = results.iter().map(|(id, ..)| &**id).collect();
    let expected: Vec<&str> = ids
        .iter()
        .copied()
        .filter(|id| !waiting.contains(id))
        .collect();
    prop_assert_eq!(&answered, &expected);

    // Each answer was told, once.
    let mut told: Vec<&str> = end.events.iter().filter_map(finished).collect();
    told.sort_unstable();
    let mut expected = expected;
    expected.sort_unstable();
    prop_assert_eq!(told, expected);

    // A key is there if, and only if, its call went well.
    for (position, id) in ids.iter().enumerate() {
        let went_well = results
            .iter()
            .any(|(other, _, is_error)| other == id && !is_error);
        let value = end.output.state().value(&format!("key{position}"));
        prop_assert_eq!(value.is_some(), went_well, "key{} of {}", position, id);
    }

    // No more than allowed at once, nothing twice, and nothing that still runs.
    let most = if case.parallel { case.slots } else { 1 };
    prop_assert!(end.seen.most.load(Ordering::SeqCst) <= most);
    let mut began = end.seen.began.lock().unwrap().clone();
    began.sort_unstable();
    let count = began.len();
    began.dedup();
    prop_assert_eq!(began.len(), count, "a call ran twice");
    prop_assert_eq!(end.seen.now.load(Ordering::SeqCst), 0, "a tool still runs");

    // In time: side by side the limit of one call holds for all, as waiting counts.
    let limit = match case.parallel {
        true => LIMIT,
        false => LIMIT * case.calls.len() as u64,
    };
    let limit = case.cancel_after.map_or(limit, |after| limit.min(after));
    prop_assert!(
        end.elapsed <= Duration::from_millis(limit + 1),
        "{:?}",
        end.elapsed
    );

    // The outcome is the one that the calls lead to.
    if case.cancel_after.is_none() {
        let raised = end.error.is_some();
        prop_assert_eq!(raised, end.output.outcome() == &Outcome::Failed);
        prop_assert!(end.output.outcome() != &Outcome::Cancelled);
    }
    Ok(())
}

fn finished(event: &AgentEvent) -> Option<&str> {
    match &event.kind {
        EventKind::ToolFinished { result, .. } => Some(result.call_id()),
        _ => None,
    }
}

/// What can be compared between two runs of one case.
fn gist(end: &End) -> (String, Vec<(usize, String, bool)>, Option<String>) {
    let results = results(&end.output).into_iter().enumerate();
    // Ids that the run made up differ.
    let results = results.map(|(position, (_, text, is_error))| (position, text, is_error));
    let outcome = match end.output.outcome() {
        Outcome::Interrupted(interrupts) => format!("{} pauses", interrupts.len()),
        outcome => format!("{outcome:?}"),
    };
    let error = end.error.as_ref().map(ToString::to_string);
    (outcome, results.collect(), error)
}

/// How many cases are tried, and from which seed; told, so that a failure can be had again.
fn config() -> ProptestConfig {
    let given = |name| {
        std::env::var(name)
            .ok()
            .map(|text| text.parse::<u64>().unwrap())
    };
    let cases = given("AGENT_TEST_TURNS").unwrap_or(2000);
    let seed = given("AGENT_TEST_SEED").unwrap_or_else(rand_seed);
    println!("{cases} cases: AGENT_TEST_SEED={seed}");
    ProptestConfig {
        cases: cases.try_into().unwrap(),
        rng_seed: RngSeed::Fixed(seed),
        // A panic of a tool is a part of many cases.
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn rand_seed() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), ())
}

proptest! {
    #![proptest_config(config())]

    // C1, C2, C3, C4, C6, C11, E1, E4, TN-2, TN-4, TN-5, TN-6, TN-7, TN-8
    #[test]
    fn any_turn_ends_as_a_turn_must_end(case in case()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let streamed = run(&case, true).await;
            check(&case, &streamed)?;
            let plain = run(&case, false).await;
            check(&case, &plain)?;
            if case.is_the_same_each_time() {
                prop_assert_eq!(gist(&streamed), gist(&plain));
            }
            Ok(())
        })?;
    }
}
