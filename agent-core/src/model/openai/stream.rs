//! Puts an answer together: chunks in, deltas out. Pure.
//!
//! A plain answer is one big chunk, so both forms are read by the same rules. Text is
//! handed out as it comes; calls, token counts and the reason only after the provider said
//! that the answer is over.

use super::calls::Calls;
use super::chunk::{Choice, Chunk, Head, Said};
use super::details::Details;
use super::piece::Piece;
use super::thoughts::Thoughts;
use crate::model::reading;
use crate::model::reading::cut::Seam;
use crate::model::reading::ending;
use crate::model::reading::ready::Ready;
use crate::model::reading::report::reported;
use crate::model::{FinishReason, ModelDelta, ModelError, ModelErrorKind, Usage};

/// An answer that is being put together.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    head: Head,
    calls: Calls,
    details: Details,
    thoughts: Thoughts,
    usage: Option<Usage>,
    finish_reason: Option<String>,
    reasons: Reasons,
    /// Between the pieces of the text and of the reasoning.
    spoken: Seam,
    thought: Seam,
    /// How many bytes of text were handed out, and of reasoning.
    said: usize,
    reasoned: usize,
    /// True if the reasoning stands in its structured form alone.
    only_details: bool,
    /// True if the answer came in one piece: nobody watches it being written.
    is_plain: bool,
    /// True once a choice was seen: before that there is no answer, not even an empty one.
    has_choice: bool,
    /// True once it has more parts than it may have.
    has_too_many: bool,
    is_done: bool,
}

/// Where the reason was given so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Reasons {
    #[default]
    Nowhere,
    /// Wherever something was said: gateways of Gemini give one with each piece.
    /// <https://github.com/BerriAI/litellm/issues/2195>
    BesideWords,
    /// Something was said without one, so that the one that comes is the end.
    Behind,
}

impl reading::Assembler for Assembler {
    const API: &'static str = "a chat-completions API";

    fn event(&mut self, data: &str, ready: &mut Ready) -> Result<(), ModelError> {
        match data {
            _ if self.is_done => Ok(()),
            "[DONE]" => {
                self.is_done = true;
                self.end(ready)
            }
            data => self.chunk(data, ready),
        }
    }

    fn plain(&mut self, body: &str, ready: &mut Ready) -> Result<(), ModelError> {
        if body.trim().is_empty() {
            return Err(empty());
        }
        self.is_plain = true;
        self.chunk(body.trim(), ready).map_err(reading::cut_off)?;
        if !self.has_choice {
            return Err(ModelError::new(
                ModelErrorKind::EmptyResponse,
                "the answer holds no choice; is the base URL that of a chat-completions API?",
            ));
        }
        // The body is whole, so the answer is over even if no reason is given.
        self.is_done = true;
        self.end(ready)
    }

    fn eof(&mut self, ready: &mut Ready) -> Result<(), ModelError> {
        if self.is_done {
            return Ok(());
        }
        if self.finish_reason.is_some() {
            self.is_done = true;
            return self.end(ready);
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

    fn may_go_on(&self) -> bool {
        self.reasons == Reasons::BesideWords
    }
}

impl Assembler {
    fn chunk(&mut self, text: &str, ready: &mut Ready) -> Result<(), ModelError> {
        let before = ready.mark();
        let mut head = std::mem::take(&mut self.head);
        let chunk = Chunk::read(text, &mut head, &mut |choice| self.choice(choice, ready));
        self.head = head;
        let chunk = chunk.map_err(|error| {
            ready.back_to(before);
            unreadable(error.why(text))
        })?;
        let parts = self.calls.parts().max(self.details.parts());
        if self.has_too_many || parts > reading::MAX_PARTS {
            return Err(reading::too_many_parts());
        }
        // Some servers hold the place of the counts with zeros.
        // https://github.com/router-for-me/CLIProxyAPI/issues/4053
        let counts = |usage: &Usage| usage.total_tokens > 0;
        self.usage = chunk
            .usage()
            .filter(counts)
            .or(self.usage)
            .or(chunk.usage());
        let word = self.finish_reason.as_deref();
        let broken_off = word.filter(|word| ending::is_broken_off(word));
        if chunk.has_error || broken_off.is_some() || !chunk.has_choices {
            // Without choices there is an error in one of many shapes, or side news.
            if let Some(error) = reported(text).or_else(|| broken_off.map(ending::broken_off)) {
                return Err(error);
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: &mut Choice<'_>, ready: &mut Ready) {
        self.has_choice = true;
        self.has_too_many |= choice.piece.has_too_many;
        let has_reason = match choice.finish_reason() {
            Some(reason) => {
                self.finish_reason = Some(reason.to_owned());
                true
            }
            None => false,
        };
        let before = self.length();
        match choice.said {
            Said::More => self.piece(&mut choice.piece, ready),
            Said::Whole => self.message(&mut choice.piece, ready),
            Said::Nothing => {}
        }
        if self.length() > before && self.reasons != Reasons::Behind {
            self.reasons = match has_reason {
                true => Reasons::BesideWords,
                false => Reasons::Behind,
            };
        }
    }

    /// How much there is so far.
    fn length(&self) -> usize {
        self.said + self.reasoned + self.calls.parts()
    }

    fn piece(&mut self, piece: &mut Piece<'_>, ready: &mut Ready) {
        let reasoning = piece.reasoning();
        self.thought.mend(reasoning);
        self.think(&reasoning.text, ready);
        if let Some(said) = self.details(&piece.reasoning_details) {
            self.think(&said, ready);
        }
        let is_thought = piece.is_thought;
        let text = piece.text();
        self.spoken.mend(text);
        self.part(&text.text, is_thought, ready);
        for (position, fragment) in piece.fragments().enumerate() {
            if let Some((place, call)) = self.calls.take(fragment, position > 0) {
                ready.fragment(place, (&call.id, &call.name), &fragment.arguments.text);
            }
        }
    }

    /// A whole message: all of a plain answer, or what a stream came to so far.
    fn message(&mut self, message: &mut Piece<'_>, ready: &mut Ready) {
        let reasoning = message.reasoning();
        self.thought = Seam::default();
        self.thought.mend(reasoning);
        let new = reasoning.text.get(self.reasoned..).unwrap_or_default();
        self.think(new, ready);
        if !message.reasoning_details.is_empty() {
            self.details = Details::default();
            if let Some(said) = self.details(&message.reasoning_details) {
                self.think(said.get(self.reasoned..).unwrap_or_default(), ready);
            }
        }
        let is_thought = message.is_thought && self.is_plain;
        let text = message.text();
        self.spoken = Seam::default();
        self.spoken.mend(text);
        let new = text.text.get(self.said..).unwrap_or_default();
        self.part(new, is_thought, ready);
        for (place, fragment) in message.fragments().enumerate() {
            if self.is_plain {
                self.calls.whole(place, fragment);
            } else if let Some((place, call)) = self.calls.replace(place, fragment) {
                ready.fragment(place, (&call.id, &call.name), &fragment.arguments.text);
            }
        }
    }

    /// Takes the structured form of the reasoning in, and gives what it says where there is no
    /// other, as with <https://platform.minimax.io/docs/api-reference/text-openai-api>.
    fn details(&mut self, details: &[&str]) -> Option<String> {
        let said = details
            .iter()
            .filter_map(|detail| self.details.take(detail));
        let said: String = said.collect();
        self.only_details |= self.reasoned == 0 && !said.is_empty();
        self.only_details.then_some(said)
    }

    /// Says what is text of this piece, and thinks what is thought.
    fn part(&mut self, text: &str, is_thought: bool, ready: &mut Ready) {
        if text.is_empty() {
            return;
        }
        match self.thoughts.part(text, is_thought) {
            None => self.say(text, ready),
            Some((thought, said)) => {
                self.think(&thought, ready);
                self.say(&said, ready);
            }
        }
    }

    fn say(&mut self, text: &str, ready: &mut Ready) {
        self.said += text.len();
        ready.say(text);
    }

    fn think(&mut self, text: &str, ready: &mut Ready) {
        self.reasoned += text.len();
        ready.think(text);
    }

    /// Hands out what was held back until the end.
    fn end(&mut self, ready: &mut Ready) -> Result<(), ModelError> {
        if !self.has_choice {
            return Err(empty());
        }
        ready.think(self.thought.end());
        ready.think(&self.thoughts.end());
        let spoken = self.spoken.end();
        self.say(spoken, ready);
        if let Some(details) = self.details.end() {
            ready.push(ModelDelta::Opaque(details));
        }
        let word = self.finish_reason.as_deref();
        if let Some(error) = word.and_then(ending::malformed) {
            return Err(error);
        }
        let cut = ending::is_cut(&ending::finish_reason(word, false));
        let calls = self.calls.end(cut);
        let has_calls = calls.len() > 0;
        let reason = ending::finish_reason(word, has_calls);
        ready.extend(calls.map(ModelDelta::ToolCall));
        if let Some(usage) = self.usage {
            ready.push(ModelDelta::Usage(usage));
        }
        if reason == FinishReason::ToolCalls && !has_calls && self.said == 0 {
            return Err(empty());
        }
        ready.push(ModelDelta::Finished(reason));
        Ok(())
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
