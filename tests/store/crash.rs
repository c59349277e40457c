//! A process that dies at any moment, and goes on as if nothing had happened.
//!
//! The parent starts this very binary as a child whose agent makes five calls that append to a
//! file. The child tells each thing that happens and waits for leave to go on; the parent kills it
//! at one of them, starts it again, and looks at the file and at the history. Some kill points are
//! tried here; `tests/proofs/crash.sh` tries all of them, several times over, by
//! `AGENT_TEST_CRASHES`.

use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use agent_core::agent::RunRequest;
use agent_core::graph::checkpoint::{CheckpointError, CheckpointSaver};
use agent_core::message::Role;
use agent_core::model::scripted::{Turn, says};
use agent_core::model::{ChatRequest, FunctionModel};
use agent_core::{AgentError, Message, ReactAgent, RunOutput, ToolContext, tool, tools};
use serde_json::json;

use super::{Folder, fresh, open};

/// How many calls the turn has; the last two may run again.
const CALLS: usize = 5;
const MAY_RUN_AGAIN: usize = 2;

/// What the child is told by its environment.
const STORE: &str = "AGENT_TEST_CRASH_STORE";
const EFFECTS: &str = "AGENT_TEST_CRASH_EFFECTS";
const PARALLEL: &str = "AGENT_TEST_CRASH_PARALLEL";
const THREAD: &str = "AGENT_TEST_CRASH_THREAD";

// ---- the child

/// Tells the parent what happens, and waits for its leave.
#[expect(clippy::print_stdout, reason = "it is how the child speaks")]
fn point(what: &str) {
    println!("@{what}");
    std::io::stdout().flush().unwrap();
    let mut leave = String::new();
    std::io::stdin().read_line(&mut leave).unwrap();
}

/// The effect: one line at the end of a file.
fn append(number: usize, context: &ToolContext) -> String {
    point(&format!("effect {number} begins"));
    let line = format!("{number} {}\n", context.idempotency_key());
    let path = std::env::var(EFFECTS).unwrap();
    let mut file = OpenOptions::new().append(true).create(true).open(path);
    file.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    point(&format!("effect {number} is done"));
    format!("appended {number}")
}

/// Appends, and counts each time.
#[tool(register = false)]
async fn counts(number: usize, context: &ToolContext) -> String {
    append(number, context)
}

/// Appends, and may do so again.
#[tool(register = false, effect = "idempotent")]
async fn repeats(number: usize, context: &ToolContext) -> String {
    append(number, context)
}

fn turn() -> Turn {
    (0..CALLS).fold(Turn::default(), |turn, number| {
        let name = match number < CALLS - MAY_RUN_AGAIN {
            true => "counts",
            false => "repeats",
        };
        let turn = turn.and_calls(name, json!({"number": number}));
        turn.with_id(format!("c{number}"))
    })
}

fn answers(request: &ChatRequest) -> Turn {
    let last = request.messages().last().map(Message::text);
    match last.as_deref() {
        Some("Go") => turn(),
        _ => says("done"),
    }
}

fn agent(saver: Arc<dyn CheckpointSaver>) -> ReactAgent {
    ReactAgent::builder("assistant", FunctionModel::new(answers))
        .tools(tools![counts, repeats])
        .parallel_tool_execution(std::env::var(PARALLEL).unwrap() == "true")
        .saver(saver)
        .build()
        .unwrap()
}

/// Runs to the end, telling each event.
async fn follow(run: RunRequest) -> Result<(), AgentError> {
    let mut events = run.stream();
    while let Some(event) = events.next().await {
        let text = format!("{:?}", event?.kind);
        let name = text.split(|c: char| !c.is_alphanumeric()).next();
        point(name.unwrap_or_default());
    }
    Ok(())
}

/// Begins, or goes on if there is something to go on with.
async fn go_on(agent: &ReactAgent, thread: &str) -> Result<(), AgentError> {
    let resumed = follow(agent.resume(thread, [])).await;
    let Err(AgentError::Thread { source, .. }) = &resumed else {
        return resumed;
    };
    match **source {
        CheckpointError::ThreadNotFound { .. } => follow(agent.run("Go").thread(thread)).await,
        CheckpointError::NothingToResume { .. } => Ok(()),
        _ => resumed,
    }
}

/// The whole history as one line: who spoke, and what each call got.
fn history(output: &RunOutput) -> String {
    let lines = output.messages().iter().map(|message| {
        let results = message.tool_results().iter().map(|result| {
            let is_error = result.is_error();
            json!({"id": result.call_id(), "text": result.text(), "is_error": is_error})
        });
        let calls = message.tool_calls().iter().map(|call| call.id().to_owned());
        json!({
            "role": format!("{:?}", message.role()),
            "calls": calls.collect::<Vec<_>>(),
            "results": results.collect::<Vec<_>>(),
        })
    });
    serde_json::Value::from_iter(lines).to_string()
}

/// The child itself; without a parent it does nothing.
#[test]
fn as_the_child() {
    let Ok(store) = std::env::var(STORE) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let agent = agent(open(&store).await);
        let thread = std::env::var(THREAD).unwrap();
        // The server may not have seen yet that the last process is gone.
        for _ in 0..500 {
            match go_on(&agent, &thread).await {
                Err(AgentError::Thread { source, .. }) if source.is_conflict() => {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                ended => {
                    ended.unwrap();
                    break;
                }
            }
        }
        let output = agent.run("And now?").thread(thread).await.unwrap();
        println!("\n@@{}", history(&output));
    });
}

// ---- the parent

/// When the child dies.
#[derive(Debug, Clone, Copy)]
enum Kill {
    Never,
    /// While it waits at this point.
    At(usize),
    /// A moment after it had leave to go on from there.
    After(usize, Duration),
}

/// What became of a child.
struct End {
    points: Vec<String>,
    history: Option<String>,
}

fn child(store: &str, thread: &str, effects: &Path, parallel: bool) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::as_the_child", "--nocapture"])
        .env(STORE, store)
        .env(THREAD, thread)
        .env(EFFECTS, effects)
        .env(PARALLEL, parallel.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn run(mut child: Child, kill: Kill) -> End {
    let mut leave = child.stdin.take().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut end = End {
        points: Vec::new(),
        history: None,
    };
    for line in lines {
        let Ok(line) = line else { break };
        if let Some(history) = line.strip_prefix("@@") {
            end.history = Some(history.to_owned());
            continue;
        }
        // The harness may have begun the line.
        let Some((_, what)) = line.split_once('@') else {
            continue;
        };
        end.points.push(what.to_owned());
        match kill {
            Kill::At(at) if at == end.points.len() => child.kill().unwrap(),
            Kill::After(at, moment) if at == end.points.len() => {
                let _ = leave.write_all(b"\n");
                std::thread::sleep(moment);
                child.kill().unwrap();
            }
            _ => _ = leave.write_all(b"\n"),
        }
    }
    child.wait().unwrap();
    end
}

/// Kills a child, lets another one go on, and looks at what there is. Gives the points that the
/// first one passed, and how many calls were in doubt. Without a server a file is the store.
fn crash(server: Option<&str>, parallel: bool, kill: Kill) -> (usize, usize) {
    let folder = Folder::new();
    let effects = folder.0.join("effects");
    let file = folder.file().display().to_string();
    let (store, thread) = (server.unwrap_or(&file), fresh("t"));
    let start = || child(store, &thread, &effects, parallel);
    let first = run(start(), kill);
    let second = match first.history {
        Some(_) => End {
            points: Vec::new(),
            history: first.history.clone(),
        },
        None => run(start(), Kill::Never),
    };
    let context = format!("{kill:?}, parallel {parallel}, {:?}", first.points);
    let history = second.history.unwrap_or_else(|| {
        panic!("no end after {context}; then {:?}", second.points);
    });
    let effects = std::fs::read_to_string(&effects).unwrap_or_default();
    let in_doubt = check(&history, &effects, &context);
    (first.points.len(), in_doubt)
}

/// Gives how many calls were in doubt.
fn check(history: &str, effects: &str, context: &str) -> usize {
    let history: serde_json::Value = serde_json::from_str(history).unwrap();
    let with = |member: &str| {
        let messages = history.as_array().unwrap().iter();
        let mut found = messages.filter(|message| !message[member].as_array().unwrap().is_empty());
        let one = found
            .next()
            .unwrap_or_else(|| panic!("no {member}: {context}"))[member]
            .clone();
        assert!(
            found.next().is_none(),
            "{member} twice: {context}\n{history}"
        );
        one
    };
    let roles: Vec<&str> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["role"].as_str().unwrap())
        .collect();
    let expected = [
        Role::User,
        Role::Assistant,
        Role::Tool,
        Role::Assistant,
        Role::User,
        Role::Assistant,
    ];
    assert_eq!(roles, expected.map(|role| format!("{role:?}")), "{context}");
    let ids: Vec<String> = (0..CALLS).map(|number| format!("c{number}")).collect();
    assert_eq!(with("calls"), json!(ids), "{context}");
    let results = with("results");
    let mut in_doubt = 0;
    for (number, result) in results.as_array().unwrap().iter().enumerate() {
        assert_eq!(result["id"], json!(ids[number]), "{context}");
        let text = result["text"].as_str().unwrap();
        let prefix = format!("{number} ");
        let mut lines: Vec<&str> = effects
            .lines()
            .filter(|line| line.starts_with(&prefix))
            .collect();
        let times = lines.len();
        lines.dedup();
        // A service that is told the key can see that it is the same call.
        assert!(
            lines.len() <= 1,
            "two keys for one call: {context}\n{effects}"
        );
        let may_run_again = number >= CALLS - MAY_RUN_AGAIN;
        if text == format!("appended {number}") {
            let right = times == 1 || (may_run_again && times == 2);
            assert!(right, "effect {number} {times} times: {context}\n{effects}");
        } else {
            assert!(text.contains("outcome unknown"), "{text}: {context}");
            assert!(!may_run_again, "{text}: {context}");
            assert!(
                times <= 1,
                "effect {number} {times} times: {context}\n{effects}"
            );
            in_doubt += 1;
        }
    }
    in_doubt
}

/// How the points are chosen: some, or all of them so often.
fn crashes() -> Option<usize> {
    std::env::var("AGENT_TEST_CRASHES").ok()?.parse().ok()
}

#[expect(clippy::print_stdout, reason = "the table of the proof")]
fn try_all(name: &str, server: Option<&str>) {
    let mut tried = 0;
    let mut doubtful = 0;
    for parallel in [false, true] {
        let (points, in_doubt) = crash(server, parallel, Kill::Never);
        assert_eq!(in_doubt, 0);
        assert!(points > 20, "only {points} points");
        let (step, rounds) = match crashes() {
            None => (points / 5, 1),
            Some(rounds) => (1, rounds),
        };
        for round in 0..rounds {
            for at in (1..=points).step_by(step) {
                // Odd moments, so that the kills fall everywhere between two points.
                let moment = Duration::from_micros((at as u64 * 37 + round as u64 * 211) % 1500);
                for kill in [Kill::At(at), Kill::After(at, moment)] {
                    let (_, in_doubt) = crash(server, parallel, kill);
                    tried += 1;
                    doubtful += usize::from(in_doubt > 0);
                }
            }
        }
    }
    println!(
        "{name}: {tried} kills, {doubtful} with calls in doubt, every effect as often as it may be"
    );
}

// E2, C7, cp-12
#[test]
fn a_process_killed_anywhere_goes_on_from_its_file() {
    try_all("sqlite", None);
}

// E2, C7, cp-12
#[tokio::test]
async fn a_process_killed_anywhere_goes_on_from_its_server() {
    let Some(server) = super::postgres::Server::new() else {
        return;
    };
    let store = format!("{}#{}", server.url, server.schema);
    tokio::task::spawn_blocking(move || try_all("postgres", Some(&store)))
        .await
        .unwrap();
    server.end().await;
}
