//! Pictures of a graph, as Mermaid and DOT text.
//!
//! A graph inside of another is drawn as a box around its nodes, with a start and an end of its
//! own, to which the lines of the node lead that it stands in place of.

use super::compiled::{Inner, Next, Target};

/// A line of a picture.
struct Line {
    from: String,
    to: String,
    /// The name of the route, if it says more than the target does.
    label: Option<String>,
    is_dashed: bool,
}

/// The words of a picture's language.
struct Language {
    /// A node, or a start or an end, by its id and its name.
    node: fn(&str, &str) -> String,
    end: fn(&str, &str) -> String,
    line: fn(&Line) -> String,
    /// What opens and closes a box, by its id and its name.
    opens: fn(&str, &str) -> String,
    closes: &'static str,
}

/// The graph as a Mermaid flowchart.
pub(super) fn mermaid(graph: &Inner) -> String {
    let language = Language {
        node: |id, name| format!("{id}[\"{}\"]", mermaid_text(name)),
        end: |id, name| format!("{id}([\"{name}\"])"),
        line: |line| {
            let arrow = if line.is_dashed { "-.->" } else { "-->" };
            let label = line.label.as_ref();
            // A text without a character is none there.
            let label = label.map(|label| match label.is_empty() {
                true => "|\" \"|".to_owned(),
                false => format!("|\"{}\"|", mermaid_text(label)),
            });
            format!(
                "{} {arrow}{} {}",
                line.from,
                label.unwrap_or_default(),
                line.to
            )
        },
        opens: |id, name| format!("subgraph {id}[\"{}\"]", mermaid_text(name)),
        closes: "end",
    };
    format!("flowchart TD\n{}", draw(graph, &language, ""))
}

/// The graph in the DOT language.
pub(super) fn dot(graph: &Inner) -> String {
    let language = Language {
        node: |id, name| format!("{id} [label=\"{}\", shape=box];", dot_text(name)),
        end: |id, name| format!("{id} [label=\"{name}\", shape=oval];"),
        line: |line| {
            let mut attributes = Vec::new();
            if line.is_dashed {
                attributes.push("style=dashed".to_owned());
            }
            if let Some(label) = &line.label {
                attributes.push(format!("label=\"{}\"", dot_text(label)));
            }
            let attributes = match attributes.is_empty() {
                true => String::new(),
                false => format!(" [{}]", attributes.join(", ")),
            };
            format!("{} -> {}{attributes};", line.from, line.to)
        },
        opens: |id, name| format!("subgraph cluster_{id} {{ label=\"{}\";", dot_text(name)),
        closes: "}",
    };
    format!("digraph {{\n{}}}\n", draw(graph, &language, ""))
}

/// The text of a graph whose ids begin with `prefix`, each line indented.
fn draw(graph: &Inner, language: &Language, prefix: &str) -> String {
    let mut text = (language.end)(&format!("{prefix}start"), "START");
    for (position, node) in graph.nodes.iter().enumerate() {
        let id = format!("{prefix}n{position}");
        text.push('\n');
        match node.action.sub_graph() {
            None => text.push_str(&(language.node)(&id, &node.name)),
            Some(sub) => {
                let inside = draw(&sub.inner, language, &format!("{id}_"));
                let opens = (language.opens)(&id, &node.name);
                text.push_str(&format!("{opens}\n{inside}{}", language.closes));
            }
        }
    }
    text.push('\n');
    text.push_str(&(language.end)(&format!("{prefix}finish"), "END"));
    let sources = std::iter::once(None).chain((0..graph.nodes.len()).map(Some));
    for line in sources.flat_map(|from| lines_of(graph, prefix, from)) {
        text.push('\n');
        text.push_str(&(language.line)(&line));
    }
    text.lines().map(|line| format!("    {line}\n")).collect()
}

/// The lines from a node, or from the start if there is none.
fn lines_of(graph: &Inner, prefix: &str, from: Option<usize>) -> Vec<Line> {
    let is_graph = |node: usize| graph.nodes[node].action.sub_graph().is_some();
    let source = match from {
        None => format!("{prefix}start"),
        Some(node) if is_graph(node) => format!("{prefix}n{node}_finish"),
        Some(node) => format!("{prefix}n{node}"),
    };
    let line = |to: Target, label, is_dashed| Line {
        from: source.clone(),
        to: match to {
            Target::End => format!("{prefix}finish"),
            Target::Node(node) if is_graph(node) => format!("{prefix}n{node}_start"),
            Target::Node(node) => format!("{prefix}n{node}"),
        },
        label,
        is_dashed,
    };
    let mut lines = match graph.next(from) {
        Next::Goto => Vec::new(),
        Next::Edge(to) => vec![line(*to, None, false)],
        Next::Branches(targets, _) => targets.iter().map(|to| line(*to, None, false)).collect(),
        Next::Each(each) => vec![
            line(each.to, Some("for each".to_owned()), true),
            line(each.join, Some("none".to_owned()), true),
        ],
        Next::Conditional(_, routes) => routes
            .iter()
            .map(|(name, to)| {
                let says_more = graph.target(name) != Some(*to);
                line(*to, says_more.then(|| name.clone()), true)
            })
            .collect(),
    };
    let gotos = from.and_then(|position| graph.gotos.get(position));
    for to in gotos.into_iter().flatten() {
        lines.push(line(*to, Some("goto".to_owned()), true));
    }
    lines
}

/// Entity codes as in the Mermaid flowchart syntax, "Entity codes to escape characters".
fn mermaid_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '#' | '<' | '>' | '&' | ';' | '`' | '\\' => {
                escaped.push_str(&format!("#{};", u32::from(character)));
            }
            character if character.is_control() => escaped.push(' '),
            character => escaped.push(character),
        }
    }
    escaped
}

/// Double-quoted strings as in the DOT language, where `\` starts an escape in labels.
fn dot_text(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace(['\n', '\r'], " ")
}
