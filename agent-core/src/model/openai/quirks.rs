//! In what servers that speak the chat-completions API may differ; in what they do stands in
//! [`servers`](super::servers).
//!
//! A setting that a server has not is left out of its requests and told by
//! [`ChatModel::unsupported`](crate::model::ChatModel::unsupported).

use serde_json::Value;

use crate::model::ChatOptions;
use crate::model::mend::CallIds;
use crate::schema::Dialect;

/// Which values of `tool_choice` are taken, beside `auto` and `none`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Forcing {
    /// `required` and a tool by its name.
    Any,
    /// `required`; a tool by its name is not heeded.
    Required,
    /// A tool by its name.
    Named,
    /// None.
    Never,
    /// None; not even `none` is heeded, so the tools are left out in its place.
    Nothing,
}

/// How a request tells whether the model thinks before it answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thinking {
    /// The field of the request: true or false, or an object with a `type`.
    pub(super) field: &'static str,
    /// True if the model thinks where the field is absent.
    pub(super) is_default: bool,
}

impl Thinking {
    fn is_on(self, options: &ChatOptions) -> bool {
        match options.extra.get(self.field) {
            None => self.is_default,
            Some(Value::Bool(is_on)) => *is_on,
            Some(thinking) => thinking["type"] != "disabled",
        }
    }
}

/// How far a server holds its text to `response_format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Formats {
    /// To a schema.
    Schema,
    /// To a schema, if the model can: it is sent, and not relied on.
    Maybe,
    /// To being a JSON object.
    Object,
}

/// The table of a profile.
#[derive(Debug)]
pub(super) struct Quirks {
    pub(super) name: &'static str,
    /// The provider's name by the OpenTelemetry conventions.
    pub(super) provider: &'static str,
    /// Hosts, or ends of hosts that begin with a dot.
    pub(super) hosts: &'static [&'static str],
    /// The header of the key; `authorization` carries it as a bearer token.
    pub(super) key_header: &'static str,
    /// The field of the token limit.
    pub(super) token_limit: &'static str,
    /// The field of the seed.
    pub(super) seed: Option<&'static str>,
    /// The field in which a message's reasoning is sent back.
    pub(super) reasoning: Option<&'static str>,
    /// True if `reasoning_details` are sent back, in its place.
    pub(super) reasoning_details: bool,
    /// What stands for the reasoning of an answer that has none, as that of another model, where
    /// such an answer is refused.
    pub(super) unreasoned: Option<&'static str>,
    /// What is written for the text of an answer that only calls.
    pub(super) no_text: &'static str,
    /// True if an answer may have text beside calls.
    pub(super) text_beside_calls: bool,
    /// True if fields of a call that are not known are taken.
    pub(super) call_fields: bool,
    /// What stands for the signature of the first call of an answer that has none, as that of
    /// another model.
    pub(super) unsigned: Option<&'static str>,
    pub(super) call_ids: CallIds,
    /// Most characters of a name in a call, where only letters, digits, `_` and `-` are taken.
    pub(super) names: Option<usize>,
    /// True if roles must take turns: system messages in front, then user and assistant, who
    /// also speaks between results and the user, and never last.
    pub(super) takes_turns: bool,
    /// True if only the first message may be of the system.
    pub(super) system_first: bool,
    pub(super) forcing: Forcing,
    /// What tells that the model thinks, where it cannot be made to call then.
    pub(super) thinking: Option<Thinking>,
    /// True if every model gives an answer that is not streamed.
    pub(super) plain: bool,
    /// True if `parallel_tool_calls` is taken.
    pub(super) parallel: bool,
    /// True if a stream tells its usage only when asked to by `stream_options`.
    pub(super) stream_options: bool,
    pub(super) formats: Formats,
    /// The dialect of tools' schemas.
    pub(super) dialect: Dialect,
    /// True if the dialect's limits are known to hold here.
    pub(super) has_limits: bool,
    /// True if it refuses what models refuse only where their maker serves them.
    pub(super) fixes_sampling: bool,
    /// True if this is where a model that reasons takes no tools.
    pub(super) reasons_or_calls: bool,
    /// Where this is written down.
    pub(super) sources: &'static [&'static str],
}

impl Quirks {
    /// Which values of `tool_choice` are taken beside these options.
    pub(super) fn forcing(&self, options: &ChatOptions) -> Forcing {
        match self.thinking {
            Some(thinking) if thinking.is_on(options) => Forcing::Never,
            _ => self.forcing,
        }
    }
}
