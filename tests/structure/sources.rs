//! The project's files, and Rust text as tokens without its tests.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A file of the project.
pub(crate) struct Source {
    /// From the project's root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    /// All tokens; doc comments come as literals, comments not at all.
    pub(crate) fn tokens(&self) -> TokenStream {
        self.text
            .parse()
            .unwrap_or_else(|error| panic!("{}: {error}", self.path))
    }

    /// True if the whole file is a `#[cfg(test)]` module.
    pub(crate) fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }
}

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Rust file below a folder of the project, sorted by path.
pub(crate) fn rust_files(folder: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(root().join(&folder)).unwrap_or_else(|error| panic!("{folder}: {error}"));
        for entry in entries {
            let entry = entry.expect("a folder of the project can be listed");
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if root().join(&path).is_dir() {
                if !path.ends_with("/target") {
                    folders.push(path);
                }
            } else if path.ends_with(".rs") {
                sources.push(Source::new(&path, &read(&path)));
            }
        }
    }
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(!sources.is_empty(), "{folder} holds no Rust file");
    sources
}

/// Tokens split in those that ship and those of `#[cfg(test)]` items, on one level.
pub(crate) fn split_tests(tokens: TokenStream) -> (Vec<TokenTree>, Vec<TokenTree>) {
    let mut shipped = Vec::new();
    let mut tests = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_test = is_punct(&token, '#') && tokens.peek().is_some_and(is_cfg_test);
        if !is_test {
            shipped.push(token);
            continue;
        }
        tests.push(token);
        for token in tokens.by_ref() {
            let ends = is_punct(&token, ';') || is_group(&token, Delimiter::Brace);
            tests.push(token);
            if ends {
                break;
            }
        }
    }
    (shipped, tests)
}

fn is_cfg_test(token: &TokenTree) -> bool {
    is_group(token, Delimiter::Bracket)
        && token.to_string().replace([' ', '\n'], "") == "[cfg(test)]"
}

pub(crate) fn is_group(token: &TokenTree, delimiter: Delimiter) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == delimiter)
}

pub(crate) fn is_punct(token: &TokenTree, punct: char) -> bool {
    matches!(token, TokenTree::Punct(found) if found.as_char() == punct)
}

#[test]
fn an_item_for_tests_is_split_off_whole() {
    let source = Source::new(
        "x.rs",
        "fn a() {} #[cfg(test)] mod tests { fn b() {} } fn c() {} #[cfg(test)] mod d; fn e() {}",
    );

    let (shipped, tests) = split_tests(source.tokens());

    let shipped: TokenStream = shipped.into_iter().collect();
    let tests: TokenStream = tests.into_iter().collect();
    assert_eq!(shipped.to_string(), "fn a () { } fn c () { } fn e () { }");
    assert!(tests.to_string().contains("fn b"), "{tests}");
}
