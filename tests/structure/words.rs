//! Words that may not stand in the code: stubs, left-over prints, tests that do not run.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::assert_no_faults;
use crate::sources::{Source, is_group, is_punct, read, rust_files};

const MACROS: [&str; 3] = ["dbg", "todo", "unimplemented"];

fn faults(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    search(source.tokens(), &mut found);
    for (index, line) in source.text.lines().enumerate() {
        let line = line.trim_start();
        let is_doc = line.starts_with("///") || line.starts_with("//!");
        let fence = line.trim_start_matches(['/', '!', ' ']).strip_prefix("```");
        if is_doc && fence.is_some_and(|language| language.contains("ignore")) {
            found.push((index + 1, "a doc example that is not compiled".to_owned()));
        }
    }
    found
        .into_iter()
        .map(|(line, what)| format!("{}:{line}: {what}", source.path))
        .collect()
}

fn search(tokens: TokenStream, found: &mut Vec<(usize, String)>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, pair) in tokens.windows(2).enumerate() {
        let line = pair[0].span().start().line;
        if let TokenTree::Ident(ident) = &pair[0]
            && MACROS.iter().any(|name| ident == name)
            && is_punct(&pair[1], '!')
            && matches!(tokens.get(at + 2), Some(TokenTree::Group(_)))
        {
            found.push((line, format!("`{ident}!`")));
        }
        if is_punct(&pair[0], '#') && is_group(&pair[1], Delimiter::Bracket) {
            let attribute = pair[1].to_string();
            let words = attribute.split(|c: char| !c.is_alphanumeric() && c != '_');
            let mut words = words.filter(|word| !word.is_empty());
            let is_ignore = match words.next() {
                Some("ignore") => true,
                Some("cfg_attr") => words.any(|word| word == "ignore"),
                _ => false,
            };
            if is_ignore {
                found.push((line, "`#[ignore]`".to_owned()));
            }
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            search(group.stream(), found);
        }
    }
}

#[test]
fn the_code_holds_no_stub_and_no_ignored_test() {
    let folders = [
        "agent-core",
        "agent-macros",
        "agent-store",
        "examples",
        "tests",
    ];
    let sources = folders.iter().flat_map(|folder| rust_files(folder));

    assert_no_faults(
        &sources
            .flat_map(|source| faults(&source))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn every_example_of_the_macros_is_compiled() {
    for name in ["derive", "tool"] {
        let text = read(&format!("agent-core/src/docs/{name}.md"));
        let fences = text.lines().filter_map(|line| line.strip_prefix("```"));
        let languages: Vec<&str> = fences.step_by(2).collect();

        assert!(!languages.is_empty(), "{name}");
        assert!(
            languages.iter().all(|it| *it == "rust"),
            "{name}: {languages:?}"
        );
    }
}

#[test]
fn each_banned_word_is_found_where_it_stands() {
    let text = "fn f() { dbg!(1); }\nfn g() { todo!() }\n#[test]\n#[ignore = \"slow\"]\nfn t() {}\n\
        #[cfg_attr(miri, ignore)]\nfn u() { unimplemented!() }\n/// ```ignore\n/// x\n/// ```\nfn v() {}";

    let mut found = faults(&Source::new("x.rs", text));
    found.sort();

    assert_eq!(
        found,
        [
            "x.rs:1: `dbg!`",
            "x.rs:2: `todo!`",
            "x.rs:4: `#[ignore]`",
            "x.rs:6: `#[ignore]`",
            "x.rs:7: `unimplemented!`",
            "x.rs:8: a doc example that is not compiled",
        ]
    );
}

#[test]
fn the_words_in_strings_comments_and_other_names_are_fine() {
    let text = "// todo!()\nconst A: &str = \"dbg!(x)\";\nfn ignore(todo: u8) -> bool { todo != 1 }\n\
        #[doc = \"ignore\"]\nfn f() {}";

    assert_no_faults(&faults(&Source::new("x.rs", text)));
}
