//! Runs a program for a tool, and lets nothing of it live longer than the call.

use std::io;
use std::process::{Output, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use super::ToolError;

/// Runs the command to its end and gives what it printed, at most `limit` bytes of each of its
/// two outputs; what is beyond is read and dropped.
///
/// The command reads no input. It runs in a process group of its own, which is killed when the
/// program ends, and when the future is dropped, as by a timeout and a cancellation: so ends also
/// what the program has started itself. (Not on Windows: there only the program is killed.) An exit code other than 0 is no
/// error; the output of the tool names it.
///
/// ```
/// use agent_core::tool::run_command;
/// use agent_core::{ToolError, tool};
/// use tokio::process::Command;
///
/// /// Counts the lines of a file.
/// #[tool(effect = "pure", timeout = "10s")]
/// async fn count_lines(path: &str) -> Result<std::process::Output, ToolError> {
///     let mut command = Command::new("wc");
///     command.arg("-l").arg("--").arg(path);
///     run_command(command, 64 * 1024).await
/// }
/// ```
///
/// # Errors
///
/// [`ToolError::failed`] if the program cannot be started or its output cannot be read.
pub async fn run_command(mut command: Command, limit: usize) -> Result<Output, ToolError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let program = command
        .as_std()
        .get_program()
        .to_string_lossy()
        .into_owned();
    let failed = |error: io::Error| {
        let text = format!("cannot run `{program}`: {error}");
        ToolError::failed(io::Error::new(error.kind(), text))
    };
    let mut group = Group(command.spawn().map_err(failed)?);
    let (stdout, stderr) = (group.0.stdout.take(), group.0.stderr.take());
    // Waited for last: who still writes may be a program that this one started.
    let read = tokio::try_join!(read(stdout, limit), read(stderr, limit));
    let (stdout, stderr) = read.map_err(failed)?;
    let id = group.id();
    let status = group.0.wait().await.map_err(failed)?;
    // At once: the group keeps its number as long as a program is in it, and if none is, nobody
    // else got the number since the first one was waited for.
    kill(id);
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

async fn read(from: Option<impl AsyncRead + Unpin>, limit: usize) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    if let Some(mut from) = from {
        let limit = u64::try_from(limit).unwrap_or(u64::MAX);
        (&mut from).take(limit).read_to_end(&mut kept).await?;
        // A program that cannot write any more would wait for ever.
        tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    }
    Ok(kept)
}

/// A program and everything it started.
struct Group(Child);

impl Group {
    /// The number of the group, until its first program was waited for.
    fn id(&self) -> Option<i32> {
        self.0.id().and_then(|id| i32::try_from(id).ok())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        kill(self.id());
    }
}

/// Kills every program of the group; there is none on Windows.
fn kill(group: Option<i32>) {
    #[cfg(unix)]
    if let Some(group) = group.and_then(rustix::process::Pid::from_raw) {
        // It fails if the group is gone already.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = group;
}
