//! A disk that is full, a thread that another process has, a server that hangs up: an error that
//! says so, and then the run goes on with nothing lost and nothing done twice.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent_core::graph::checkpoint::{CheckpointError, CheckpointSaver, SaverError};
use agent_core::model::scripted::{Turn, calls, says};
use agent_core::model::{ChatRequest, FunctionModel};
use agent_core::{AgentError, Host, Message, ReactAgent, RunOutput, tool, tools};
use agent_store::{SqliteSaver, StoreError};
use serde_json::json;

use super::postgres::Server;
use super::{Folder, adds, chain, fresh, open};

/// How many calls there are, one after another, and how long the text of each is.
const CALLS: usize = 20;
const LENGTH: usize = 30_000;

const STORE: &str = "AGENT_TEST_FAULT_STORE";
const EFFECTS: &str = "AGENT_TEST_FAULT_EFFECTS";
/// Set for a child that ends without closing its file.
const ABRUPT: &str = "AGENT_TEST_FAULT_ABRUPT";
const HOLDS: &str = "AGENT_TEST_FAULT_HOLDS";

/// The file of the effects, and what happens at each.
struct Effects {
    file: std::path::PathBuf,
    server: Option<Statement>,
}

/// What is said to a server behind the back of the store.
#[derive(Clone)]
struct Statement {
    url: String,
    sql: String,
}

impl Statement {
    fn new(server: &Server, sql: &str) -> Self {
        Self {
            url: server.url.clone(),
            sql: sql.replace("$SCHEMA", &server.schema),
        }
    }

    async fn say(&self) {
        use sqlx::{Connection as _, Executor as _};

        let mut raw = sqlx::PgConnection::connect(&self.url).await.unwrap();
        raw.execute(&*self.sql).await.unwrap();
        raw.close().await.unwrap();
    }
}

/// Appends a line to a file, and says much of it.
#[tool(register = false)]
async fn append(number: usize, effects: Host<Effects>) -> String {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(&effects.file);
    file.as_mut()
        .unwrap()
        .write_all(format!("{number}\n").as_bytes())
        .unwrap();
    if let Some(statement) = &effects.server {
        statement.say().await;
    }
    format!("appended {number} {}", "x".repeat(LENGTH))
}

fn answers(request: &ChatRequest) -> Turn {
    let results = request.messages().flat_map(Message::tool_results).count();
    match results {
        CALLS => says("done"),
        number => calls("append", json!({"number": number})).with_id(format!("c{number}")),
    }
}

fn agent(saver: Arc<dyn CheckpointSaver>, effects: Effects) -> ReactAgent {
    ReactAgent::builder("assistant", FunctionModel::new(answers))
        .tools(tools![append])
        .host(effects)
        .saver(saver)
        .build()
        .unwrap()
}

/// Begins, or goes on if there is something to go on with.
async fn go_on(agent: &ReactAgent) -> Result<RunOutput, AgentError> {
    match agent.resume("t", []).await {
        Err(AgentError::Thread { source, .. })
            if matches!(*source, CheckpointError::ThreadNotFound { .. }) =>
        {
            agent.run("Go").thread("t").await
        }
        ended => ended,
    }
}

/// What the store said, where it is known to be a fault of the store.
fn refusal(error: &AgentError) -> &SaverError {
    match error {
        AgentError::Thread { source, .. } => match &**source {
            CheckpointError::Saver(error) => error,
            other => panic!("{other:?}"),
        },
        other => panic!("{}", chain(other)),
    }
}

/// Every call has its result, and happened once; nobody says it did if it did not.
fn check(results: &BTreeMap<usize, String>, effects: &Path) -> usize {
    let effects = std::fs::read_to_string(effects).unwrap();
    let mut in_doubt = 0;
    for number in 0..CALLS {
        let times = effects.lines().filter(|line| *line == number.to_string());
        let (times, result) = (times.count(), &*results[&number]);
        match result.strip_prefix("appended ") {
            Some(_) => assert_eq!(times, 1, "{number}"),
            None => {
                assert!(result.contains("outcome unknown"), "{number}: {result}");
                assert!(times <= 1, "{number}");
                in_doubt += 1;
            }
        }
    }
    assert_eq!(results.len(), CALLS);
    in_doubt
}

fn results(output: &RunOutput) -> BTreeMap<usize, String> {
    let results = output.messages().iter().flat_map(Message::tool_results);
    let short = results.map(|result| {
        let number = result.call_id().trim_start_matches('c').parse().unwrap();
        (number, result.text().chars().take(80).collect())
    });
    short.collect()
}

// ---- a full disk

/// The child that has little room; without a parent it does nothing.
#[test]
fn as_the_child_without_room() {
    let Ok(store) = std::env::var(STORE) else {
        return;
    };
    let file = std::env::var_os(EFFECTS).unwrap().into();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let said = runtime.block_on(async {
        let effects = Effects { file, server: None };
        let agent = agent(open(&store).await, effects);
        match go_on(&agent).await {
            Ok(output) => json!({"results": results(&output)}),
            Err(error) => {
                let refusal = refusal(&error);
                assert!(refusal.is_retryable(), "{refusal:?}");
                json!({"error": chain(&error)})
            }
        }
    });
    println!("\n@@{said}");
}

/// What the children without room say that a shell starts by `$CHILD`, in order.
fn children(script: &str, folder: &Folder, store: &Path) -> Option<Vec<serde_json::Value>> {
    let said = children_of("as_the_child_without_room", script, (folder, store))?;
    assert_eq!(said.len(), 2, "{said:?}");
    Some(said)
}

/// What each child of this name says, in order. `None` if no file system can be mounted here.
fn children_of(
    name: &str,
    script: &str,
    (folder, store): (&Folder, &Path),
) -> Option<Vec<serde_json::Value>> {
    let name = format!("faults::{name}");
    let child = format!("\"$EXE\" --exact {name} --nocapture");
    let output = Command::new("sh")
        .args(["-c", &script.replace("$CHILD", &child)])
        .current_dir(folder)
        .env("EXE", std::env::current_exe().unwrap())
        .env(STORE, store)
        .env(EFFECTS, folder.0.join("effects"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said = text.lines().filter_map(|line| line.strip_prefix("@@"));
    let said: Vec<_> = said
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    if text.contains("no mount") {
        return None;
    }
    assert!(
        !said.is_empty(),
        "{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(said)
}

fn check_children(said: &[serde_json::Value], folder: &Folder, means: &[&str]) {
    let error = said[0]["error"].as_str().unwrap();
    assert!(means.iter().any(|means| error.contains(means)), "{error}");
    let results = serde_json::from_value(said[1]["results"].clone()).unwrap();
    let in_doubt = check(&results, &folder.0.join("effects"));
    assert!(in_doubt <= 1, "{in_doubt} in doubt");
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_on_a_full_disk_fails_and_goes_on_once_there_is_room() {
    // A file system of its own, most of which something else takes at first.
    let folder = Folder::new();
    std::fs::create_dir(folder.0.join("small")).unwrap();
    let script = "unshare -rm sh -c '\
        mount -t tmpfs -o size=4m tmpfs small || { echo no mount; exit; }; \
        head -c 3300000 /dev/zero > small/ballast; \
        $CHILD; rm small/ballast; $CHILD' || echo no mount";

    match children(script, &folder, Path::new("small/threads.db")) {
        Some(said) => check_children(&said, &folder, &["database or disk is full"]),
        None => println!("skipped: no file system can be mounted here"),
    }
}

/// The child that opens a file which it may be kept from writing, and adds to its thread; without
/// a parent it does nothing.
#[test]
fn as_the_child_that_may_not_write() {
    let Ok(store) = std::env::var(STORE) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let said = runtime.block_on(async {
        let saver = match SqliteSaver::open(store).await {
            Ok(saver) => saver,
            Err(error @ StoreError::Open { .. }) => return json!({"error": chain(&error)}),
            Err(error) => panic!("{error:?}"),
        };
        let thread = saver.load("t", None).await.unwrap();
        let version = thread.map_or(0, |thread| thread.version);
        let id = version.to_string();
        let parent = version.checked_sub(1).map(|parent| parent.to_string());
        let commit = adds(version, &id, parent.as_deref(), b"a");
        saver.commit("t", commit).await.unwrap();
        let said = json!({"version": version});
        if std::env::var(ABRUPT).is_ok() {
            println!("\n@@{said}");
            std::process::exit(0);
        }
        said
    });
    println!("\n@@{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_file_on_a_read_only_disk_is_refused_and_keeps_its_threads() {
    if read_only_after("$CHILD").is_none() {
        println!("skipped: no file system can be mounted here");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn so_is_one_that_its_last_process_did_not_close() {
    if read_only_after(&format!("{ABRUPT}=1 $CHILD")).is_none() {
        println!("skipped: no file system can be mounted here");
    }
}

/// Lets the disk become read-only after this child; `None` if no disk can be mounted here.
#[cfg(target_os = "linux")]
fn read_only_after(first: &str) -> Option<()> {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.join("small")).unwrap();
    let script = "unshare -rm sh -c '\
        mount -t tmpfs -o size=4m tmpfs small || { echo no mount; exit; }; \
        $FIRST; mount -o remount,ro small || { echo no mount; exit; }; \
        $CHILD; mount -o remount,rw small; $CHILD' || echo no mount";

    let file = Path::new("small/threads.db");
    let script = script.replace("$FIRST", first);
    let said = children_of("as_the_child_that_may_not_write", &script, (&folder, file))?;

    let error = said[1]["error"].as_str().unwrap_or_default();
    assert!(error.contains("small/threads.db"), "{said:?}");
    assert!(
        error.contains("readonly") || error.contains("unable to open"),
        "{said:?}"
    );
    assert_eq!([&said[0]["version"], &said[2]["version"]], [0, 1]);
    Some(())
}

#[test]
#[cfg(unix)]
fn a_run_whose_file_may_not_grow_fails_and_goes_on_once_it_may() {
    let folder = Folder::new();
    let script = "(trap '' XFSZ; ulimit -f 600; $CHILD); $CHILD";

    let said = children(script, &folder, &folder.file()).unwrap();

    check_children(
        &said,
        &folder,
        &["disk I/O error", "database or disk is full"],
    );
}

/// Lets a server say of its tables what it says of a full disk, as long as it is full.
const DISK: &str = "
    CREATE TABLE $SCHEMA.disk (is_full boolean NOT NULL);
    INSERT INTO $SCHEMA.disk VALUES (false);
    CREATE FUNCTION $SCHEMA.room() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT is_full FROM $SCHEMA.disk) THEN
            RAISE 'could not extend file: No space left on device' USING ERRCODE = '53100';
        END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER room AFTER INSERT ON $SCHEMA.agent_write
        FOR EACH ROW EXECUTE FUNCTION $SCHEMA.room();
    CREATE TRIGGER room AFTER INSERT ON $SCHEMA.agent_checkpoint
        FOR EACH ROW EXECUTE FUNCTION $SCHEMA.room();";

#[tokio::test]
async fn a_run_whose_server_has_no_room_at_each_call_goes_on_once_there_is_some() {
    let Some(server) = Server::new() else { return };
    let folder = Folder::new();
    let effects = folder.0.join(fresh("effects"));
    let saver = open(&format!("{}#{}", server.url, server.schema)).await;
    Statement::new(&server, DISK).say().await;
    let fills = Statement::new(&server, "UPDATE $SCHEMA.disk SET is_full = true");
    let clears = Statement::new(&server, "UPDATE $SCHEMA.disk SET is_full = false");
    let file = effects.clone();
    let agent = agent(
        saver,
        Effects {
            file,
            server: Some(fills),
        },
    );

    let mut failed = 0;
    let output = loop {
        match go_on(&agent).await {
            Ok(output) => break output,
            Err(error) => {
                assert!(refusal(&error).is_retryable(), "{}", chain(&error));
                let text = chain(&error);
                assert!(text.contains("No space left on device"), "{text}");
                failed += 1;
                assert!(failed <= CALLS, "it never ends: {text}");
                clears.say().await;
            }
        }
    };

    assert_eq!((failed, check(&results(&output), &effects)), (CALLS, CALLS));
    server.end().await;
}

// ---- two processes

/// The child that has a thread until it is killed; without a parent it does nothing.
#[test]
fn as_the_child_that_holds_a_thread() {
    let Ok(store) = std::env::var(HOLDS) else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let _lock = runtime.block_on(async { open(&store).await.lock("t").await.unwrap() });
    println!("\n@held");
    let mut never = String::new();
    std::io::stdin().read_line(&mut never).unwrap();
}

fn holder(store: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "faults::as_the_child_that_holds_a_thread",
            "--nocapture",
        ])
        .env(HOLDS, store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "@held"));
    child
}

/// While another process has the thread nothing is done; once it is killed, all of it.
async fn two_processes(store: &str) {
    let folder = Folder::new();
    let effects = folder.0.join("effects");
    // Opened first, so that the child finds the tables.
    let saver = open(store).await;
    let agent = agent(
        saver,
        Effects {
            file: effects.clone(),
            server: None,
        },
    );
    let mut child = holder(store);

    let refused = agent.run("Go").thread("t").await.unwrap_err();
    assert!(matches!(refusal(&refused), SaverError::Busy { thread } if thread == "t"));
    assert!(!effects.exists(), "nothing was done");
    child.kill().unwrap();
    child.wait().unwrap();
    let begun = Instant::now();
    let output = loop {
        match agent.run("Go").thread("t").await {
            // A server may see a moment later that a client is gone.
            Err(error) if begun.elapsed() < Duration::from_secs(30) => {
                assert!(matches!(refusal(&error), SaverError::Busy { .. }));
                tokio::task::yield_now().await;
            }
            ended => break ended.unwrap(),
        }
    };

    assert_eq!(check(&results(&output), &effects), 0);
}

#[tokio::test]
async fn a_thread_that_another_process_has_in_a_file_is_busy_until_it_dies() {
    let folder = Folder::new();

    two_processes(&folder.file().display().to_string()).await;
}

#[tokio::test]
async fn a_thread_that_another_process_has_on_a_server_is_busy_until_it_dies() {
    let Some(server) = Server::new() else { return };

    two_processes(&format!("{}#{}", server.url, server.schema)).await;

    server.end().await;
}

// ---- a lost connection

#[tokio::test]
async fn a_run_whose_server_hangs_up_at_each_call_comes_to_its_end() {
    let Some(server) = Server::new() else { return };
    let folder = Folder::new();
    let effects = folder.0.join(fresh("effects"));
    let saver = open(&format!("{}#{}", server.url, server.schema)).await;
    // Ends all connections that bear the name of this one.
    let hangs_up = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE application_name = current_setting('application_name') AND pid <> pg_backend_pid()";
    let agent = agent(
        saver,
        Effects {
            file: effects.clone(),
            server: Some(Statement::new(&server, hangs_up)),
        },
    );

    let mut failed = 0;
    let output = loop {
        match go_on(&agent).await {
            Ok(output) => break output,
            Err(error) => {
                assert!(refusal(&error).is_retryable(), "{}", chain(&error));
                failed += 1;
                assert!(failed <= 3 * CALLS, "it never ends: {}", chain(&error));
            }
        }
    };

    check(&results(&output), &effects);
    server.end().await;
}
