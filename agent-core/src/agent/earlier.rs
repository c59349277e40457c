//! What is known of a turn's calls from before: which ended, which were cut off, what was
//! answered.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::approval::{self, About, Decision};
use super::call_end::{CallEnd, Ended};
use super::error::Failure;
use super::plan::Plan;
use super::scope::RunScope;
use crate::event::InterruptKind;
use crate::graph::checkpoint::record::Note;
use crate::graph::{AnswerError, NodeContext, NodeInterrupt, Notebook, Question, State};
use crate::message::{ToolCall, ToolResult};
use crate::state::StateUpdate;
use crate::tool::{CallAnswer, Effect, ToolCallback};

/// What becomes of a call whose outcome nobody knows: the program stopped while it ran, and its
/// tool counts each run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InDoubt {
    /// The model reads that the outcome is unknown.
    #[default]
    Tell,
    /// The run pauses and asks a person, who approves another run, gives the result, or rejects.
    Ask,
}

/// The calls of a turn, as far as they are known from before.
pub(super) struct Turn {
    pub(super) notebook: Notebook,
    ended: HashMap<String, Note>,
    begun: HashSet<String>,
    /// What was asked, by the id of the call.
    asked: HashMap<String, Vec<(NodeInterrupt, About, Option<Value>)>>,
}

/// What to do with a call.
pub(super) enum Before {
    /// It has its end.
    Ended(Box<CallEnd>),
    /// It has its result without running.
    Result(ToolResult),
    Asks(Vec<Question>),
    /// It runs, and is told these answers.
    Run(Vec<CallAnswer>),
}

impl Turn {
    pub(super) fn of(context: &NodeContext) -> Self {
        let notebook = context.notebook().clone();
        let (mut ended, mut begun) = (HashMap::new(), HashSet::new());
        for note in notebook.earlier() {
            match note.update {
                Some(_) => ended
                    .insert(note.key.clone(), note.clone())
                    .map_or((), drop),
                None if note.takes_back() => drop(begun.remove(&note.key)),
                None => drop(begun.insert(note.key.clone())),
            }
        }
        let answered = context
            .answers()
            .map(|(asked, answer)| (asked, Some(answer)));
        let waiting = context.waiting().map(|asked| (asked, None));
        let mut of_call: HashMap<String, Vec<_>> = HashMap::new();
        for (asked, answer) in answered.chain(waiting) {
            if let Some(about) = About::of(asked)
                && let Some(call) = about.through.clone()
            {
                let asked = (asked.clone(), about, answer.cloned());
                of_call.entry(call).or_default().push(asked);
            }
        }
        Self {
            asked: of_call,
            notebook,
            ended,
            begun,
        }
    }

    /// What was asked about a call, or by it.
    fn about<'a>(
        &'a self,
        call: &'a ToolCall,
    ) -> impl Iterator<Item = (&'a NodeInterrupt, &'a About, Option<&'a Value>)> {
        let of_call = self.asked.get(call.id()).into_iter().flatten();
        of_call.map(|(asked, about, answer)| (asked, about, answer.as_ref()))
    }

    /// The decision about a call, the last if there are several.
    fn decision(&self, call: &ToolCall) -> Option<Decision> {
        let decided = self.about(call).filter(|(_, about, _)| {
            about.nested.is_none()
                && matches!(about.kind, InterruptKind::Approval | InterruptKind::InDoubt)
        });
        let decided = decided.filter_map(|(_, _, answer)| Decision::of(answer?).ok());
        decided.last()
    }

    /// The calls that somebody gave other arguments.
    pub(super) fn edited(&self, state: &State) -> Vec<ToolCall> {
        let calls = state.transcript().open_calls();
        let edited = calls.filter_map(|call| match self.decision(call)? {
            Decision::Edit { arguments } => {
                let mut call = call.clone();
                let edited = ToolCall::new(call.id(), call.name.as_str(), arguments.to_string());
                (call.arguments, call.invalid) = (edited.arguments, edited.invalid);
                Some(call)
            }
            _ => None,
        });
        edited.collect()
    }

    /// What to do with a call before it runs.
    pub(super) fn before(&self, scope: &RunScope, plan: &Plan<'_>, state: &State) -> Before {
        let (call, tool) = (plan.call, plan.tool.as_deref());
        if self.knows_nothing() {
            return match asks_approval(scope, plan, state) {
                Some(question) => Before::Asks(vec![question]),
                None => Before::Run(Vec::new()),
            };
        }
        if let Some(end) = self
            .ended
            .get(call.id())
            .and_then(|note| end_of(note, call))
        {
            return Before::Ended(Box::new(end));
        }
        let waiting: Vec<Question> = self
            .about(call)
            .filter(|(_, _, answer)| answer.is_none())
            .map(|(asked, _, _)| asked.again())
            .collect();
        let has_news = self
            .about(call)
            .any(|(_, about, answer)| about.nested.is_some() && answer.is_some());
        // A run inside of the call takes the answers it has, and asks for the rest again.
        if !waiting.is_empty() && !has_news {
            return Before::Asks(waiting);
        }
        // Also if it was approved: that was for the run that was cut off.
        if tool.is_some_and(|tool| self.is_in_doubt(call, tool)) {
            return match scope.config.in_doubt {
                InDoubt::Ask => Before::Asks(vec![approval::in_doubt(call)]),
                InDoubt::Tell => Before::Result(ToolResult::error(call, UNKNOWN)),
            };
        }
        match self.decision(call) {
            Some(Decision::Reject { reason }) => {
                let text = format!("Error: denied: {reason}");
                return Before::Result(ToolResult::error(call, text));
            }
            Some(Decision::Respond { text }) => {
                return Before::Result(ToolResult::ok(call, vec![text.into()]));
            }
            Some(Decision::Approve {} | Decision::Edit { .. }) => {}
            None => {
                // An answer to the call itself came after its approval.
                let ran = self
                    .about(call)
                    .any(|(_, about, _)| about.kind == InterruptKind::Question);
                if !ran && let Some(question) = asks_approval(scope, plan, state) {
                    return Before::Asks(vec![question]);
                }
            }
        }
        let answers = self.about(call).filter_map(|(asked, about, answer)| {
            let is_told = about.nested.is_some() || about.kind == InterruptKind::Question;
            is_told.then_some(())?;
            Some(CallAnswer {
                id: asked.id.clone(),
                nested: about.nested.clone(),
                name: about.name.clone(),
                value: answer?.clone(),
            })
        });
        Before::Run(answers.collect())
    }

    /// True if nothing happened to the calls before.
    fn knows_nothing(&self) -> bool {
        self.ended.is_empty() && self.begun.is_empty() && self.asked.is_empty()
    }

    fn is_in_doubt(&self, call: &ToolCall, tool: &dyn ToolCallback) -> bool {
        let metadata = tool.metadata();
        self.begun.contains(call.id())
            && metadata.declared_effect() == Effect::Once
            && !metadata.is_resuming()
    }

    /// Writes down that a call is about to run.
    pub(super) async fn begin(&self, call: &ToolCall) -> Result<(), Failure> {
        let noted = self.notebook.note(&call.id, json!("started"), None);
        noted
            .await
            .map_err(|error| Failure::Checkpoint(Box::new(error)))
    }

    /// Takes back that a call has begun: its answer did not fit, so that it waits for another.
    pub(super) async fn unread(
        &self,
        call: &ToolCall,
        unfit: AnswerError,
    ) -> Result<AnswerError, Failure> {
        if self.is_noted() {
            let noted = self.notebook.note(&call.id, Value::Null, None);
            noted
                .await
                .map_err(|error| Failure::Checkpoint(Box::new(error)))?;
        }
        // A run inside of the call has ids of its own.
        let mut about = self.about(call);
        let outer = about.find(|(_, about, _)| about.nested.as_deref() == Some(unfit.id()));
        Ok(match outer {
            Some((asked, ..)) => unfit.with_id(&asked.id),
            None => unfit,
        })
    }

    /// True if what becomes of the calls is written down.
    pub(super) fn is_noted(&self) -> bool {
        self.notebook.thread().is_some()
    }

    /// Writes down how a call ended.
    pub(super) async fn end(
        &self,
        result: &ToolResult,
        update: &StateUpdate,
        direct: bool,
    ) -> Result<(), Failure> {
        let update = update.clone().answer(result.clone());
        let note = json!({"direct": direct});
        let noted = self.notebook.note(&result.call_id, note, Some(update));
        noted
            .await
            .map_err(|error| Failure::Checkpoint(Box::new(error)))
    }
}

/// What is asked before a call runs, if it needs approval.
fn asks_approval(scope: &RunScope, plan: &Plan<'_>, state: &State) -> Option<Question> {
    let tool = plan
        .tool
        .as_deref()
        .filter(|_| plan.call.invalid.is_none())?;
    let question = scope.needs_approval(plan.call, tool, state)?;
    Some(approval::approval(plan.call, question))
}

pub(super) const UNKNOWN: &str = "Error: outcome unknown: the program stopped while this call \
     ran; it may have taken effect";

/// The end of a call that an earlier try of the step wrote down.
fn end_of(note: &Note, call: &ToolCall) -> Option<CallEnd> {
    let mut update = note.update.clone()?;
    let result = update.take_answer(&call.id)?;
    Some(CallEnd {
        ended: Ended::Result(result),
        update,
        direct: note.value["direct"] == true,
        refused: false,
    })
}

/// The answers to the calls that a thread left open, as something new begins on it: what was
/// written down, and for the others why they have none.
pub(super) fn settle(notes: &[Note], waiting: &HashSet<String>, state: &State) -> StateUpdate {
    let mut update = StateUpdate::new();
    let (mut ended, mut begun) = (HashMap::new(), HashSet::new());
    for note in notes {
        let key = note.key.as_str();
        match &note.update {
            Some(update) => drop(ended.entry(key).or_insert(update)),
            None if note.takes_back() => drop(begun.remove(key)),
            None => drop(begun.insert(key)),
        }
    }
    for call in state.transcript().open_calls() {
        if let Some(ended) = ended.get(call.id()) {
            update.extend((*ended).clone());
            continue;
        }
        let text = if begun.contains(call.id()) {
            UNKNOWN
        } else if waiting.contains(call.id()) {
            "Error: denied: nobody answered, and the conversation went on without it"
        } else {
            "Error: not run: the run before was cut off"
        };
        update = update.answer(ToolResult::error(call, text));
    }
    update
}
