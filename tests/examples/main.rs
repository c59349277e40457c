//! Runs every example as a user does and looks at what it prints.

use std::path::Path;
use std::process::{Command, Output};

fn example(name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut command = Command::new(env!("CARGO"));
    command
        .current_dir(root)
        .args(["run", "-q", "-p", "agent-examples", "--example", name, "--"])
        .args(arguments);
    for variable in ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"] {
        command.env_remove(variable);
    }
    command.envs(environment.iter().copied());
    command.output().unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn quickstart_shows_three_tools_side_by_side() {
    let text = printed(&example("quickstart", &[], &[]));

    for tool in ["weather", "stock", "news"] {
        assert!(
            text.matches(tool).count() >= 2,
            "no bar of {tool} in:\n{text}"
        );
    }
    assert!(text.contains("Take an umbrella"), "{text}");
    assert!(!text.contains('\u{1b}'), "colours off a terminal:\n{text}");
}

#[test]
fn quickstart_says_in_one_line_why_a_server_cannot_be_reached() {
    // Port 9 of the loopback address is not listened on.
    let output = example(
        "quickstart",
        &[],
        &[
            ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"),
            ("OPENAI_MODEL", "m"),
        ],
    );

    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    assert!(error.contains("127.0.0.1:9"), "{error}");
}

#[test]
fn quickstart_says_in_one_line_that_a_url_is_none() {
    let output = example(
        "quickstart",
        &[],
        &[("OPENAI_BASE_URL", "not a url"), ("OPENAI_MODEL", "m")],
    );

    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    assert!(error.contains("not a url"), "{error}");
}

#[test]
fn return_direct_asks_the_model_once_alone_and_twice_mixed() {
    let text = printed(&example("return_direct", &[], &[]));

    assert!(
        text.contains("answer         Invoice for order 7: 2 chairs, 118.00"),
        "{text}"
    );
    assert!(
        text.contains("model calls    1") && text.contains("model calls    2"),
        "{text}"
    );
}

#[test]
fn timeout_cancel_stops_both_tools_and_runs_the_clean_up() {
    let text = printed(&example("timeout_cancel", &[], &[]));

    assert!(text.contains("async: dropped at its await"), "{text}");
    assert!(text.contains("blocking: clean-up callback ran"), "{text}");
    assert!(
        text.contains("blocking: saw its token after step"),
        "{text}"
    );
    assert!(!text.contains("step 5"), "{text}");
}
