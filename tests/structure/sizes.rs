//! How long a file may be, its tests not counted.

use crate::assert_no_faults;
use crate::sources::{Source, rust_files, split_tests};

const LIMIT: usize = 500;
const MEDIAN_LIMIT: usize = 150;

/// Files that may be longer, each with the reason why it is still one question.
const EXEMPT: &[(&str, &str)] = &[];

/// Lines of a file without its `#[cfg(test)]` items.
fn lines(source: &Source) -> usize {
    let (_, tests) = split_tests(source.tokens());
    let mut counted = vec![true; source.text.lines().count()];
    for token in tests {
        let span = token.span();
        for line in span.start().line..=span.end().line {
            counted[line - 1] = false;
        }
    }
    counted.into_iter().filter(|counted| *counted).count()
}

fn faults(sources: &[Source], exempt: &[(&str, &str)]) -> Vec<String> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test()) {
        let lines = lines(source);
        let is_exempt = exempt.iter().any(|(path, _)| *path == source.path);
        if lines > LIMIT && !is_exempt {
            faults.push(format!(
                "{}: {lines} lines without tests, more than {LIMIT}",
                source.path
            ));
        }
        if lines <= LIMIT && is_exempt {
            faults.push(format!("{}: needs no exemption any more", source.path));
        }
    }
    for (path, _) in exempt {
        if !sources.iter().any(|source| source.path == *path) {
            faults.push(format!("{path}: exempt, but not there"));
        }
    }
    faults
}

fn median(sources: &[Source]) -> usize {
    let mut sizes: Vec<usize> = sources
        .iter()
        .filter(|source| !source.is_test())
        .map(lines)
        .collect();
    sizes.sort_unstable();
    sizes[sizes.len() / 2]
}

#[test]
fn no_file_is_longer_than_the_limit() {
    let mut sources = rust_files("agent-core/src");
    sources.extend(rust_files("agent-macros/src"));
    sources.extend(rust_files("agent-store/src"));
    sources.extend(rust_files("examples"));

    assert_no_faults(&faults(&sources, EXEMPT));
}

#[test]
fn half_of_the_files_are_short() {
    let median = median(&rust_files("agent-core/src"));

    println!("median of agent-core: {median} lines");
    assert!(median <= MEDIAN_LIMIT, "{median} lines");
}

#[test]
fn a_long_file_is_a_fault_unless_it_is_exempt() {
    let long = [Source::new("a/src/long.rs", &"fn f() {}\n".repeat(501))];
    let short = [Source::new("a/src/long.rs", "fn f() {}\n")];
    let exempt = [("a/src/long.rs", "one table")];

    assert_eq!(
        faults(&long, &[]),
        ["a/src/long.rs: 501 lines without tests, more than 500"]
    );
    assert_no_faults(&faults(&long, &exempt));
    assert_eq!(faults(&short, &exempt).len(), 1);
    assert_eq!(faults(&[], &exempt).len(), 1);
}

#[test]
fn tests_do_not_count() {
    let tests = "#[test] fn t() {}\n".repeat(600);
    let inline = format!("fn f() {{}}\n\n#[cfg(test)]\nmod tests {{\n{tests}}}\n");
    let sources = [
        Source::new("a/src/short.rs", &inline),
        Source::new("a/src/short/tests.rs", &tests),
    ];

    assert_eq!(lines(&sources[0]), 2);
    assert_no_faults(&faults(&sources, &[]));
}
