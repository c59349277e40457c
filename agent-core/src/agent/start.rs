//! What a run starts with: its scope and its first state.
//!
//! Everything that can be refused is refused here, before the first model call.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::error::AgentError;
use super::lookup::Resolved;
use super::nested::Outer;
use super::output::{self, Tries, Way};
use super::react::Config;
use super::run::RunRequest;
use super::scope::{Record, RunScope};
use super::slots::ToolSlots;
use super::template;
use super::thread::OpenThread;
use crate::clock;
use crate::event::Sink;
use crate::graph::{KeyStrategies, State, StateUpdate};
use crate::message::{ContentPart, Message, MessageBody, MessageId, Role, Transcript};
use crate::model::ToolList;
use crate::state::delta::StateDelta;
use crate::tool::{Hosts, RunContext, ToolCallback, ToolSet, ToolSetError};

/// What a run begins with.
pub(super) struct Start {
    pub(super) scope: Arc<RunScope>,
    pub(super) state: State,
    /// Where in the history the run's own messages begin.
    pub(super) new_from: usize,
    /// What was done to the state of the thread, if there is one.
    pub(super) began: StateDelta,
}

/// When the run must be over, and the call that it goes on in with it.
pub(super) fn deadline(request: &RunRequest, started: Instant) -> Option<Instant> {
    let own = request.deadline.map(|limit| clock::after(started, limit));
    let outer = request.outer.as_ref().map(|outer| outer.deadline);
    own.into_iter().chain(outer).min()
}

/// The run's scope and its first state.
pub(super) fn prepare(
    request: RunRequest,
    thread: Option<&mut OpenThread>,
    sink: Sink,
    (run_id, token, span): (Arc<str>, CancellationToken, tracing::Span),
    deadline: Option<Instant>,
) -> Result<Start, AgentError> {
    let config = Arc::clone(&request.agent.config);
    let outer = request.outer;
    let (hosts, metadata) = lent(&config, &request.hosts, request.metadata, outer.as_deref());
    let secrets = match &outer {
        Some(outer) => config.secrets.and(&outer.scope.context.secrets),
        None => config.secrets.clone(),
    };
    let options = config.options.merged(&request.options);
    let output = config.output.as_ref();
    let way = output.map(|output| output.way(config.model.holds_json_schema(&options)));
    let (tools, tool_list, tool_slots) = offered(&config, request.tools, way)?;
    check_hosts(&tools, &hosts)?;
    let strategies = request.agent.graph.strategies();
    let control = thread.as_ref().map(|it| Arc::clone(&it.running.control));
    let thread_id = request.thread.as_deref().map(Into::into);
    let is_resumed = request.answers.is_some();
    let mut first = First {
        strategies,
        is_recorded: thread.is_some(),
        state: State::new(),
        began: StateDelta::default(),
    };
    let new_from = match thread {
        Some(thread) if is_resumed => {
            first.state = thread.opened.state().cloned().unwrap_or_default();
            first.state.messages().len()
        }
        thread => {
            let closing = thread.map(|thread| {
                first.state = thread.state.take().unwrap_or_default();
                std::mem::take(&mut thread.closing)
            });
            first.close(closing.unwrap_or_default())?;
            first.take_in(&config, request.state, request.input.0)?
        }
    };
    warn_of_second_system(&config, &first.state);
    let unsupported = config.model.unsupported(&options, &tool_list);
    if !unsupported.is_empty() {
        let (agent, provider) = (&*config.name, config.model.provider());
        tracing::warn!(
            agent,
            provider,
            ?unsupported,
            "settings that the provider has not"
        );
    }
    let scope = RunScope {
        sink,
        context: Arc::new(RunContext {
            run_id,
            thread_id,
            hosts,
            metadata,
            blocking_in_place: config.blocking_in_place,
            leftovers: config.leftovers.clone(),
            secrets,
        }),
        tools,
        tool_list,
        resolved: Resolved::default(),
        tool_slots,
        runtime: request.runtime,
        options: Arc::new(options),
        way,
        unsupported,
        token,
        deadline,
        depth_left: depth_left(outer.as_deref(), config.limits.depth),
        outer,
        streaming: request.streaming.unwrap_or(config.streaming),
        span,
        record: Mutex::new(Record::default()),
        early: Mutex::new(None),
        control,
        saver: request.saver.filter(|_| request.thread.is_some()),
        durability: request.durability.unwrap_or(config.durability),
        config,
    };
    count_what_was_before(&scope, &first.state);
    Ok(Start {
        scope: Arc::new(scope),
        // The thread brings the state itself.
        state: match is_resumed {
            true => State::new(),
            false => first.state,
        },
        new_from,
        began: first.began,
    })
}

/// A turn that a history brings is the same turn: its calls count for the limits, and its tries
/// at an answer of its form for theirs.
fn count_what_was_before(scope: &RunScope, state: &State) {
    let turn = output::turn(state.messages());
    let answered = turn
        .iter()
        .flat_map(Message::tool_results)
        .chain(state.transcript().partial_results());
    for result in answered {
        let name = scope.name_of(&result.name);
        scope.record(|record| record.counts.earlier_tool_call(&name));
    }
    if scope.config.output.is_some() {
        let Tries { asked, misfits } = Tries::of(turn);
        scope.record(|record| (record.asked_for_form, record.misfits) = (asked, misfits));
    }
}

/// Host values and metadata: the run's over the agent's, and over those of a run around it.
fn lent(
    config: &Config,
    hosts: &Hosts,
    metadata: Map<String, Value>,
    outer: Option<&Outer>,
) -> (Hosts, Arc<Map<String, Value>>) {
    let hosts = config.hosts.overridden_by(hosts);
    let mut all = Arc::clone(&config.metadata);
    if !metadata.is_empty() {
        Arc::make_mut(&mut all).extend(metadata);
    }
    let Some(outer) = outer else {
        return (hosts, all);
    };
    let around = &outer.scope.context;
    for (key, value) in around.metadata.iter() {
        if !all.contains_key(key) {
            Arc::make_mut(&mut all).insert(key.clone(), value.clone());
        }
    }
    (around.hosts.overridden_by(&hosts), all)
}

/// The agent's tools and their slots, with those of the run in front.
fn offered(
    config: &Config,
    tools: Vec<Arc<dyn ToolCallback>>,
    way: Option<Way>,
) -> Result<(ToolSet, ToolList, ToolSlots), AgentError> {
    let own = &config.tool_slots;
    let has_tool = way.is_some_and(Way::has_tool);
    let is_usual = has_tool == config.way.is_some_and(Way::has_tool);
    if tools.is_empty() && is_usual {
        return Ok((config.tools.clone(), config.tool_list.clone(), own.clone()));
    }
    let tools = ToolSet::layered([ToolSet::new(tools)?, agents(config, has_tool, is_usual)?]);
    if let Some(dialect) = config.model.dialect()
        && let Some(refused) = tools.report(dialect).refusals().next()
    {
        return Err(refused.into());
    }
    let tool_list = ToolList::new(tools.iter().map(|tool| tool.definition().clone()));
    let tool_slots = ToolSlots::of(&tools, own);
    Ok((tools, tool_list, tool_slots))
}

/// The agent's own tools. Where a run's model is asked for the form in another way than usual, there
/// are none but the one that gives the answer.
fn agents(config: &Config, has_tool: bool, is_usual: bool) -> Result<ToolSet, ToolSetError> {
    match &config.output {
        Some(output) if !is_usual && has_tool => ToolSet::new(output.tool()),
        Some(_) if !is_usual => Ok(ToolSet::default()),
        _ => Ok(config.tools.clone()),
    }
}

fn check_hosts(tools: &ToolSet, hosts: &Hosts) -> Result<(), AgentError> {
    for tool in tools.iter() {
        let required = tool.definition().required_hosts();
        if let Some(missing) = required.iter().find(|host| !hosts.contains(host.id)) {
            return Err(AgentError::MissingHost {
                tool: tool.definition().name().to_owned(),
                type_name: missing.name,
            });
        }
    }
    Ok(())
}

/// How many runs may go on inside this one. `None` for any number.
fn depth_left(outer: Option<&Outer>, limit: Option<u32>) -> Option<u32> {
    let own = limit.map(|limit| limit.saturating_sub(1));
    let left = outer.and_then(|outer| outer.scope.depth_left);
    let left = left.map(|left| left.saturating_sub(1));
    [own, left].into_iter().flatten().min()
}

/// Many models take one system message, at the front; the others go out as they are.
fn warn_of_second_system(config: &Config, state: &State) {
    let systems = state.messages().iter();
    let count = systems
        .filter(|message| message.role() == Role::System)
        .count();
    if count + usize::from(config.system_prompt.is_some()) > 1 {
        tracing::warn!(
            agent = &*config.name,
            count,
            "the history holds system messages beside the system prompt"
        );
    }
}

/// The first state of a run, as it is put together.
struct First<'a> {
    strategies: &'a KeyStrategies,
    /// True if what is done is written down.
    is_recorded: bool,
    state: State,
    began: StateDelta,
}

impl First<'_> {
    /// Closes what the thread left open, with what its calls wrote; where that does not fit, the
    /// results stand alone, as nobody could ever go on else.
    fn close(&mut self, closing: StateUpdate) -> Result<(), AgentError> {
        let results = closing.clone().without_values();
        match self.join(closing) {
            Err(AgentError::State(error)) => {
                tracing::warn!(%error, "what the last calls wrote is left out");
                self.join(results)
            }
            end => end,
        }
    }

    fn join(&mut self, update: StateUpdate) -> Result<(), AgentError> {
        match self.is_recorded {
            true => {
                let did = self.strategies.apply_recorded(&mut self.state, update)?;
                self.began.extend(did);
            }
            false => self.strategies.apply(&mut self.state, update)?,
        }
        Ok(())
    }

    /// State values, then the history with the instruction before its last message. Gives how
    /// much of the history was there before: what the thread had, or of the input everything up
    /// to the last reply of a model and its results.
    fn take_in(
        &mut self,
        config: &Config,
        values: StateUpdate,
        mut input: Vec<Message>,
    ) -> Result<usize, AgentError> {
        self.join(values)?;
        if input.is_empty() {
            // Without messages, the key `input` is what is asked.
            match self.state.value("input").and_then(Value::as_str) {
                Some(text) => input.push(Message::user(text)),
                None => return Err(AgentError::NoInput),
            }
        }
        if let Some(template) = &config.instruction {
            let text = template::render(template, &self.state)?;
            let id = instruction_id(&config.name);
            let earlier = self.state.messages();
            match earlier.iter().any(|message| *message.id() == id) {
                false => place_instruction(&config.name, text, &mut input),
                true => {
                    let mut messages = earlier.to_vec();
                    place_instruction(&config.name, text, &mut messages);
                    if messages != earlier {
                        self.join(StateUpdate::new().replace_messages(messages))?;
                    }
                }
            }
        }
        let earlier = self.state.messages().len();
        let mut new_from = input
            .iter()
            .rposition(|message| message.as_assistant().is_some())
            .map_or(0, |last| last + 1);
        if input
            .get(new_from)
            .is_some_and(|message| !message.tool_results().is_empty())
        {
            new_from += 1;
        }
        if earlier == 0 {
            // Told as what it is, before the state refuses it.
            Transcript::from_messages(input.iter().cloned())?;
        } else {
            new_from = 0;
        }
        self.join(StateUpdate::new().messages(input))?;
        Ok(earlier + new_from)
    }
}

fn instruction_id(agent: &str) -> MessageId {
    MessageId::new(format!("instruction:{agent}"))
}

/// One copy per agent: one that is there already is brought up to date where it stands.
fn place_instruction(agent: &str, text: String, messages: &mut Vec<Message>) {
    let id = instruction_id(agent);
    let rendered = Message::with_id(id.clone(), MessageBody::User(vec![ContentPart::Text(text)]));
    match messages.iter_mut().find(|message| *message.id() == id) {
        Some(message) if message.body() == rendered.body() => {}
        Some(message) => *message = rendered,
        None => {
            let before_last_user = messages
                .iter()
                .rposition(|message| message.role() == Role::User);
            // Without one, in front: the history may end with calls that are still open.
            let systems = messages.iter().take_while(|m| m.role() == Role::System);
            let front = systems.count();
            messages.insert(before_last_user.unwrap_or(front), rendered);
        }
    }
}
