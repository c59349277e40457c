//! A model that tries every tool once, with arguments made from their schemas.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};

use super::scripted::{Answer, CallIds, Turn, fails, says};
use super::{
    ChatModel, ChatOptions, ChatRequest, ChatResponse, ModelDelta, ModelError, ModelErrorKind,
    ResponseFormat, ToolChoice,
};
use crate::boxed::{BoxFuture, BoxStream};
use crate::message::Role;
use crate::schema::{Chance, sample};
use crate::tool::ToolDefinition;

/// A model that calls the tools it is offered and then answers: a first test of an agent,
/// without a script.
///
/// To a message of the user it calls each tool once, all in one reply, with arguments that the
/// tool's schema accepts. Once there are results it answers with them, as a JSON object by the
/// tools' names; or, where the request asks for a form, with a value that fits it. A
/// [tool choice](ToolChoice) is kept. What it writes depends on the request and
/// the seed alone; only the ids of calls go on over all requests. Clones share them.
///
/// ```
/// use agent_core::model::TestModel;
/// use agent_core::{ReactAgent, tool, tools};
///
/// #[tool]
/// async fn double(#[param(minimum = 1, maximum = 9)] number: u8) -> u8 {
///     2 * number
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = ReactAgent::builder("assistant", TestModel::new().seed(3))
///     .tools(tools![double])
///     .build()?;
///
/// let output = agent.run("Go.").await?;
/// let answer: serde_json::Value = output.parse()?;
/// assert!(answer["double"].as_u64().is_some_and(|number| number % 2 == 0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct TestModel {
    seed: u64,
    only: Option<Vec<String>>,
    arguments: HashMap<String, Value>,
    text: Option<String>,
    ids: Arc<Mutex<CallIds>>,
}

impl TestModel {
    /// Calls every tool, with the arguments of seed 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Other arguments, for each seed the same ones. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Calls only these of the tools it is offered, in this order. Default: all.
    pub fn only<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> Self {
        self.only = Some(tools.into_iter().map(Into::into).collect());
        self
    }

    /// Calls this tool with these arguments, for one whose schema says more than is understood
    /// here. Default: what the schema accepts, by chance.
    pub fn arguments(mut self, tool: impl Into<String>, arguments: Value) -> Self {
        self.arguments.insert(tool.into(), arguments);
        self
    }

    /// Answers with this text. Default: the results, as JSON.
    pub fn answer(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    fn reply(&self, request: &ChatRequest) -> Answer {
        let turn = self.turn(request).unwrap_or_else(fails);
        Answer::new(
            turn,
            &mut self.ids.lock().unwrap_or_else(PoisonError::into_inner),
        )
    }

    fn turn(&self, request: &ChatRequest) -> Result<Turn, ModelError> {
        let results = results(request);
        let choice = request.options().tool_choice.as_ref();
        let wanted = match choice {
            Some(ToolChoice::None) => Vec::new(),
            Some(ToolChoice::Named(name)) => self.offered(request, |it| it == name),
            Some(ToolChoice::Required) => self.wanted(request),
            _ if results.is_empty() => self.wanted(request),
            _ => Vec::new(),
        };
        if wanted.is_empty() {
            return Ok(says(self.text(request, results)?));
        }
        let mut turn = Turn::default();
        for tool in wanted {
            let arguments = self.arguments_of(tool, request)?;
            turn = turn.and_calls(tool.name(), arguments);
        }
        Ok(turn)
    }

    /// The answer; text that fits where a form is asked for.
    fn text(
        &self,
        request: &ChatRequest,
        results: Vec<(String, String)>,
    ) -> Result<String, ModelError> {
        match (&self.text, request.response_format()) {
            (Some(text), _) => Ok(text.clone()),
            (None, Some(ResponseFormat::JsonSchema(output))) => {
                let name = output.name();
                let made = sample(output.schema(), &mut self.chance(name, request));
                let made = made.ok_or_else(|| unmade(&format!("output `{name}`")))?;
                Ok(made.to_string())
            }
            (None, _) => Ok(text(results)),
        }
    }

    fn wanted<'a>(&self, request: &'a ChatRequest) -> Vec<&'a ToolDefinition> {
        match &self.only {
            None => self.offered(request, |_| true),
            Some(names) => {
                let of_name = |name| self.offered(request, |it| it == name);
                names.iter().flat_map(of_name).collect()
            }
        }
    }

    fn offered<'a>(
        &self,
        request: &'a ChatRequest,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<&'a ToolDefinition> {
        let tools = request.tools().definitions().iter();
        tools.filter(|tool| is_wanted(tool.name())).collect()
    }

    fn arguments_of(
        &self,
        tool: &ToolDefinition,
        request: &ChatRequest,
    ) -> Result<Value, ModelError> {
        let name = tool.name();
        if let Some(arguments) = self.arguments.get(name) {
            return Ok(arguments.clone());
        }
        let mut chance = self.chance(name, request);
        sample(&tool.input_schema().value(), &mut chance)
            .ok_or_else(|| unmade(&format!("tool `{name}`")))
    }

    /// The same for one seed, thing and length of the history.
    fn chance(&self, of: &str, request: &ChatRequest) -> Chance {
        let mixed = of.bytes().fold(self.seed, |mixed, byte| {
            mixed.wrapping_mul(31).wrapping_add(byte.into())
        });
        Chance::new(mixed.wrapping_add((request.messages().count() as u64) << 32))
    }
}

fn unmade(of: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Configuration,
        format!("no value was found that the schema of {of} accepts; give one by hand"),
    )
}

/// The results since the user spoke last.
fn results(request: &ChatRequest) -> Vec<(String, String)> {
    let mut results: Vec<_> = request
        .messages()
        .rev()
        .take_while(|message| message.role() != Role::User)
        .flat_map(|message| message.tool_results().iter().rev())
        .map(|result| (result.name.to_string(), result.text()))
        .collect();
    results.reverse();
    results
}

fn text(results: Vec<(String, String)>) -> String {
    if results.is_empty() {
        return "Done.".to_owned();
    }
    let read = |text: String| serde_json::from_str(&text).unwrap_or(Value::String(text));
    let members: Map<String, Value> = results
        .into_iter()
        .map(|(name, text)| (name, read(text)))
        .collect();
    Value::Object(members).to_string()
}

impl ChatModel for TestModel {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        self.reply(&request).stream()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        self.reply(&request).chat()
    }

    fn name(&self) -> &str {
        "test"
    }

    fn holds_json_schema(&self, _options: &ChatOptions) -> bool {
        true
    }

    fn provider(&self) -> &str {
        "test"
    }
}

impl fmt::Debug for TestModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestModel")
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
