//! Where a name of the public surface is found: those of the root there and nowhere else.

use proc_macro2::{TokenStream, TokenTree};

use crate::assert_no_faults;
use crate::sources::{Source, is_punct, read, rust_files};

/// The names that a file makes public at its top level: its own items, and what it passes on.
fn public_names(source: &Source) -> Vec<String> {
    let mut names = Vec::new();
    let mut tokens = source.tokens().into_iter();
    while let Some(token) = tokens.next() {
        if !matches!(&token, TokenTree::Ident(ident) if ident == "pub") {
            continue;
        }
        // `pub(crate)` is followed by a group, which is no item.
        match tokens.next() {
            Some(TokenTree::Ident(kind)) if kind == "use" => {
                let path = tokens.by_ref().take_while(|token| !is_punct(token, ';'));
                last_names(path.collect(), &mut names);
            }
            Some(TokenTree::Ident(kind))
                if kind == "struct" || kind == "enum" || kind == "trait" =>
            {
                names.extend(tokens.next().map(|name| name.to_string()));
            }
            _ => {}
        }
    }
    names
}

/// The names at the ends of a path, several if it ends in braces.
fn last_names(path: TokenStream, names: &mut Vec<String>) {
    let mut last = None;
    for token in path {
        match token {
            TokenTree::Ident(ident) => last = Some(ident.to_string()),
            TokenTree::Group(group) => {
                last = None;
                last_names(group.stream(), names);
            }
            token if is_punct(&token, ',') => names.extend(last.take()),
            _ => {}
        }
    }
    names.extend(last);
}

/// Public modules of the library, as they stand in its root.
fn public_modules(root: &Source) -> Vec<String> {
    let tokens: Vec<TokenTree> = root.tokens().into_iter().collect();
    let public = tokens.windows(3).filter_map(|three| match three {
        [
            TokenTree::Ident(public),
            TokenTree::Ident(kind),
            TokenTree::Ident(name),
        ] if public == "pub" && kind == "mod" && name != "__private" => Some(name.to_string()),
        _ => None,
    });
    public.collect()
}

fn faults(root: &Source, modules: &[Source]) -> Vec<String> {
    let names = public_names(root);
    let mut faults = Vec::new();
    for module in public_modules(root) {
        let ends = [format!("/{module}.rs"), format!("/{module}/mod.rs")];
        let files = modules.iter();
        for file in files.filter(|file| ends.iter().any(|end| file.path.ends_with(end))) {
            let second = public_names(file);
            let second = second.iter().filter(|name| names.contains(name));
            faults.extend(second.map(|name| format!("{}: `{name}` is the root's", file.path)));
        }
    }
    faults
}

#[test]
fn a_name_of_the_root_is_not_in_a_module_too() {
    let root = Source::new("agent-core/src/lib.rs", &read("agent-core/src/lib.rs"));
    let names = public_names(&root);
    for name in ["ReactAgent", "ToolSchema", "Message", "ToolError", "tool"] {
        assert!(names.iter().any(|it| it == name), "{names:?}");
    }

    assert_no_faults(&faults(&root, &rust_files("agent-core/src")));
}

#[test]
fn a_second_path_is_found() {
    let root = Source::new(
        "a/src/lib.rs",
        "pub mod b; mod c; pub use b::{D, e::E}; pub use c::C;",
    );
    let modules = [
        Source::new(
            "a/src/b/mod.rs",
            "pub struct D; pub(crate) use e::E; pub use f::{G, H};",
        ),
        Source::new("a/src/c.rs", "pub struct C;"),
    ];

    assert_eq!(
        faults(&root, &modules),
        ["a/src/b/mod.rs: `D` is the root's"]
    );
}
