//! Puts an answer together: chunks in, deltas out. Pure.
//!
//! A plain answer is one big chunk, so both forms are read by the same rules. Text is
//! handed out as it comes; calls, token counts and the reason only after the provider said
//! that the answer is over.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::value::RawValue;

use super::calls::{Calls, PartialCall};
use super::chunk::{Choice, Chunk, Piece};
use super::details::Details;
use crate::model::reading;
use crate::model::reading::loose::without_lone_surrogates;
use crate::model::reading::refusal::reported;
use crate::model::{FinishReason, ModelDelta, ModelError, ModelErrorKind, Usage};

/// An answer that is being put together.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    calls: Calls,
    details: Details,
    usage: Option<Usage>,
    finish_reason: Option<String>,
    /// How many bytes of text were handed out.
    said: usize,
    /// True if the answer came in one piece: nobody watches it being written.
    is_plain: bool,
    /// True once a choice was seen: before that there is no answer, not even an empty one.
    has_choice: bool,
    is_done: bool,
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
        self.is_plain = true;
        self.chunk(body, deltas).map_err(reading::cut_off)?;
        if !self.has_choice {
            return Err(ModelError::new(
                ModelErrorKind::EmptyResponse,
                "the answer holds no choice; is the base URL that of a chat-completions API?",
            ));
        }
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
        let error = match serde_json::from_str(text) {
            Ok(chunk) => return self.read(chunk, text, deltas),
            Err(error) => error,
        };
        // A character that was cut in half, or a key that stands twice: a looser reader gets over
        // both.
        let whole = without_lone_surrogates(text);
        let text = whole.as_deref().unwrap_or(text);
        let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else {
            return Err(unreadable(error));
        };
        let text = value.to_string();
        let chunk = serde_json::from_str(&text).map_err(unreadable)?;
        self.read(chunk, &text, deltas)
    }

    fn read(
        &mut self,
        chunk: Chunk<'_>,
        text: &str,
        deltas: &mut VecDeque<ModelDelta>,
    ) -> Result<(), ModelError> {
        self.usage = chunk.usage().or(self.usage);
        let has_choices = chunk.choices.is_some();
        let mut has_error = chunk.error.is_some();
        let choices = chunk.choices.into_iter().flatten();
        for choice in choices.filter(Choice::is_first) {
            self.has_choice = true;
            has_error |= choice.error.is_some();
            if let Some(reason) = choice.finish_reason() {
                self.finish_reason = Some(reason.to_owned());
            }
            match (choice.delta, choice.message) {
                (Some(piece), _) => self.piece(piece, deltas),
                (None, Some(message)) => self.message(message, deltas),
                (None, None) => {}
            }
        }
        let says_error = self.finish_reason.as_deref() == Some("error");
        if has_error || says_error || !has_choices {
            // Without choices there is an error in one of many shapes, or side news.
            if let Some(error) = reported(text, says_error) {
                return Err(error);
            }
        }
        Ok(())
    }

    fn piece(&mut self, piece: Piece<'_>, deltas: &mut VecDeque<ModelDelta>) {
        think(piece.reasoning(), deltas);
        for detail in piece.reasoning_details() {
            self.details.take(detail);
        }
        self.say(piece.text(), deltas);
        for (position, mut fragment) in piece.into_fragments().enumerate() {
            let arguments = std::mem::take(&mut fragment.arguments).into_owned();
            fragment.arguments = Cow::Borrowed(&arguments);
            let taken = self.calls.take(fragment, position > 0);
            deltas.extend(told(taken, arguments));
        }
    }

    /// A whole message: all of a plain answer, or what a stream came to so far.
    fn message(&mut self, message: Piece<'_>, deltas: &mut VecDeque<ModelDelta>) {
        if self.said == 0 {
            think(message.reasoning(), deltas);
        }
        if !message.reasoning_details().is_empty() {
            self.details = Details::default();
            for detail in message.reasoning_details() {
                self.details.take(detail);
            }
        }
        let new = message.text().get(self.said..).unwrap_or_default();
        self.say(new, deltas);
        for (place, mut fragment) in message.into_fragments().enumerate() {
            if self.is_plain {
                self.calls.replace(place, fragment);
                continue;
            }
            let arguments = std::mem::take(&mut fragment.arguments).into_owned();
            fragment.arguments = Cow::Borrowed(&arguments);
            let taken = self.calls.replace(place, fragment);
            deltas.extend(told(taken, arguments));
        }
    }

    fn say(&mut self, text: &str, deltas: &mut VecDeque<ModelDelta>) {
        self.said += text.len();
        if !text.is_empty() {
            deltas.push_back(ModelDelta::Text(text.to_owned()));
        }
    }

    /// Hands out what was held back until the end.
    fn end(&mut self, deltas: &mut VecDeque<ModelDelta>) -> Result<(), ModelError> {
        if !self.has_choice {
            return Err(empty());
        }
        deltas.extend(self.details.end().map(ModelDelta::Opaque));
        let word = self.finish_reason.as_deref().unwrap_or("stop");
        let is_cut = finish_reason(word, false).cuts_off();
        let before = deltas.len();
        deltas.extend(self.calls.end(is_cut).map(ModelDelta::ToolCall));
        let has_calls = deltas.len() > before;
        deltas.extend(self.usage.map(ModelDelta::Usage));
        let reason = finish_reason(word, has_calls);
        if reason == FinishReason::ToolCalls && !has_calls && self.said == 0 {
            return Err(empty());
        }
        deltas.push_back(ModelDelta::Finished(reason));
        Ok(())
    }
}

fn think(reasoning: &str, deltas: &mut VecDeque<ModelDelta>) {
    if !reasoning.is_empty() {
        deltas.push_back(ModelDelta::Reasoning(reasoning.to_owned()));
    }
}

/// What watchers are told of a piece of a call.
fn told(taken: Option<(usize, &PartialCall)>, arguments: String) -> Option<ModelDelta> {
    let (index, call) = taken?;
    Some(ModelDelta::ToolCallFragment {
        index,
        id: call.id.clone(),
        name: call.name.clone(),
        arguments,
    })
}

fn finish_reason(word: &str, has_calls: bool) -> FinishReason {
    let is = |words: &[&str]| words.iter().any(|other| other.eq_ignore_ascii_case(word));
    if is(&["tool_calls", "tool_call", "tool_use", "function_call"]) {
        FinishReason::ToolCalls
    } else if is(&["stop", "end_turn"]) {
        match has_calls {
            true => FinishReason::ToolCalls,
            false => FinishReason::Stop,
        }
    } else if is(&["length", "max_tokens", "model_length"]) {
        FinishReason::Length
    } else if is(&["content_filter", "safety"]) {
        FinishReason::ContentFilter
    } else {
        FinishReason::Other(word.to_owned())
    }
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
    use std::collections::HashSet;

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
