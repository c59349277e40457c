//! Answers of a form: what is asked for, how the model is asked, and what becomes of an answer
//! that does not fit.
//!
//! The form is asked for when the tool loop is done, or is a tool of its own, so that it keeps no
//! model from calling tools first.

mod check;
mod final_answer;
mod fits;
mod node;
mod tries;
mod values;

use std::any::type_name;
use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::error::BuildFault;
use crate::message::Message;
use crate::model::{ChatModel, ChatOptions, ChatRequest, OutputSchema, ResponseFormat, ToolChoice};
use crate::schema::{ToolSchema, checked, root};
use crate::tool::{InputSchema, ToolCallback};

pub(super) use check::Check;
pub(super) use final_answer::FinalAnswer;
pub(super) use node::{OUTPUT, OutputNode};
pub(super) use tries::{Tries, turn};

/// The name of the tool by which a model gives its answer.
pub(super) const FINAL_ANSWER: &str = "final_answer";

/// The one property of an answer that is no object.
const ANSWER: &str = "answer";

/// How a model is asked for an answer of a form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OutputMode {
    /// [`Native`](Self::Native) for a model that
    /// [holds a schema](crate::model::ChatModel::holds_json_schema) and an agent without tools,
    /// else [`Tool`](Self::Tool).
    #[default]
    Auto,
    /// The provider holds the text to the schema. With tools, the model first answers as it
    /// likes and is then asked for the form, in one more call, unless the answer fits already. A
    /// model that does not [hold a schema](crate::model::ChatModel::holds_json_schema) is told of
    /// it in words, too.
    Native,
    /// The model calls a tool, `final_answer`, whose arguments are the answer. A call beside
    /// those of other tools is refused, so those run first.
    Tool,
    /// The schema is told in words. With tools, as for [`Native`](Self::Native).
    Prompted,
}

/// What leads to the crate `jsonschema`. An agent without a form has none of these pointers, so its
/// program is linked without that crate.
#[derive(Clone, Copy)]
struct Ways {
    input: fn(Value) -> InputSchema,
    compile: fits::Compile,
}

const WAYS: Ways = Ways {
    input: InputSchema::from_value,
    compile: fits::compile,
};

/// How the model of a run is asked for a form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// Settled: never [`OutputMode::Auto`].
    mode: OutputMode,
    /// True if the form is told in words where no tool tells it.
    is_told: bool,
}

impl Way {
    /// True if the answer is given by a tool.
    pub(super) fn has_tool(self) -> bool {
        self.mode == OutputMode::Tool
    }
}

/// What an agent is told of how its model is asked for a form.
pub(super) struct Asking<'a> {
    pub(super) mode: OutputMode,
    pub(super) retries: u32,
    /// True if the agent has tools of its own.
    pub(super) has_tools: bool,
    pub(super) system_prompt: Option<&'a str>,
}

/// The form that was asked for.
pub(super) struct OutputSpec {
    name: String,
    schema: Value,
    read: Option<check::Read>,
    ways: Ways,
}

impl OutputSpec {
    pub(super) fn of_type<T: ToolSchema + DeserializeOwned>() -> Self {
        let path = type_name::<T>();
        let name = path
            .split('<')
            .next()
            .and_then(|path| path.rsplit("::").next());
        Self {
            name: name.unwrap_or(path).to_owned(),
            schema: root(&T::SCHEMA),
            read: Some(|text| serde_json::from_str::<T>(text).map(drop)),
            ways: WAYS,
        }
    }

    pub(super) fn of_schema(schema: Value) -> Self {
        let title = schema.get("title").and_then(Value::as_str);
        Self {
            name: title.unwrap_or("output").to_owned(),
            schema,
            read: None,
            ways: WAYS,
        }
    }

    /// Checks the schema.
    pub(super) fn build(self, asking: &Asking<'_>) -> Result<Output, BuildFault> {
        let is_object = self.schema.get("type").and_then(Value::as_str) == Some("object");
        let schema = match is_object {
            true => self.schema,
            false => wrapped(self.schema),
        };
        let schema = checked(schema).map_err(BuildFault::Output)?;
        let check = Check::new(
            !is_object,
            self.read,
            (self.ways.compile)(&schema).map_err(BuildFault::Output)?,
        );
        let in_words = in_words(&schema);
        let system = asking.system_prompt.map(|text| text.to_owned() + "\n\n");
        Ok(Output {
            mode: asking.mode,
            has_tools: asking.has_tools,
            prompt: Message::system(system.unwrap_or_default() + &in_words),
            in_words,
            schema: OutputSchema::new(&self.name, schema),
            check: Arc::new(check),
            retries: asking.retries,
            input: self.ways.input,
        })
    }
}

impl fmt::Debug for OutputSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OutputSpec").field(&self.name).finish()
    }
}

/// The schema as the one property of an object: no provider takes another root.
fn wrapped(mut schema: Value) -> Value {
    let definitions = schema.as_object_mut().and_then(|it| it.remove("$defs"));
    let mut whole = json!({
        "type": "object",
        "properties": {ANSWER: schema},
        "required": [ANSWER],
        "additionalProperties": false,
    });
    if let (Some(definitions), Some(members)) = (definitions, whole.as_object_mut()) {
        members.insert("$defs".to_owned(), definitions);
    }
    whole
}

/// The form of an agent's answers.
pub(super) struct Output {
    mode: OutputMode,
    /// True if the agent has tools of its own.
    has_tools: bool,
    schema: OutputSchema,
    /// What the model is told if nothing but words can ask.
    in_words: String,
    /// The same behind the system prompt.
    prompt: Message,
    pub(super) check: Arc<Check>,
    /// How many answers that do not fit are asked for again.
    pub(super) retries: u32,
    input: fn(Value) -> InputSchema,
}

impl Output {
    /// How a model is asked that holds its text to a schema, or does not.
    pub(super) fn way(&self, holds_schema: bool) -> Way {
        let mode = match self.mode {
            OutputMode::Auto if holds_schema && !self.has_tools => OutputMode::Native,
            OutputMode::Auto => OutputMode::Tool,
            mode => mode,
        };
        Way {
            mode,
            is_told: mode == OutputMode::Prompted || !holds_schema,
        }
    }

    /// The tool by which the answer is given, where it is.
    pub(super) fn tool(&self) -> Arc<dyn ToolCallback> {
        Arc::new(FinalAnswer::new(self))
    }

    /// The member of what the model writes that the answer is; `None` for all of it.
    pub(super) fn member(&self) -> Option<&'static str> {
        self.check.is_wrapped.then_some(ANSWER)
    }

    /// Asks for the form, if it is time. `is_asked` once the model was told so.
    pub(super) fn ask(&self, way: Way, request: ChatRequest, is_asked: bool) -> ChatRequest {
        let tools = request.tools().definitions();
        let others = tools.iter().any(|tool| tool.name() != FINAL_ANSWER);
        if others && !is_asked {
            return request;
        }
        let choice = match (way.mode, tools.is_empty()) {
            (_, true) => None,
            // Alone it needs no name, which not every provider takes.
            (OutputMode::Tool, false) if !others => Some(ToolChoice::Required),
            (OutputMode::Tool, false) => Some(ToolChoice::Named(FINAL_ANSWER.to_owned())),
            (_, false) => Some(ToolChoice::None),
        };
        let mut options = request.options().clone();
        // Before the form is asked for, a choice of the user's own comes first.
        if let Some(choice) = choice.filter(|_| is_asked || options.tool_choice.is_none()) {
            options = options.merged(&ChatOptions::new().tool_choice(choice));
        }
        let has_tool = way.has_tool() && !tools.is_empty();
        let format = || ResponseFormat::JsonSchema(self.schema.clone());
        let request = match way.is_told && !has_tool && !is_asked {
            true => request.with_system(Some(self.prompt.clone())),
            false => request,
        };
        let request = match way.mode {
            _ if has_tool => request,
            OutputMode::Prompted => request,
            _ => request.with_response_format(Some(format())),
        };
        request.with_options(options)
    }
}

/// The form, as a model is told of it that is not held to it.
fn in_words(schema: &Value) -> String {
    format!(
        "Answer with JSON only, without any other text. It must fit this JSON Schema:\n{schema}"
    )
}

/// The request as this model gets it: with its form in words, if it is not held to it and was not
/// told yet, as where another model is asked than the run's own.
pub(super) fn told_to(model: &dyn ChatModel, request: ChatRequest) -> ChatRequest {
    let Some(ResponseFormat::JsonSchema(output)) = request.response_format() else {
        return request;
    };
    if model.holds_json_schema(request.options()) {
        return request;
    }
    let words = in_words(output.schema());
    let last = request.transcript().messages().last();
    if last.is_some_and(|message| message.text().contains(&words)) {
        return request;
    }
    let before = request.system().map(Message::text).unwrap_or_default();
    let text = match &*before {
        told if told.contains(&words) => return request,
        "" => words,
        before => format!("{before}\n\n{words}"),
    };
    request.with_system(Some(Message::system(text)))
}

/// Why an answer is none of the form that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer does not fit its schema: {fault}")]
#[non_exhaustive]
pub struct OutputError {
    /// What is wrong with it.
    pub fault: String,
    /// The last answer, as the model gave it.
    pub answer: String,
}
