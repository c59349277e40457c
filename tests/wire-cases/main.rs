//! `cargo run -q -p agent-tests --bin wire-cases -- DIR`: runs every wire case in `DIR`.
//!
//! One line for each file that holds no wire case, one for each failure, then `N passed, M failed`; the
//! exit code is 1 if any failed.
#![expect(clippy::print_stdout, reason = "a program that reports")]

use std::path::PathBuf;
use std::process::ExitCode;

use agent_tests::wire;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder] = &arguments[..] else {
        println!("usage: wire-cases DIR");
        return ExitCode::from(2);
    };
    let found = match wire::folder(folder) {
        Ok(found) => found,
        Err(error) => {
            println!("{}: {error}", folder.display());
            return ExitCode::from(2);
        }
    };
    for (name, why) in found.passed_over {
        println!("{name}: passed over: {why}");
    }
    let (mut passed, mut failed) = (0, 0);
    for (name, case) in found.cases {
        let faults = wire::faults(&case).await;
        match faults.first() {
            None => passed += 1,
            Some(first) => {
                failed += 1;
                let more = faults.len() - 1;
                println!("{name}: {first} ({more} more)");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    ExitCode::from(u8::from(failed > 0))
}
