//! Runs every example as a user does and looks at what it prints.
#![expect(clippy::unwrap_used, reason = "a helper that fails fails its test")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;

use agent_tests::replay::{Answer, ReplayServer};

fn example(name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    command(name, arguments, environment).output().unwrap()
}

/// Runs an example for a person who types this.
fn typed(name: &str, text: &str) -> Output {
    let mut command = command(name, &[], &[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    child.wait_with_output().unwrap()
}

/// Where the examples are, built once, and by the command that has built this test: by any other
/// what they use would be built anew, with other features.
static EXAMPLES: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut build = Command::new(env!("CARGO"));
    build.current_dir(root);
    build.args(["test", "-q", "--workspace", "--no-run"]);
    build.args((!cfg!(debug_assertions)).then_some("--release"));
    let output = build.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(2).unwrap().join("examples")
});

fn command(name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(EXAMPLES.join(name));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    command.current_dir(root).args(arguments);
    for variable in ["OPENAI_BASE_URL", "OPENAI_MODEL", "OPENAI_API_KEY"] {
        command.env_remove(variable);
    }
    command.envs(environment.iter().copied());
    command
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The first and the last column of each bar, in the order of the timeline.
fn bars(text: &str) -> Vec<(&str, usize, usize)> {
    let lines = text.lines().filter(|line| line.contains('█'));
    lines
        .map(|line| {
            let columns: Vec<usize> = line
                .chars()
                .enumerate()
                .filter_map(|(column, character)| (character == '█').then_some(column))
                .collect();
            let name = line.split(' ').next().unwrap();
            (name, columns[0], columns[columns.len() - 1])
        })
        .collect()
}

/// The places of these texts in what was printed, which has each of them.
fn places<const N: usize>(text: &str, parts: [&str; N]) -> [usize; N] {
    parts.map(|part| {
        let place = text.find(part);
        place.unwrap_or_else(|| panic!("no `{part}` in:\n{text}"))
    })
}

#[test]
fn quickstart_shows_three_tools_side_by_side() {
    let text = printed(&example("quickstart", &[], &[]));

    let order = places(
        &text,
        [
            "Let me look at all three.",
            "→ news {\"topic\":\"trains\"}",
            "✓ weather in 2.",
            "s: Oslo: 4 °C and light rain",
            "✓ stock in ",
            "✓ news in ",
            "Take an umbrella",
            "weather  █",
        ],
    );
    assert!(order.is_sorted(), "{text}");
    let bars = bars(&text);
    let names: Vec<&str> = bars.iter().map(|(name, ..)| *name).collect();
    assert_eq!(names, ["weather", "stock", "news"], "{text}");
    // All ran at some moment: the last start is before the first end.
    let last_start = bars.iter().map(|(_, start, _)| start).max();
    let first_end = bars.iter().map(|(.., end)| end).min();
    assert!(last_start < first_end, "{text}");
    assert!(text.contains("built-in model"), "{text}");
    assert!(text.contains("Take an umbrella"), "{text}");
    assert!(!text.contains('\u{1b}'), "colours off a terminal:\n{text}");
}

#[test]
fn quickstart_tells_of_a_tool_while_it_runs() {
    let mut command = command("quickstart", &[], &[]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();

    let started = lines.any(|line| line.unwrap().contains("→ news"));
    child.kill().unwrap();
    child.wait().unwrap();
    let rest: Vec<String> = lines.map_while(Result::ok).collect();

    // Had it been held back until the end, more would stand in the pipe.
    assert!(
        started && !rest.iter().any(|line| line.contains('✓')),
        "{rest:?}"
    );
}

/// Runs an example on a terminal of its own, by the tool that every Linux has for it.
#[cfg(target_os = "linux")]
#[test]
fn quickstart_has_colours_and_a_spinner_on_a_terminal() {
    let mut plain = command("quickstart", &[], &[("TERM", "xterm")]);
    plain.env_remove("NO_COLOR");
    let mut terminal = Command::new("script");
    terminal.args(["-qec", plain.get_program().to_str().unwrap(), "/dev/null"]);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => terminal.env(name, value),
            None => terminal.env_remove(name),
        };
    }

    let text = printed(&terminal.stdin(Stdio::null()).output().unwrap());

    assert!(text.contains("\u{1b}[32m✓\u{1b}[0m weather"), "{text}");
    assert!(
        text.contains("⠋") && text.contains("weather, stock, news"),
        "{text}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn quickstart_asks_the_server_that_the_environment_names() {
    let delta = |delta: &str, end: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{end}}}]}}\n\n"
        )
    };
    let call = r#"{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Bergen\"}"}}]}"#;
    let answers = [
        delta(call, "null") + &delta("{}", "\"tool_calls\""),
        delta(r#"{"content":"It rains "}"#, "null")
            + &delta(r#"{"content":"in Bergen."}"#, "\"stop\""),
    ];
    let done = |events: String| Answer::events(events + "data: [DONE]\n\n").cut(7);
    let server = ReplayServer::start(answers.map(done)).await;
    let environment = [
        ("OPENAI_BASE_URL", &*server.url()),
        ("OPENAI_MODEL", "bergen-1"),
        ("OPENAI_API_KEY", "sk-not-to-be-seen"),
    ]
    .map(|(name, value)| (name, value.to_owned()));

    let run = move || {
        let environment = environment
            .each_ref()
            .map(|(name, value)| (*name, &**value));
        example("quickstart", &[], &environment)
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();

    let text = printed(&output);
    let order = [
        "→ weather {\"city\":\"Bergen\"}",
        "✓ weather",
        "It rains in Bergen.",
    ];
    assert!(places(&text, order).is_sorted(), "{text}");
    assert!(!text.contains("built-in model"), "{text}");
    assert!(!text.contains("sk-not-to-be-seen"), "{text}");
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert_eq!(request.target, "POST /v1/chat/completions");
        assert_eq!(request.header("authorization"), "Bearer sk-not-to-be-seen");
        assert!(request.text().contains(r#""model":"bergen-1""#));
    }
}

#[test]
fn quickstart_with_a_key_alone_runs_the_built_in_model_and_says_so() {
    let text = printed(&example("quickstart", &[], &[("OPENAI_API_KEY", "k")]));

    assert!(text.contains("OPENAI_MODEL is not set"), "{text}");
    assert!(text.contains("Take an umbrella"), "{text}");
}

#[test]
fn quickstart_shows_serial_tools_one_after_another() {
    let text = printed(&example("quickstart", &["--serial"], &[]));

    let bars = bars(&text);
    assert_eq!(bars.len(), 3, "{text}");
    for pair in bars.windows(2) {
        assert!(pair[0].2 <= pair[1].1, "{text}");
    }
}

/// Runs quickstart with a server that fails it, and gives its one line.
fn failure_of_quickstart(base_url: &str) -> String {
    let environment = [
        ("OPENAI_BASE_URL", base_url),
        ("OPENAI_MODEL", "m"),
        ("OPENAI_API_KEY", "sk-not-to-be-seen"),
    ];
    let output = example("quickstart", &[], &environment);

    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    assert!(!error.contains("sk-not-to-be-seen"), "{error}");
    error
}

#[test]
fn quickstart_says_in_one_line_why_a_server_cannot_be_reached() {
    // Port 9 of the loopback address is not listened on.
    let error = failure_of_quickstart("http://127.0.0.1:9/v1");

    assert!(error.contains("cannot connect"), "{error}");
    assert!(error.contains("127.0.0.1:9"), "{error}");
}

#[test]
fn quickstart_says_in_one_line_that_a_url_is_none() {
    let error = failure_of_quickstart("not a url");

    assert!(error.contains("not a url"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn quickstart_says_in_one_line_that_a_url_leads_nowhere() {
    let missing = Answer::status(404)
        .header("content-type", "text/plain")
        .piece("404 page not found\n");
    let server = ReplayServer::start([missing]).await;

    let error = failure_of_quickstart(&server.url());

    assert!(error.contains("404"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn quickstart_says_in_one_line_that_a_key_is_refused() {
    let refusal = Answer::status(401)
        .header("content-type", "application/json")
        .piece(r#"{"error":{"message":"Incorrect API key provided"}}"#);
    let server = ReplayServer::start([refusal]).await;

    let error = failure_of_quickstart(&server.url());

    assert!(error.contains("401"), "{error}");
    assert!(error.contains("Incorrect API key provided"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn quickstart_says_in_one_line_that_a_web_page_is_no_answer() {
    let page = Answer::status(200)
        .header("content-type", "text/html")
        .piece("<!doctype html>\n<html>\n<body>Please log in</body>\n</html>\n");
    let server = ReplayServer::start([page]).await;

    let error = failure_of_quickstart(&server.url());

    assert!(error.contains("HTML page"), "{error}");
}

#[test]
fn quickstart_says_what_it_does_not_understand() {
    let output = example("quickstart", &["--fast"], &[]);

    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error, "error: unknown argument `--fast`; try `--serial`\n");
}

#[test]
fn return_direct_asks_the_model_once_alone_and_twice_mixed() {
    let text = printed(&example("return_direct", &[], &[]));

    assert_eq!(
        text,
        "alone:\n\
        \x20 answer         Invoice for order 7: 2 chairs, 118.00\n\
        \x20 finish reason  return_direct\n\
        \x20 model calls    1\n\
        mixed:\n\
        \x20 answer         The invoice is 118.00; the parcel is in Bergen.\n\
        \x20 finish reason  stop\n\
        \x20 model calls    2\n"
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
    let told = "the model reads: Error: timed out after 1 s";
    assert_eq!(text.matches(told).count(), 2, "{text}");
}

#[tokio::test]
async fn bench_client_counts_its_runs() {
    let answer = || Answer::json(r#"{"choices":[{"message":{"content":"ok"}}]}"#);
    let server = ReplayServer::start((0..4).map(|_| answer())).await;
    let url = server.url();

    let run = move || {
        let environment = [
            ("BASE_URL", &*url),
            ("MODEL", "m"),
            ("SESSIONS", "2"),
            ("RUNS", "2"),
        ];
        example("bench_client", &[], &environment)
    };
    let output = tokio::task::spawn_blocking(run).await.unwrap();

    let line: serde_json::Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!((&line["runs"], &line["text_bytes"]), (&4.into(), &8.into()));
    assert!(line["error"].is_null());
}

#[test]
fn approval_runs_what_a_person_allows() {
    for (answer, runs, result) in [
        ("y\n", "(pay runs: 100 to Ada)", "pay: paid 100 to Ada"),
        ("40\n", "(pay runs: 40 to Ada)", "pay: paid 40 to Ada"),
        ("n\n", "", "pay: Error: denied: the user said no"),
    ] {
        let text = printed(&typed("approval", answer));

        // What needs no approval runs once, before the question.
        let (before, after) = text.split_once("Run pay with").unwrap();
        assert!(before.contains("(balance runs)"), "{text}");
        assert!(!after.contains("(balance runs)"), "{text}");
        assert_eq!(text.contains("(pay runs"), !runs.is_empty(), "{text}");
        assert!(text.contains(runs) && text.contains(result), "{text}");
    }
}

#[test]
fn branches_join_in_the_order_of_their_edges() {
    let text = printed(&example("branches", &[], &[]));

    assert!(
        text.starts_with("6 vowels\nthe longest word has 5 letters\n"),
        "{text}"
    );
    assert!(text.contains("flowchart TD"), "{text}");
}

#[test]
fn remember_knows_in_its_second_life_what_was_said_in_the_first() {
    let folder = std::env::temp_dir().join(format!("agent_remember_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("remember.db");
    let environment = [("REMEMBER_FILE", file.to_str().unwrap())];
    let says = |text: &str| {
        let mut command = command("remember", &[text], &environment);
        printed(&command.output().unwrap())
    };

    let first = says("My name is Ada.");
    let second = says("What is my name?");

    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(first.lines().count(), 3, "{first}");
    let lines: Vec<&str> = second.lines().take(4).collect();
    assert_eq!(
        lines,
        [
            "User: My name is Ada.",
            "Assistant: You are Ada.",
            "User: What is my name?",
            "Assistant: You are Ada.",
        ]
    );
}

#[test]
fn remember_tells_a_bad_file_and_why_on_one_line() {
    let file = std::env::temp_dir().join(format!("agent_remember_{}.txt", std::process::id()));
    std::fs::write(&file, "a letter, and no database").unwrap();
    let name = file.to_str().unwrap();

    let output = command("remember", &[], &[("REMEMBER_FILE", name)]).output();

    let output = output.unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        text.starts_with(&format!("error: the store `{name}` cannot be opened: ")),
        "{text}"
    );
    assert!(
        text.contains("not a database") && text.lines().count() == 1,
        "{text}"
    );
}

#[test]
fn structured_output_gives_a_value_after_the_tool() {
    let text = printed(&example("structured_output", &[], &[]));

    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("forecast  Oslo"), "{text}");
    assert!(text.contains("so far    1 things"), "{text}");
    assert!(text.contains("umbrella  yes"), "{text}");
    assert!(
        text.contains("things    rain coat, warm jumper, good shoes"),
        "{text}"
    );
}

#[test]
fn a_program_without_a_form_and_without_schemas_of_its_run_time_carries_no_validator() {
    let carries = |name: &str| {
        let program = std::fs::read(EXAMPLES.join(name)).unwrap();
        // As the names of functions are written, whichever way.
        let symbol = b"10jsonschema";
        program.windows(symbol.len()).any(|part| part == symbol)
    };
    assert!(carries("structured_output"));
    assert!(!carries("bench_client"));
}
