//! What a model is asked. Belongs to no provider.

use std::fmt;
use std::sync::{Arc, LazyLock};

use super::{ChatOptions, ModelError, ModelErrorKind, ResponseFormat, ToolChoice};
use crate::message::{Message, Transcript, TranscriptError};
use crate::schema::{Dialect, DialectSchema, Sent, plan};
use crate::tool::ToolDefinition;
use crate::wire_cache::WireCache;

/// The tools a request offers: shared, and written for each provider once.
#[derive(Clone, Default)]
pub struct ToolList(Arc<Inner>);

#[derive(Default)]
struct Inner {
    definitions: Vec<ToolDefinition>,
    wire: WireCache,
}

impl ToolList {
    /// The tools in the order they are sent.
    pub fn new(definitions: impl IntoIterator<Item = ToolDefinition>) -> Self {
        Self(Arc::new(Inner {
            definitions: definitions.into_iter().collect(),
            wire: WireCache::default(),
        }))
    }

    /// The definitions.
    #[must_use]
    pub fn definitions(&self) -> &[ToolDefinition] {
        &self.0.definitions
    }

    /// True if these are the same tools, as far as their names tell.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let names = self.definitions().iter().map(ToolDefinition::name);
        let others = other.definitions().iter().map(ToolDefinition::name);
        Arc::ptr_eq(&self.0, &other.0) || names.eq(others)
    }

    /// The definitions in order, each with its input as a provider takes it. In a strict dialect
    /// the first tools that can be are strict, as many as the provider takes in one request.
    #[must_use]
    pub fn in_dialect(&self, dialect: Dialect) -> Vec<(&ToolDefinition, &DialectSchema)> {
        let definitions = self.definitions();
        let written = definitions
            .iter()
            .map(|it| it.input_schema().in_dialect(dialect));
        let sent = plan(dialect, written);
        let schema = |(definition, sent): (_, &Sent)| {
            let definition: &ToolDefinition = definition;
            let dialect = match sent {
                Sent::AsWritten => dialect,
                Sent::Lenient { .. } => dialect.lenient(),
            };
            (definition, definition.input_schema().in_dialect(dialect))
        };
        definitions.iter().zip(&sent).map(schema).collect()
    }

    /// The wire text for a wire format in a dialect, made once and shared with every clone.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(crate) fn wire(
        &self,
        format: &'static str,
        dialect: Dialect,
        make: impl FnOnce(&[(&ToolDefinition, &DialectSchema)]) -> String,
    ) -> &Arc<str> {
        self.0
            .wire
            .get_or_make([format, dialect.name()], || make(&self.in_dialect(dialect)))
    }
}

impl fmt::Debug for ToolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.definitions.iter().map(ToolDefinition::name))
            .finish()
    }
}

static NO_OPTIONS: LazyLock<Arc<ChatOptions>> = LazyLock::new(Arc::default);

/// A request to a model. It can only be built from a closed transcript.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    system: Option<Message>,
    transcript: Transcript,
    tools: ToolList,
    options: Arc<ChatOptions>,
    response_format: Option<ResponseFormat>,
}

impl ChatRequest {
    /// A request with this history.
    ///
    /// # Errors
    ///
    /// [`TranscriptError::OpenCalls`] if a tool call has no result yet.
    pub fn new(transcript: Transcript) -> Result<Self, TranscriptError> {
        if !transcript.is_closed() {
            return Err(TranscriptError::OpenCalls {
                call_ids: transcript
                    .open_calls()
                    .map(|call| call.id.to_string())
                    .collect(),
            });
        }
        Ok(Self {
            system: None,
            transcript,
            tools: ToolList::default(),
            options: Arc::clone(&NO_OPTIONS),
            response_format: None,
        })
    }

    /// Puts a system message in front of the history.
    #[must_use]
    pub fn with_system(mut self, system: Option<Message>) -> Self {
        self.system = system;
        self
    }

    /// Offers these tools.
    #[must_use]
    pub fn with_tools(mut self, tools: ToolList) -> Self {
        self.tools = tools;
        self
    }

    /// Sets the options.
    #[must_use]
    pub fn with_options(mut self, options: ChatOptions) -> Self {
        self.options = Arc::new(options);
        self
    }

    /// As [`with_options`](Self::with_options), without a copy for each request of a run.
    pub(crate) fn with_shared_options(mut self, options: Arc<ChatOptions>) -> Self {
        self.options = options;
        self
    }

    /// Asks for text of this form, where the provider can hold it.
    #[must_use]
    pub fn with_response_format(mut self, format: Option<ResponseFormat>) -> Self {
        self.response_format = format;
        self
    }

    /// The history, without the system prompt.
    #[must_use]
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The same request for another history, for example a shorter one.
    ///
    /// # Errors
    ///
    /// [`TranscriptError::OpenCalls`] if a tool call of it has no result.
    pub fn with_transcript(self, transcript: Transcript) -> Result<Self, TranscriptError> {
        Ok(Self {
            transcript: Self::new(transcript)?.transcript,
            ..self
        })
    }

    /// All messages in the order they are sent, the system message first.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Message> {
        self.system.iter().chain(self.transcript.messages())
    }

    /// The system message in front.
    pub(crate) fn system(&self) -> Option<&Message> {
        self.system.as_ref()
    }

    /// The tools on offer.
    #[must_use]
    pub fn tools(&self) -> &ToolList {
        &self.tools
    }

    /// The settings.
    #[must_use]
    pub fn options(&self) -> &ChatOptions {
        &self.options
    }

    /// Checks that the tool that must be called is one of those on offer.
    #[allow(dead_code, reason = "only model clients use it, and they are features")]
    pub(super) fn check_choice(&self) -> Result<(), ModelError> {
        let Some(ToolChoice::Named(name)) = &self.options.tool_choice else {
            return Ok(());
        };
        let mut tools = self.tools.definitions().iter();
        if tools.any(|tool| tool.name() == name) {
            return Ok(());
        }
        let message = format!("the tool choice is `{name}`, which is none of the tools on offer");
        Err(ModelError::new(ModelErrorKind::Configuration, message))
    }

    /// The form the reply's text must have.
    #[must_use]
    pub fn response_format(&self) -> Option<&ResponseFormat> {
        self.response_format.as_ref()
    }

    /// The text of the last tool result; empty if there is none.
    #[must_use]
    pub fn last_tool_result(&self) -> String {
        self.messages()
            .rev()
            .find_map(|message| message.tool_results().last())
            .map(crate::message::ToolResult::text)
            .unwrap_or_default()
    }
}
