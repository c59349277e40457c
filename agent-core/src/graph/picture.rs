//! Pictures of a graph, as Mermaid and DOT text.

use super::compiled::{Inner, Next, Target};

/// A line of a picture, between a node, or the start if there is none, and a target.
struct Line {
    from: Option<usize>,
    to: Target,
    /// The name of the route, if it says more than the target does.
    label: Option<String>,
    is_dashed: bool,
}

/// The graph as a Mermaid flowchart.
pub(super) fn mermaid(graph: &Inner) -> String {
    let mut text = String::from("flowchart TD\n    start([\"START\"])\n");
    for (position, node) in graph.nodes.iter().enumerate() {
        let name = mermaid_text(&node.name);
        text.push_str(&format!("    n{position}[\"{name}\"]\n"));
    }
    text.push_str("    finish([\"END\"])\n");
    for line in lines(graph) {
        let arrow = if line.is_dashed { "-.->" } else { "-->" };
        let label = line.label.map_or_else(String::new, |label| {
            format!("|\"{}\"|", mermaid_text(&label))
        });
        let (from, to) = (source_id(line.from), target_id(line.to));
        text.push_str(&format!("    {from} {arrow}{label} {to}\n"));
    }
    text
}

/// The graph in the DOT language.
pub(super) fn dot(graph: &Inner) -> String {
    let mut text = String::from("digraph {\n    start [label=\"START\", shape=oval];\n");
    for (position, node) in graph.nodes.iter().enumerate() {
        let name = dot_text(&node.name);
        text.push_str(&format!("    n{position} [label=\"{name}\", shape=box];\n"));
    }
    text.push_str("    finish [label=\"END\", shape=oval];\n");
    for line in lines(graph) {
        let mut attributes = Vec::new();
        if line.is_dashed {
            attributes.push("style=dashed".to_owned());
        }
        if let Some(label) = line.label {
            attributes.push(format!("label=\"{}\"", dot_text(&label)));
        }
        let attributes = match attributes.is_empty() {
            true => String::new(),
            false => format!(" [{}]", attributes.join(", ")),
        };
        let (from, to) = (source_id(line.from), target_id(line.to));
        text.push_str(&format!("    {from} -> {to}{attributes};\n"));
    }
    text.push_str("}\n");
    text
}

fn lines(graph: &Inner) -> Vec<Line> {
    let sources = std::iter::once(None).chain((0..graph.nodes.len()).map(Some));
    sources.flat_map(|from| lines_of(graph, from)).collect()
}

fn lines_of(graph: &Inner, from: Option<usize>) -> Vec<Line> {
    let line = |to, label, is_dashed| Line {
        from,
        to,
        label,
        is_dashed,
    };
    let mut lines = match graph.next(from) {
        Next::Goto => Vec::new(),
        Next::Edge(to) => vec![line(*to, None, false)],
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

fn source_id(from: Option<usize>) -> String {
    from.map_or_else(|| "start".to_owned(), |position| format!("n{position}"))
}

fn target_id(to: Target) -> String {
    match to {
        Target::Node(position) => format!("n{position}"),
        Target::End => "finish".to_owned(),
    }
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
