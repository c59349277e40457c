//! What a person says to a tool call, and what is asked.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::{Interrupt, InterruptKind};
use crate::graph::{Answer, NodeInterrupt, Question};
use crate::message::ToolCall;
use crate::tool::{InterruptRequest, NestedRequest};

/// What is decided about a call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "decision", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Decision {
    /// It runs as it is.
    Approve {},
    /// It runs with other arguments.
    Edit { arguments: Value },
    /// It does not run; the model reads why.
    Reject { reason: String },
    /// It does not run; the model reads this as its result.
    Respond { text: String },
}

impl Decision {
    fn answer(self, id: impl Into<String>) -> Answer {
        // Text and JSON can always be written.
        Answer::new(id, serde_json::to_value(self).unwrap_or_default())
    }

    /// The decision that an answer holds.
    pub(super) fn of(value: &Value) -> Result<Self, serde_json::Error> {
        Self::deserialize(value)
    }
}

/// Decisions about a tool call that waits for approval, or whose outcome is in doubt.
impl Answer {
    /// The call runs as it is. One in doubt runs again.
    pub fn approve(id: impl Into<String>) -> Self {
        Decision::Approve {}.answer(id)
    }

    /// The call runs with these arguments, an object that must fit the tool; the history shows
    /// them as the model's.
    pub fn edit(id: impl Into<String>, arguments: impl Into<Value>) -> Self {
        let arguments = arguments.into();
        Decision::Edit { arguments }.answer(id)
    }

    /// The call does not run, and the model reads why.
    pub fn reject(id: impl Into<String>, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Decision::Reject { reason }.answer(id)
    }

    /// The call does not run, and the model reads this as its result.
    pub fn respond(id: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        Decision::Respond { text }.answer(id)
    }
}

/// What an agent keeps of a question beside what is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct About {
    pub(super) kind: InterruptKind,
    /// The call it is about.
    pub(super) call: Option<AboutCall>,
    /// The call of this agent that must run again for the answer to get there.
    pub(super) through: Option<String>,
    /// By which the run inside of that call is answered.
    pub(super) nested: Option<String>,
    /// What the tool named its question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct AboutCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl AboutCall {
    pub(super) fn of(call: &ToolCall) -> Self {
        Self {
            id: call.id.to_string(),
            name: call.name.to_string(),
            arguments: super::counts::canonical(&call.arguments),
        }
    }
}

impl About {
    pub(super) fn of(interrupt: &NodeInterrupt) -> Option<Self> {
        Self::read(&interrupt.about)
    }

    fn of_call(kind: InterruptKind, call: &ToolCall) -> Self {
        Self {
            kind,
            call: Some(AboutCall::of(call)),
            through: Some(call.id.to_string()),
            nested: None,
            name: None,
        }
    }

    pub(super) fn read(about: &Value) -> Option<Self> {
        Self::deserialize(about).ok()
    }
}

/// Asks whether a call may run.
pub(super) fn approval(call: &ToolCall, question: Option<String>) -> Question {
    let arguments = call.arguments_value().unwrap_or_default();
    let mut payload = json!({"tool": call.name, "arguments": arguments});
    if let Some(question) = question {
        payload["question"] = question.into();
    }
    about_call(InterruptKind::Approval, call, payload)
}

/// Asks what became of a call that was cut off.
pub(super) fn in_doubt(call: &ToolCall) -> Question {
    let arguments = call.arguments_value().unwrap_or_default();
    let payload = json!({"tool": call.name, "arguments": arguments});
    about_call(InterruptKind::InDoubt, call, payload)
}

fn about_call(kind: InterruptKind, call: &ToolCall, payload: Value) -> Question {
    question(&call.id, payload, About::of_call(kind, call))
}

fn question(key: &str, payload: Value, about: About) -> Question {
    Question {
        key: Some(key.to_owned()),
        payload,
        about: serde_json::to_value(about).unwrap_or_default(),
    }
}

/// What a run inside of a call asks, as the call hands it on.
pub(super) fn nested(asked: &Interrupt) -> NestedRequest {
    let has_call = !asked.call_id.is_empty();
    let about = About {
        kind: asked.kind,
        call: has_call.then(|| AboutCall {
            id: asked.call_id.clone(),
            name: asked.tool.clone(),
            arguments: String::new(),
        }),
        through: None,
        nested: None,
        name: None,
    };
    NestedRequest {
        id: asked.id.clone(),
        payload: asked.request.payload.clone(),
        about: serde_json::to_value(about).unwrap_or_default(),
    }
}

/// What a call asks, or a run inside of it.
pub(super) fn questions(call: &ToolCall, request: InterruptRequest) -> Vec<Question> {
    let InterruptRequest {
        payload,
        name,
        nested,
    } = request;
    if nested.is_empty() {
        let about = About {
            name,
            ..About::of_call(InterruptKind::Question, call)
        };
        return vec![question(&call.id, payload, about)];
    }
    let asked = nested.into_iter().map(|asked| {
        let NestedRequest { id, payload, about } = asked;
        let inner = About::read(&about);
        let kind = inner
            .as_ref()
            .map_or(InterruptKind::Question, |about| about.kind);
        let about = About {
            kind,
            call: inner.and_then(|about| about.call),
            through: Some(call.id.to_string()),
            nested: Some(id.clone()),
            name: None,
        };
        question(&format!("{}/{id}", call.id), payload, about)
    });
    asked.collect()
}
