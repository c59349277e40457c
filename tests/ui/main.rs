//! What a mistake looks like: each file in `tool/` and `schema/` has one, and beside it the
//! compiler's words.

use std::fs;

#[test]
fn mistakes_in_tools_are_explained_where_they_are() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tool/*.rs");
}

#[test]
fn mistakes_in_types_are_explained_where_they_are() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("schema/*.rs");
}

/// `several-errors-at-once` has several mistakes in one file.
#[test]
fn no_mistake_is_told_more_than_twice() {
    let answers = ["tool", "schema"].into_iter().flat_map(|dir| {
        let entries = fs::read_dir(dir).expect("the directory is there");
        entries.map(|entry| entry.expect("an entry can be read").path())
    });
    let mut read = 0;
    let mut too_many = Vec::new();
    for path in answers.filter(|path| path.extension().is_some_and(|it| it == "stderr")) {
        let answer = fs::read_to_string(&path).expect("the answer can be read");
        let errors = answer.lines().filter(|line| is_error(line)).count();
        let name = path.display().to_string();
        if errors > 2 && !name.contains("several-errors-at-once") {
            too_many.push(format!("{name}: {errors}"));
        }
        read += 1;
    }
    assert!(read > 200, "only {read} answers were found");
    assert!(too_many.is_empty(), "more than two errors: {too_many:#?}");
}

fn is_error(line: &str) -> bool {
    line.starts_with("error:") || line.starts_with("error[")
}
