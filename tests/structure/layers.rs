//! Which module of agent-core may use which: the table of `ARCHITECTURE.md`, held by a test.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::assert_no_faults;
use crate::sources::{Source, is_punct, read, rust_files, split_tests};

/// The rows of the table: a module and the paths it may use, its own aside.
struct Layers(Vec<(String, Vec<Vec<String>>)>);

impl Layers {
    /// Reads the table after the marker: `` | `module` | `a`, `b::Item` | ``. "All above" means
    /// every module with a row above.
    fn parse(document: &str) -> Self {
        let (_, after) = document
            .split_once("<!-- layers -->")
            .expect("ARCHITECTURE.md marks its table of layers");
        let mut rows: Vec<(String, Vec<Vec<String>>)> = Vec::new();
        let table = after.trim_start().lines();
        for line in table.take_while(|line| line.starts_with('|')).skip(2) {
            let mut cells = line.trim_matches('|').split('|');
            let [Some(module), Some(uses)] = [cells.next(), cells.next()] else {
                panic!("a row of the layers has two cells: {line}");
            };
            let mut allowed: Vec<Vec<String>> = code_words(uses)
                .map(|path| path.split("::").map(str::to_owned).collect())
                .collect();
            if uses.contains("all above") {
                allowed.extend(rows.iter().map(|(module, _)| vec![module.clone()]));
            }
            for module in code_words(module) {
                rows.push((module.to_owned(), allowed.clone()));
            }
        }
        Self(rows)
    }

    fn allowed(&self, module: &str) -> Option<&[Vec<String>]> {
        let row = self.0.iter().find(|(name, _)| name == module);
        row.map(|(_, allowed)| allowed.as_slice())
    }

    /// What of `sources`, the files below `agent-core/src`, breaks the table.
    fn faults(&self, sources: &[Source]) -> Vec<String> {
        let root_items = root_items(sources);
        let mut faults = Vec::new();
        for source in sources.iter().filter(|source| !source.is_test()) {
            let Some((module, depth)) = module_of(&source.path) else {
                continue;
            };
            let Some(allowed) = self.allowed(&module) else {
                faults.push(format!(
                    "{}: module `{module}` has no row in the table",
                    source.path
                ));
                continue;
            };
            let mut paths = Vec::new();
            collect_paths(source.tokens(), &mut paths);
            for UsedPath {
                supers,
                names,
                line,
            } in paths
            {
                // Only as many `super` as lead out of the module reach another one; fewer, and
                // those in inline modules, stay inside.
                if supers.is_some_and(|supers| supers < depth) {
                    continue;
                }
                let mut names = names;
                if names[0] == "__private" {
                    names[0] = "private".to_owned();
                }
                if let Some(home) = root_items.get(&names[0]) {
                    names.insert(0, home.clone());
                }
                if self.allowed(&names[0]).is_none() {
                    if supers.is_none() {
                        let path = names.join("::");
                        faults.push(format!(
                            "{}:{line}: `crate::{path}` leads to no module in the table",
                            source.path
                        ));
                    }
                    continue;
                }
                if names[0] != module && !allowed.iter().any(|path| names.starts_with(path)) {
                    faults.push(format!(
                        "{}:{line}: `{module}` may not use `{}`",
                        source.path,
                        names.join("::")
                    ));
                }
            }
        }
        faults
    }
}

fn code_words(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// The top module of a file and how many modules deep the file is; `None` for the root.
fn module_of(path: &str) -> Option<(String, usize)> {
    let inner = path
        .strip_prefix("agent-core/src/")?
        .strip_suffix(".rs")?
        .trim_end_matches("/mod");
    let module = inner.split('/').next()?;
    (module != "lib").then(|| (module.to_owned(), inner.split('/').count()))
}

/// Where the items that `lib.rs` re-exports live: `Message` → `message`.
fn root_items(sources: &[Source]) -> BTreeMap<String, String> {
    let mut items = BTreeMap::new();
    let Some(root) = sources
        .iter()
        .find(|source| source.path == "agent-core/src/lib.rs")
    else {
        return items;
    };
    let tokens: Vec<TokenTree> = root.tokens().into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        if matches!(token, TokenTree::Ident(ident) if ident == "use") {
            let mut paths = Vec::new();
            expand_tree(&tokens[at + 1..], &[], &mut paths);
            for (names, _) in paths {
                let [module, .., item] = names.as_slice() else {
                    continue;
                };
                // A macro's own name may also be a module's; then the module counts.
                if module != "agent_macros" {
                    items.insert(item.clone(), module.clone());
                }
            }
        }
    }
    items
}

/// A path that starts at the crate's root or at a parent module.
struct UsedPath {
    /// How many `super` the path starts with; `None` if it starts with `crate`.
    supers: Option<usize>,
    names: Vec<String>,
    line: usize,
}

/// Every such path outside of test items.
fn collect_paths(tokens: TokenStream, paths: &mut Vec<UsedPath>) {
    let (tokens, _) = split_tests(tokens);
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Group(group) => collect_paths(group.stream(), paths),
            TokenTree::Ident(ident) if ident == "crate" || ident == "super" => {
                let mut supers = (ident == "super").then_some(1);
                let mut rest = at + 1;
                while let Some(after) = after_colons(&tokens, rest) {
                    match (&tokens.get(after), &mut supers) {
                        (Some(TokenTree::Ident(ident)), Some(count)) if ident == "super" => {
                            *count += 1;
                            rest = after + 1;
                        }
                        _ => {
                            rest = after;
                            break;
                        }
                    }
                }
                if rest > at + 1 {
                    let mut found = Vec::new();
                    expand_tree(&tokens[rest..], &[], &mut found);
                    paths.extend(found.into_iter().map(|(names, line)| UsedPath {
                        supers,
                        names,
                        line,
                    }));
                    at = rest.saturating_sub(1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn after_colons(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let colons = tokens.get(at..at + 2)?;
    colons
        .iter()
        .all(|token| is_punct(token, ':'))
        .then_some(at + 2)
}

/// The paths a use tree stands for; macros that are called (`crate::name!`) are no path.
fn expand_tree(tokens: &[TokenTree], prefix: &[String], paths: &mut Vec<(Vec<String>, usize)>) {
    let mut names = prefix.to_vec();
    let mut line = 0;
    let mut at = 0;
    loop {
        match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => {
                line = ident.span().start().line;
                if ident != "self" {
                    names.push(ident.to_string());
                }
            }
            Some(token) if is_punct(token, '*') => line = token.span().start().line,
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                for tree in inner.split(|token| is_punct(token, ',')) {
                    if !tree.is_empty() {
                        expand_tree(tree, &names, paths);
                    }
                }
                return;
            }
            _ => break,
        }
        match after_colons(tokens, at + 1) {
            Some(next) => at = next,
            None => break,
        }
    }
    let calls_macro = tokens.get(at + 1).is_some_and(|token| is_punct(token, '!'))
        && matches!(tokens.get(at + 2), Some(TokenTree::Group(_)));
    let is_macro = calls_macro && names.len() == 1;
    if !names.is_empty() && !is_macro {
        paths.push((names, line));
    }
}

#[test]
fn modules_use_only_what_the_table_allows() {
    let layers = Layers::parse(&read("ARCHITECTURE.md"));

    assert_no_faults(&layers.faults(&rust_files("agent-core/src")));
}

#[test]
fn every_row_of_the_table_is_a_module() {
    let layers = Layers::parse(&read("ARCHITECTURE.md"));
    let sources = rust_files("agent-core/src");

    let unknown: Vec<String> = layers
        .0
        .iter()
        .filter(|(row, _)| {
            !sources
                .iter()
                .any(|source| module_of(&source.path).is_some_and(|(module, _)| module == *row))
        })
        .map(|(row, _)| format!("ARCHITECTURE.md: there is no module `{row}`"))
        .collect();

    assert_no_faults(&unknown);
}

#[cfg(test)]
mod made_up {
    use super::*;

    const TABLE: &str = "<!-- layers -->\n\n| module | may use |\n|---|---|\n\
        | `boxed` | nothing |\n| `message` | `boxed` |\n| `tool` | `message` |\n\
        | `model` | `message`, `tool::ToolDefinition` |\n| `agent` | all above |\n\
        | `private` | `tool` |\n\nprose\n";

    fn faults(path: &str, text: &str) -> Vec<String> {
        let sources = [
            Source::new(
                "agent-core/src/lib.rs",
                "pub use message::Message; pub use tool::{ToolDefinition, ToolError};",
            ),
            Source::new(path, text),
        ];
        Layers::parse(TABLE).faults(&sources)
    }

    #[test]
    fn what_the_table_allows_is_no_fault() {
        let text = "use crate::boxed::BoxError; use crate::{Message, message::{self, Role}};\n\
            use super::sibling; fn f() -> crate::tool::ToolDefinition { crate::helper!(x) }";

        assert_no_faults(&faults("agent-core/src/agent/run.rs", text));
        assert_no_faults(&faults(
            "agent-core/src/model/request.rs",
            "use crate::{message, tool::ToolDefinition, ToolDefinition};",
        ));
    }

    #[test]
    fn a_module_that_is_not_allowed_is_named_with_its_line() {
        assert_eq!(
            faults(
                "agent-core/src/message/mod.rs",
                "//! Doc.\n\nuse crate::tool::X;"
            ),
            ["agent-core/src/message/mod.rs:3: `message` may not use `tool::X`"]
        );
        assert_eq!(
            faults("agent-core/src/boxed.rs", "fn f(x: crate::agent::Run) {}"),
            ["agent-core/src/boxed.rs:1: `boxed` may not use `agent::Run`"]
        );
    }

    #[test]
    fn one_name_of_a_group_is_enough() {
        assert_eq!(
            faults(
                "agent-core/src/tool/set.rs",
                "use crate::{\n  message::Role,\n  model::{Usage, delta::Fold},\n};",
            ),
            [
                "agent-core/src/tool/set.rs:3: `tool` may not use `model::Usage`",
                "agent-core/src/tool/set.rs:3: `tool` may not use `model::delta::Fold`",
            ]
        );
    }

    #[test]
    fn one_item_of_a_module_is_not_the_module() {
        assert_eq!(
            faults("agent-core/src/model/mod.rs", "use crate::tool::ToolSet;"),
            ["agent-core/src/model/mod.rs:1: `model` may not use `tool::ToolSet`"]
        );
        assert_eq!(
            faults("agent-core/src/model/mod.rs", "use crate::tool;").len(),
            1
        );
    }

    #[test]
    fn the_way_through_the_root_or_a_parent_is_seen() {
        assert_eq!(
            faults("agent-core/src/message/mod.rs", "use crate::ToolError;"),
            ["agent-core/src/message/mod.rs:1: `message` may not use `tool::ToolError`"]
        );
        assert_eq!(
            faults("agent-core/src/tool/set.rs", "use super::super::model::X;"),
            ["agent-core/src/tool/set.rs:1: `tool` may not use `model::X`"]
        );
        assert_eq!(
            faults("agent-core/src/message/mod.rs", "use super::agent;").len(),
            1
        );
        assert_no_faults(&faults("agent-core/src/tool/set.rs", "use super::model;"));
    }

    #[test]
    fn comments_strings_and_tests_do_not_count() {
        let text = "/// Unlike `crate::agent::Run`.\n// use crate::agent::Run;\n\
            const X: &str = \"crate::agent\";\n\
            #[cfg(test)]\nmod tests { use crate::agent::Run; }";

        assert_no_faults(&faults("agent-core/src/message/mod.rs", text));
        assert_no_faults(&faults(
            "agent-core/src/message/tests.rs",
            "use crate::agent::Run;",
        ));
    }

    #[test]
    fn a_module_without_a_row_is_a_fault() {
        assert_eq!(faults("agent-core/src/cache.rs", "").len(), 1);
        assert_eq!(
            faults("agent-core/src/agent/mod.rs", "use crate::cache::Cache;"),
            [
                "agent-core/src/agent/mod.rs:1: `crate::cache::Cache` leads to no module in the table"
            ]
        );
    }
}
