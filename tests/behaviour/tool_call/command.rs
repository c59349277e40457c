//! Programs that tools run.
#![cfg(unix)]

use std::time::Duration;

use agent_core::graph::CancellationToken;
use agent_core::tool::{ToolErrorKind, run_command};
use agent_core::{Outcome, ToolError};
use agent_tests::runs::result_texts;
use agent_tests::tools::{ClosureTool, tool};
use tokio::process::Command;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::{agent, model, pairs};

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(script);
    command
}

#[tokio::test]
async fn a_program_gives_what_it_prints_and_its_exit_code() {
    let runs = tool("runs", (), async |(), _, _| {
        run_command(shell("echo out; echo problem >&2; exit 3"), 1024).await
    });

    let run = agent(&model(&["runs"]), runs)
        .build()
        .unwrap()
        .run("Go")
        .await;

    let text = &result_texts(run.unwrap().messages())[0].1;
    for part in ["out", "problem", "3"] {
        assert!(text.contains(part), "{text}");
    }
}

#[tokio::test]
async fn what_is_beyond_the_limit_is_read_and_dropped() {
    let output = run_command(shell("head -c 1000000 /dev/zero; echo end >&2"), 1000).await;

    let output = output.unwrap();
    assert_eq!(output.stdout.len(), 1000);
    assert_eq!(output.stderr, b"end\n");
    assert!(output.status.success());
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error_that_names_it() {
    let error = run_command(Command::new("no-such-program"), 1024).await;

    let error = error.unwrap_err();
    assert_eq!(error.kind(), ToolErrorKind::Failed);
    assert!(error.to_string().contains("`no-such-program`"), "{error}");
}

// C4
#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_program_leaves_running_ends_with_it() {
    let script = "sleep 1000 >/dev/null 2>&1 & echo $!";

    let output = run_command(shell(script), 1024).await.unwrap();

    let id: i32 = String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    assert!(output.status.success());
    tokio::time::timeout(Duration::from_secs(20), gone([id, id]))
        .await
        .unwrap();
}

/// A tool that tells the ids of its program and of what that has started, which never end.
fn never_ends(told: UnboundedSender<i32>) -> ClosureTool {
    let file = std::env::temp_dir().join(format!("agent-tests-{}", std::process::id()));
    tool("never_ends", (told, file), async |(told, file), _, _| {
        let script = format!(
            "sleep 1000 & echo $$ $! > {file}.new; mv {file}.new {file}; wait",
            file = file.display()
        );
        let watch = async {
            loop {
                if let Ok(ids) = std::fs::read_to_string(&file) {
                    std::fs::remove_file(&file).unwrap();
                    ids.split_whitespace()
                        .for_each(|id| told.send(id.parse().unwrap()).unwrap());
                    std::future::pending::<()>().await;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            output = run_command(shell(&script), 1024) => output,
            () = watch => Err(ToolError::cancelled()),
        }
    })
}

/// Waits until none of the processes runs; a zombie does not.
async fn gone(ids: [i32; 2]) {
    for id in ids {
        let runs = || {
            let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
            stat.is_ok_and(|stat| !stat.rsplit(") ").next().unwrap().starts_with('Z'))
        };
        while runs() {
            tokio::task::yield_now().await;
        }
    }
}

// C4
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_cancelled_call_kills_its_program_and_what_that_started() {
    let (told, mut ids) = unbounded_channel();
    let agent = agent(&model(&["never_ends"]), never_ends(told))
        .build()
        .unwrap();
    let token = CancellationToken::new();
    let cancel = async {
        let first = ids.recv().await.unwrap();
        let second = ids.recv().await.unwrap();
        token.cancel();
        [first, second]
    };

    let run = agent.run("Go").cancel_token(token.clone());
    let (run, ids) = tokio::join!(run.into_future(), cancel);

    assert_eq!(run.unwrap().outcome(), &Outcome::Cancelled);
    tokio::time::timeout(Duration::from_secs(20), gone(ids))
        .await
        .unwrap();
}

// C2
#[tokio::test]
async fn a_program_that_takes_too_long_is_over_with_its_call() {
    let runs = tool("runs", (), async |(), _, _| {
        run_command(shell("sleep 1000 & exit 0"), 1024).await
    });
    let runs = runs.timeout(Duration::from_millis(50));

    let run = agent(&model(&["runs"]), runs)
        .build()
        .unwrap()
        .run("Go")
        .await;

    let text = "Error: timed out after 50 ms";
    assert_eq!(
        result_texts(run.unwrap().messages()),
        pairs(&[("c1", text)])
    );
}
