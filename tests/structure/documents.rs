//! README, ARCHITECTURE and the crate docs name what there is.

use crate::assert_no_faults;
use crate::sources::{read, root, rust_files};

/// Names of the table `[features]` of a manifest, `default` aside.
fn features(manifest: &str) -> Vec<&str> {
    let lines = manifest.lines().skip_while(|line| *line != "[features]");
    lines
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('=').map(|(name, _)| name.trim()))
        .filter(|name| *name != "default")
        .collect()
}

/// Which of `names` do not stand in `text` between backticks.
fn missing(names: &[&str], text: &str, place: &str) -> Vec<String> {
    names
        .iter()
        .filter(|name| !text.contains(&format!("`{name}`")))
        .map(|name| format!("{place} does not name `{name}`"))
        .collect()
}

fn crate_docs(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.strip_prefix("//!"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Targets of the links in a document that lead into the project.
fn local_links(document: &str) -> Vec<&str> {
    document
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split([')', '#']).next())
        .filter(|target| !target.is_empty() && !target.contains("://"))
        .collect()
}

fn example_names() -> Vec<String> {
    let mut names: Vec<String> = rust_files("examples")
        .iter()
        .filter_map(|source| {
            let name = source.path.strip_prefix("examples/")?.strip_suffix(".rs")?;
            (name != "lib" && !name.contains('/')).then(|| name.to_owned())
        })
        .collect();
    names.sort();
    names
}

#[test]
fn every_feature_is_named_in_the_crate_docs_and_the_readme() {
    let manifest = read("agent-core/Cargo.toml");
    let features = features(&manifest);
    assert!(features.len() >= 2, "{features:?}");

    let docs = crate_docs(&read("agent-core/src/lib.rs"));
    let mut faults = missing(&features, &docs, "agent-core/src/lib.rs");
    faults.extend(missing(&features, &read("README.md"), "README.md"));

    assert_no_faults(&faults);
}

#[test]
fn every_example_is_named_in_the_readme_and_run_by_a_test() {
    let readme = read("README.md");
    let tests = read("tests/examples/main.rs");

    let mut faults = Vec::new();
    for name in example_names() {
        if !readme.contains(&format!("examples/{name}.rs")) {
            faults.push(format!("README.md does not name examples/{name}.rs"));
        }
        if !tests.contains(&format!("\"{name}\"")) {
            faults.push(format!("tests/examples/main.rs does not run `{name}`"));
        }
    }

    assert_no_faults(&faults);
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    let mut faults = Vec::new();
    for document in ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"] {
        for link in local_links(&read(document)) {
            if !root().join(link).exists() {
                faults.push(format!("{document} links to {link}, which is not there"));
            }
        }
    }

    assert_no_faults(&faults);
}

#[test]
fn the_architecture_is_short_and_names_every_folder_of_the_core() {
    let architecture = read("ARCHITECTURE.md");
    let lines = architecture.lines().count();
    assert!(lines <= 150, "{lines} lines");

    let mut faults = Vec::new();
    for source in rust_files("agent-core/src") {
        let path = source.path.trim_start_matches("agent-core/src/");
        let name = match path.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/"),
            None => path.to_owned(),
        };
        if !source.is_test() && !architecture.contains(&name) {
            faults.push(format!("ARCHITECTURE.md does not name {name}"));
        }
    }
    faults.dedup();

    assert_no_faults(&faults);
}

#[test]
fn the_readme_and_the_gate_run_the_same_tests() {
    let readme = read("README.md");
    let (_, after) = readme.split_once("<!-- the test command -->").unwrap();
    let command = after.trim_start().lines().nth(1).unwrap();

    assert!(command.starts_with("cargo test"), "{command}");
    assert!(
        read("check").contains(command),
        "check does not run `{command}`"
    );
}

#[test]
fn the_first_command_of_the_readme_is_the_first_example() {
    let readme = read("README.md");
    let (_, after) = readme.split_once("```sh\n").unwrap();

    assert_eq!(
        after.lines().next(),
        Some("cargo run -q -p agent-examples --example quickstart")
    );
}

#[test]
fn a_name_that_is_missing_is_found() {
    let manifest = "[package]\nname = \"x\"\n[features]\ndefault = [\"a\"]\n## A.\na = []\nb-c = []\n\n[lib]\nd = 1\n";

    let features = features(manifest);

    assert_eq!(features, ["a", "b-c"]);
    assert_eq!(
        missing(&features, "has `a` and b-c", "README.md"),
        ["README.md does not name `b-c`"]
    );
}

#[test]
fn a_link_into_the_project_is_told_from_one_to_the_outside() {
    let document = "[a](check) [b](https://example.org/x) [c](docs/a.svg#x) [d](#top)";

    assert_eq!(local_links(document), ["check", "docs/a.svg"]);
}
