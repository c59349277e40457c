//! Puts an answer together: chunks in, deltas out. Pure.
//!
//! A plain answer is one big chunk, so both forms are read by the same rules. Text is
//! handed out as it comes; calls, token counts and the reason only after the provider said
//! that the answer is over.

use std::collections::{HashSet, VecDeque};

use serde_json::value::RawValue;

use super::chunk::{Chunk, Fragment, Piece};
use crate::message::ToolCall;
use crate::model::reading;
use crate::model::reading::refusal::reported;
use crate::model::{FinishReason, ModelDelta, ModelError, ModelErrorKind, Usage};

/// An answer that is being put together.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    calls: Vec<PartialCall>,
    usage: Option<Usage>,
    finish_reason: Option<String>,
    /// How many bytes of text were handed out.
    said: usize,
    /// True once a choice was seen: before that there is no answer, not even an empty one.
    has_choice: bool,
    is_done: bool,
}

#[derive(Debug, Default)]
struct PartialCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extra: serde_json::Map<String, serde_json::Value>,
}

impl reading::Assembler for Assembler {
    const API: &'static str = "a chat-completions API";

    fn event(&mut self, data: &str, deltas: &mut VecDeque<ModelDelta>) -> Result<(), ModelError> {
        let data = data.trim();
        match data {
            _ if self.is_done => Ok(()),
            // Keep-alives of some gateways; a comment may stand where data should.
            "" | "null" => Ok(()),
            data if data.starts_with(':') => Ok(()),
            "[DONE]" => {
                self.is_done = true;
                self.end(deltas)
            }
            data => self.chunk(data, deltas),
        }
    }

    fn plain(&mut self, body: &str, deltas: &mut VecDeque<ModelDelta>) -> Result<(), ModelError> {
        if body.trim().is_empty() {
            return Err(empty());
        }
        self.chunk(body, deltas)?;
        // The body is whole, so the answer is over even if no reason is given.
        self.is_done = true;
        self.end(deltas)
    }

    fn eof(&mut self, deltas: &mut VecDeque<ModelDelta>) -> Result<(), ModelError> {
        if self.is_done {
            return Ok(());
        }
        if self.finish_reason.is_some() {
            self.is_done = true;
            return self.end(deltas);
        }
        if !self.has_choice {
            return Err(empty());
        }
        Err(ModelError::new(
            ModelErrorKind::StreamTruncated,
            "the stream ended before the model said it was over",
        ))
    }

    fn is_done(&self) -> bool {
        self.is_done
    }

    fn is_finished(&self) -> bool {
        self.finish_reason.is_some()
    }
}

impl Assembler {
    fn chunk(&mut self, text: &str, deltas: &mut VecDeque<ModelDelta>) -> Result<(), ModelError> {
        let text = text.trim();
        // One provider wraps its errors in a list.
        if text.starts_with('[')
            && let Ok([only]) = serde_json::from_str::<[&RawValue; 1]>(text)
        {
            return self.object(only.get(), deltas);
        }
        self.object(text, deltas)
    }

    fn object(&mut self, text: &str, deltas: &mut VecDeque<ModelDelta>) -> Result<(), ModelError> {
        let chunk = match serde_json::from_str::<Chunk<'_>>(text) {
            Ok(chunk) => chunk,
            Err(error) => {
                // A key that stands twice is the one fault a looser reader gets over.
                let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else {
                    return Err(unreadable(error));
                };
                let text = value.to_string();
                let chunk = serde_json::from_str(&text).map_err(unreadable)?;
                return self.read(&chunk, &text, deltas);
            }
        };
        self.read(&chunk, text, deltas)
    }

    fn read(
        &mut self,
        chunk: &Chunk<'_>,
        text: &str,
        deltas: &mut VecDeque<ModelDelta>,
    ) -> Result<(), ModelError> {
        self.usage = chunk.usage().or(self.usage);
        for choice in chunk
            .choices
            .iter()
            .flatten()
            .filter(|choice| choice.is_first())
        {
            self.has_choice = true;
            match (&choice.delta, &choice.message) {
                (Some(piece), _) => self.piece(piece, deltas),
                (None, Some(message)) => self.message(message, deltas),
                (None, None) => {}
            }
            self.finish_reason = choice.finish_reason().or(self.finish_reason.take());
        }
        let says_error = self.finish_reason.as_deref() == Some("error");
        if chunk.error.is_some() || says_error || (!self.has_choice && chunk.choices.is_none()) {
            // Without choices there is an error in one of many shapes, or side news.
            if let Some(error) = reported(text, says_error) {
                return Err(error);
            }
        }
        Ok(())
    }

    fn piece(&mut self, piece: &Piece<'_>, deltas: &mut VecDeque<ModelDelta>) {
        let reasoning = piece.reasoning();
        deltas.extend(Some(reasoning).filter(not_empty).map(ModelDelta::Reasoning));
        self.say(piece.text(), deltas);
        for fragment in piece.fragments() {
            let position = self.position(&fragment);
            self.fragment(position, fragment, deltas);
        }
    }

    /// A whole message: all of a plain answer, or what a stream came to so far.
    fn message(&mut self, message: &Piece<'_>, deltas: &mut VecDeque<ModelDelta>) {
        if self.said == 0 {
            let reasoning = message.reasoning();
            deltas.extend(Some(reasoning).filter(not_empty).map(ModelDelta::Reasoning));
        }
        let text = message.text();
        let new = text.get(self.said..).unwrap_or_default().to_owned();
        self.say(new, deltas);
        for (position, fragment) in message.fragments().into_iter().enumerate() {
            if let Some(call) = self.calls.get_mut(position) {
                // It stands for all that came of it before.
                call.arguments.clear();
            }
            self.fragment(Some(position), fragment, deltas);
        }
    }

    fn say(&mut self, text: String, deltas: &mut VecDeque<ModelDelta>) {
        self.said += text.len();
        deltas.extend(Some(text).filter(not_empty).map(ModelDelta::Text));
    }

    /// Takes a fragment of the call at this position, or of a new one.
    fn fragment(
        &mut self,
        position: Option<usize>,
        fragment: Fragment,
        deltas: &mut VecDeque<ModelDelta>,
    ) {
        let known = position.filter(|position| *position < self.calls.len());
        let position = known.unwrap_or_else(|| {
            self.calls.push(PartialCall {
                index: fragment.index,
                ..PartialCall::default()
            });
            self.calls.len() - 1
        });
        let Some(call) = self.calls.get_mut(position) else {
            return;
        };
        if call.id.is_empty() {
            call.id = fragment.id;
        }
        call.take_name(&fragment.name);
        call.arguments.push_str(&fragment.arguments);
        call.extra.extend(fragment.extra);
        deltas.push_back(ModelDelta::ToolCallFragment {
            index: position,
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: fragment.arguments,
        });
    }

    /// The call a fragment goes on with; `None` if it opens a new one.
    ///
    /// An id that is known goes on with its call and a new one opens one, whatever the index
    /// says: some servers number every call 0. Without an id the index decides, and without
    /// both it is the last call, unless that one is whole and a name comes again.
    fn position(&self, fragment: &Fragment) -> Option<usize> {
        let same_index = |call: &PartialCall| match (call.index, fragment.index) {
            (Some(ours), Some(theirs)) => ours == theirs,
            _ => true,
        };
        let latest = self.calls.iter().rposition(same_index)?;
        let call = self.calls.get(latest)?;
        if fragment.id.is_empty() {
            return (!call.is_whole_before(fragment)).then_some(latest);
        }
        let same_id = |call: &PartialCall| call.id == fragment.id && same_index(call);
        if let Some(known) = self.calls.iter().rposition(same_id) {
            return Some(known);
        }
        // A late id belongs to the call that waits for one, if both have a number. Some servers
        // make up an id for every fragment; what opens a call has a name.
        let waits = call.id.is_empty() && fragment.index.is_some();
        let goes_on = waits || (fragment.name.is_empty() && !fragment.arguments.is_empty());
        (goes_on && !call.is_whole_before(fragment)).then_some(latest)
    }

    /// Hands out what was held back until the end.
    fn end(&mut self, deltas: &mut VecDeque<ModelDelta>) -> Result<(), ModelError> {
        if !self.has_choice {
            return Err(empty());
        }
        let mut ids = HashSet::new();
        let mut has_calls = false;
        for call in std::mem::take(&mut self.calls) {
            if call.name.is_empty() && call.arguments.is_empty() {
                continue;
            }
            let id = match call.id {
                id if id.is_empty() || !ids.insert(id.clone()) => crate::id::next("call"),
                id => id,
            };
            let mut whole = ToolCall::new(id, call.name, call.arguments);
            whole.extra = call.extra;
            has_calls = true;
            deltas.push_back(ModelDelta::ToolCall(whole));
        }
        deltas.extend(self.usage.map(ModelDelta::Usage));
        let reason = finish_reason(self.finish_reason.as_deref().unwrap_or("stop"), has_calls);
        if reason == FinishReason::ToolCalls && !has_calls && self.said == 0 {
            return Err(empty());
        }
        deltas.push_back(ModelDelta::Finished(reason));
        Ok(())
    }
}

impl PartialCall {
    /// A name comes whole, again in every chunk, in pieces, or growing.
    fn take_name(&mut self, name: &str) {
        if name.starts_with(&self.name) {
            name.clone_into(&mut self.name);
        } else if self.arguments.is_empty() && !name.is_empty() {
            self.name.push_str(name);
        }
    }

    /// True if this call is whole and the fragment is the beginning of another.
    ///
    /// The cheap looks come first, so that long arguments are not read again and again.
    fn is_whole_before(&self, fragment: &Fragment) -> bool {
        let opens = match fragment.arguments.trim_start() {
            "" => fragment.name != self.name,
            arguments => arguments.starts_with('{'),
        };
        !fragment.name.is_empty()
            && opens
            && self.arguments.trim_end().ends_with('}')
            && serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }
}

fn finish_reason(word: &str, has_calls: bool) -> FinishReason {
    match &*word.to_ascii_lowercase() {
        "stop" | "end_turn" if has_calls => FinishReason::ToolCalls,
        "stop" | "end_turn" => FinishReason::Stop,
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => FinishReason::ToolCalls,
        "length" | "max_tokens" | "model_length" => FinishReason::Length,
        "content_filter" | "safety" => FinishReason::ContentFilter,
        _ => FinishReason::Other(word.to_owned()),
    }
}

#[expect(clippy::ptr_arg, reason = "`Option::filter` hands out the `String`")]
fn not_empty(text: &String) -> bool {
    !text.is_empty()
}

fn empty() -> ModelError {
    ModelError::new(ModelErrorKind::EmptyResponse, "the answer holds nothing")
}

fn unreadable(error: serde_json::Error) -> ModelError {
    ModelError::new(
        ModelErrorKind::Decode,
        "the answer is not the JSON of a chat completion",
    )
    .with_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reading::Assembler as _;
    use crate::model::{Accumulator, ChatResponse};
    use serde_json::{Value, json};

    fn chunk(delta: &Value) -> String {
        json!({"choices": [{"index": 0, "delta": delta}]}).to_string()
    }

    fn read(chunks: &[String]) -> Result<ChatResponse, ModelError> {
        let mut assembler = Assembler::default();
        let mut deltas = VecDeque::new();
        for chunk in chunks {
            assembler.event(chunk, &mut deltas)?;
            let released = |delta: &ModelDelta| matches!(delta, ModelDelta::ToolCall(_));
            assert!(!deltas.iter().any(released), "a call before the end");
        }
        assembler.event("[DONE]", &mut deltas)?;
        let mut accumulator = Accumulator::new();
        deltas.into_iter().for_each(|delta| accumulator.push(delta));
        accumulator.finish()
    }

    /// The names and arguments of the calls these fragments become.
    fn calls(fragments: &[Value]) -> Vec<(String, String)> {
        let chunks: Vec<String> = fragments
            .iter()
            .map(|fragment| chunk(&json!({"tool_calls": [fragment]})))
            .collect();
        let calls = read(&chunks).unwrap().message.tool_calls;
        let ids: HashSet<&str> = calls.iter().map(|call| &*call.id).collect();
        assert_eq!(ids.len(), calls.len(), "ids meet");
        assert!(!ids.contains(""));
        calls
            .into_iter()
            .map(|call| (call.name, call.arguments))
            .collect()
    }

    fn owned(calls: &[(&str, &str)]) -> Vec<(String, String)> {
        calls
            .iter()
            .map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned()))
            .collect()
    }

    fn function(name: &str, arguments: &str) -> Value {
        json!({"name": name, "arguments": arguments})
    }

    #[test]
    fn fragments_without_id_and_index_go_on_until_a_call_is_whole() {
        let fragments = [
            json!({"function": function("a", "{\"x\"")}),
            json!({"function": function("", ":1}")}),
            json!({"function": function("a", "{\"x\":2}")}),
        ];

        assert_eq!(
            calls(&fragments),
            owned(&[("a", r#"{"x":1}"#), ("a", r#"{"x":2}"#)])
        );
    }

    #[test]
    fn a_late_id_belongs_to_the_call_that_waits_for_one() {
        let fragments = [
            json!({"index": 0, "function": function("a", "{")}),
            json!({"index": 0, "id": "c1", "function": function("", "}")}),
        ];

        assert_eq!(calls(&fragments), owned(&[("a", "{}")]));
    }

    #[test]
    fn two_calls_with_one_id_stay_two() {
        let fragments = [
            json!({"index": 0, "id": "c", "function": function("a", "{}")}),
            json!({"index": 1, "id": "c", "function": function("b", "{}")}),
        ];

        assert_eq!(calls(&fragments), owned(&[("a", "{}"), ("b", "{}")]));
    }

    #[test]
    fn a_name_may_grow() {
        let fragments = [
            json!({"index": 0, "id": "c", "function": function("get_", "")}),
            json!({"index": 0, "id": "c", "function": function("get_time", "{}")}),
        ];

        assert_eq!(calls(&fragments), owned(&[("get_time", "{}")]));
    }

    #[test]
    fn what_is_not_understood_is_read_over() {
        for odd in [
            json!({"tool_calls": {"0": {}}, "content": "ok"}),
            json!({"tool_calls": [null, 7, [], {"function": "x"}, {"index": -1}], "content": "ok"}),
            json!({"content": [{"type": "text", "text": "ok"}, 7, null], "tool_calls": ""}),
            json!({"content": "ok", "reasoning": {"a": 1}, "audio": []}),
        ] {
            let response = read(&[chunk(&odd), r#"{"type":"ping"}"#.to_owned()]).unwrap();
            assert_eq!(response.message.text, "ok", "{odd}");
            assert!(response.message.tool_calls.is_empty(), "{odd}");
        }
    }

    #[test]
    fn a_key_that_stands_twice_does_not_hide_the_text() {
        let twice = r#"{"choices":[{"index":0,"index":0,"delta":{"content":"ok"}}]}"#;

        assert_eq!(read(&[twice.to_owned()]).unwrap().message.text, "ok");
    }

    #[test]
    fn what_is_no_json_is_an_error_without_the_text() {
        let error = read(&["{\"choices\": [secret".to_owned()]).unwrap_err();

        assert_eq!(error.kind(), ModelErrorKind::Decode);
        assert!(!error.to_string().contains("secret"));
    }
}
