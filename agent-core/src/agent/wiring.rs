//! The graph of an agent: the model, the tools, and the hooks around them.

use std::sync::Arc;

use super::hook::{Hook, HookPosition};
use super::hook_node::HookNode;
use super::model_node::ModelNode;
use super::output::{OUTPUT, OutputNode};
use super::tool_node::ToolNode;
use crate::graph::{CompiledGraph, END, GraphError, KeyStrategy, START, State, StateGraph};
use crate::message::Role;

/// The node that asks the model.
pub(super) const MODEL: &str = "model";
/// The node that runs tool calls.
pub(super) const TOOLS: &str = "tools";

/// The nodes of the hooks of one position, in the order in which they run.
struct Chain {
    names: Vec<String>,
}

impl Chain {
    fn of(hooks: &[Arc<dyn Hook>], position: HookPosition) -> Self {
        let is_here = |hook: &&Arc<dyn Hook>| hook.positions().contains(&position);
        let names = hooks.iter().filter(is_here);
        let mut names: Vec<String> = names.map(|hook| position.node(hook.name())).collect();
        if matches!(
            position,
            HookPosition::AfterModel | HookPosition::AfterAgent
        ) {
            names.reverse();
        }
        Self { names }
    }

    /// Where the chain begins; `behind` if there is no hook.
    fn first<'a>(&'a self, behind: &'a str) -> &'a str {
        self.names.first().map_or(behind, String::as_str)
    }

    /// Joins the chain up to its last node, which leads to `behind`.
    fn lead_to(&self, mut graph: StateGraph, behind: &str) -> StateGraph {
        for (position, name) in self.names.iter().enumerate() {
            let next = self.names.get(position + 1).map_or(behind, String::as_str);
            graph = graph.edge(name.as_str(), next);
        }
        graph
    }
}

/// The agent's graph, and the two places in it that others go to.
pub(super) struct Wiring {
    pub(super) graph: Result<CompiledGraph, GraphError>,
    /// Where a turn begins: the first hook before the model, or the model.
    pub(super) entry: String,
    /// Where a run that has its answer goes: the first hook after the agent, or the end.
    pub(super) exit: String,
    /// True if hooks see a reply before the run goes on.
    pub(super) has_after_model: bool,
}

/// Joins the nodes. `hooks` are in their order.
pub(super) fn wire(
    hooks: &[Arc<dyn Hook>],
    keys: Vec<(Arc<str>, KeyStrategy)>,
    has_output: bool,
) -> Wiring {
    let [before_agent, before_model, after_model, after_agent] = [
        HookPosition::BeforeAgent,
        HookPosition::BeforeModel,
        HookPosition::AfterModel,
        HookPosition::AfterAgent,
    ]
    .map(|position| Chain::of(hooks, position));
    let entry = before_model.first(MODEL).to_owned();
    let exit = after_agent.first(END).to_owned();

    let mut graph = StateGraph::new();
    for (key, strategy) in keys {
        graph = graph.key(key, strategy);
    }
    graph = graph.node(MODEL, ModelNode).node(TOOLS, ToolNode);
    for hook in hooks {
        for position in HookPosition::ALL {
            if hook.positions().contains(position) {
                let name = position.node(hook.name());
                let node = HookNode {
                    hook: Arc::clone(hook),
                    position: *position,
                    sends_on: after_model.names.last() == Some(&name),
                };
                graph = graph.node(name, node);
            }
        }
    }
    graph = graph.edge(START, before_agent.first(&entry));
    graph = before_agent.lead_to(graph, &entry);
    graph = before_model.lead_to(graph, MODEL);
    graph = after_agent.lead_to(graph, END);
    let mut last = MODEL;
    for name in &after_model.names {
        graph = graph.edge(last, name.as_str());
        last = name;
    }
    let behind = if has_output { OUTPUT } else { &exit };
    let mut routes = vec![TOOLS.to_owned(), behind.to_owned()];
    if has_output {
        graph = graph.node(OUTPUT, OutputNode).edge(OUTPUT, exit.as_str());
    }
    let has_after_model = !after_model.names.is_empty();
    let route = move |state: &State| match after_reply(state) {
        Way::Tools => 0,
        Way::Model if has_after_model => 2,
        _ => 1,
    };
    // Only a hook can answer every call of a reply.
    if has_after_model {
        routes.push(entry.clone());
    }
    graph = graph
        .conditional_edges_by_position(last, route, routes)
        .edge(TOOLS, entry.as_str());
    Wiring {
        graph: graph.compile(),
        entry,
        exit,
        has_after_model,
    }
}

enum Way {
    Tools,
    Model,
    End,
}

/// Open calls lead to the tools, answered ones to the model, everything else to the end.
fn after_reply(state: &State) -> Way {
    match state.messages().last().map(crate::Message::role) {
        _ if !state.transcript().is_closed() => Way::Tools,
        Some(Role::Tool) => Way::Model,
        _ => Way::End,
    }
}
