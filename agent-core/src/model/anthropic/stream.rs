//! Puts an answer together: events in, deltas out. Pure.
//!
//! A plain answer is read as the events it would have been, so both forms are read by the
//! same rules. What is no text, reasoning or call of a known kind is kept as it came if it can
//! be kept whole, and read over if it cannot.

use std::collections::HashSet;

use serde_json::json;

use super::blocks::{Blocks, Kind, Open};
use super::event::{Counts, Event, Message, Part};
use super::{API, PROVIDER};
use crate::message::{OpaquePart, ToolCall};
use crate::model::reading;
use crate::model::reading::cut::Seam;
use crate::model::reading::ending;
use crate::model::reading::json::{Json, NotJson};
use crate::model::reading::ready::Ready;
use crate::model::reading::refusal::reported;
use crate::model::{FinishReason, ModelDelta, ModelError, ModelErrorKind};

/// An answer that is being put together.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    /// The id of the message.
    id: String,
    blocks: Blocks,
    calls: Vec<PartialCall>,
    /// The place of the call that the latest block is. One that was cut off has an end, too.
    latest_call: Option<usize>,
    /// Between pieces that are of no block.
    loose: Seam,
    /// How many bytes of text were handed out.
    text: usize,
    counts: Counts,
    stop_reason: Option<String>,
    /// True once an answer began: before that there is none, not even an empty one.
    has_begun: bool,
    /// True once it says something.
    has_content: bool,
    is_done: bool,
}

#[derive(Debug)]
struct PartialCall {
    id: String,
    name: String,
    /// The input that came with the beginning.
    input: String,
    arguments: String,
}

impl reading::Assembler for Assembler {
    const API: &'static str = API;

    fn event(&mut self, data: &str, ready: &mut Ready) -> Result<(), ModelError> {
        let data = data.trim();
        match data {
            _ if self.is_done => Ok(()),
            "" | "null" => Ok(()),
            // Some gateways end every stream as OpenAI does.
            "[DONE]" => self.eof(ready),
            data => self.read(data, ready),
        }
    }

    fn plain(&mut self, body: &str, ready: &mut Ready) -> Result<(), ModelError> {
        let body = body.trim();
        if body.is_empty() {
            return Err(empty());
        }
        let wrong = |error: NotJson| reading::cut_off(unreadable(error.why(body)));
        let message = Message::read(body).map_err(wrong)?;
        let Some(content) = message.content else {
            let what = "the answer holds no content; is the base URL that of a Messages API?";
            let empty = ModelError::new(ModelErrorKind::EmptyResponse, what);
            return Err(reported(body).unwrap_or(empty));
        };
        self.begin(&message);
        let mut content = Json::new(content);
        if !content.list().map_err(wrong)? {
            return Err(wrong(NotJson));
        }
        while content.item().map_err(wrong)? {
            self.start(None, content.raw().map_err(wrong)?, ready)?;
            self.close(None, ready);
        }
        self.end(ready)
    }

    fn eof(&mut self, ready: &mut Ready) -> Result<(), ModelError> {
        if self.is_done {
            return Ok(());
        }
        if self.stop_reason.is_some() {
            return self.end(ready);
        }
        if !self.has_begun {
            return Err(empty());
        }
        Err(ModelError::new(
            ModelErrorKind::StreamTruncated,
            "the stream ended before the model said it was over",
        ))
    }

    fn is_finished(&self) -> bool {
        self.stop_reason.is_some()
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

impl Assembler {
    fn read(&mut self, data: &str, ready: &mut Ready) -> Result<(), ModelError> {
        let mut event = Event::read(data).map_err(|error| unreadable(error.why(data)))?;
        match &*event.kind {
            "message_start" => {
                if let Some(Ok(message)) = event.message.map(Message::read) {
                    if self.is_another(&message) {
                        return Err(ModelError::new(
                            ModelErrorKind::StreamTruncated,
                            "another answer began before this one was over",
                        ));
                    }
                    self.begin(&message);
                }
                self.has_begun = true;
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    (self.has_begun, self.has_content) = (true, true);
                    self.start(event.index, block, ready)?;
                }
            }
            "content_block_delta" => {
                let index = event.index;
                if let Some(delta) = event.delta() {
                    (self.has_begun, self.has_content) = (true, true);
                    self.delta(index, delta, ready);
                }
            }
            "content_block_stop" => self.close(event.index, ready),
            "message_delta" => {
                self.counts.take(event.usage);
                if let Some(reason) = event.delta().and_then(|it| it.stop_reason.as_deref()) {
                    self.stop_reason = Some(reason.to_owned());
                }
            }
            "message_stop" => return self.end(ready),
            "ping" => {}
            // An error, in one of many shapes, or news of a kind we do not know.
            _ => return reported(data).map_or(Ok(()), Err),
        }
        Ok(())
    }

    /// True if a gateway lost its connection in the middle of an answer and goes on with one from
    /// the beginning. <https://github.com/vercel/ai/issues/18331>
    fn is_another(&self, message: &Message<'_>) -> bool {
        self.has_content && !message.id.is_empty() && self.id != message.id
    }

    fn begin(&mut self, message: &Message<'_>) {
        self.has_begun = true;
        self.id = message.id.to_string();
        self.counts.take(message.usage);
        self.stop_reason = message.stop_reason.as_deref().map(str::to_owned);
    }

    fn start(
        &mut self,
        index: Option<u64>,
        raw: &str,
        ready: &mut Ready,
    ) -> Result<(), ModelError> {
        if self.blocks.begun == reading::MAX_PARTS {
            return Err(reading::too_many_parts());
        }
        let Some(mut block) = Part::read(raw) else {
            return Ok(());
        };
        let mut seam = Seam::default();
        let kind = match &*block.kind {
            "text" => {
                seam.mend(&mut block.text);
                self.say(&block.text.text, ready);
                Kind::Text
            }
            "thinking" => {
                seam.mend(&mut block.thinking);
                ready.think(&block.thinking.text);
                match block.signature.is_empty() {
                    // It is whole, and stays byte for byte what it is.
                    false => Kind::Opaque {
                        part: self.opaque(raw.to_owned()),
                        input: String::new(),
                        is_whole: true,
                    },
                    true => Kind::Thinking {
                        thinking: block.thinking.text.into_owned(),
                        signature: None,
                    },
                }
            }
            "tool_use" => {
                let call = PartialCall {
                    id: block.id.to_string(),
                    name: block.name.to_string(),
                    input: block.input().to_owned(),
                    arguments: String::new(),
                };
                let place = self.calls.len();
                ready.fragment(place, (&call.id, &call.name), &call.input);
                self.calls.push(call);
                Kind::Call(place)
            }
            "" => return Ok(()),
            _ => Kind::Opaque {
                part: self.opaque(raw.to_owned()),
                input: String::new(),
                is_whole: true,
            },
        };
        self.latest_call = match kind {
            Kind::Call(place) => Some(place),
            _ => None,
        };
        self.blocks.begin(Open { index, kind, seam });
        Ok(())
    }

    fn delta(&mut self, index: Option<u64>, delta: &mut Part<'_>, ready: &mut Ready) {
        let (block, seam) = match self.blocks.of(index) {
            Some(block) => (Some(&mut block.kind), &mut block.seam),
            None => (None, &mut self.loose),
        };
        for piece in [
            &mut delta.text,
            &mut delta.thinking,
            &mut delta.partial_json,
        ] {
            seam.mend(piece);
        }
        match (&*delta.kind, block) {
            // Text is text, also where its block has no beginning, or that of another kind.
            ("text_delta", None | Some(Kind::Text | Kind::Thinking { .. } | Kind::Call(_))) => {
                self.say(&delta.text.text, ready);
            }
            ("thinking_delta", block) => {
                if let Some(Kind::Thinking { thinking, .. }) = block {
                    thinking.push_str(&delta.thinking.text);
                }
                ready.think(&delta.thinking.text);
            }
            ("signature_delta", Some(Kind::Thinking { signature, .. })) => {
                signature.get_or_insert_default().push_str(&delta.signature);
            }
            ("input_json_delta", Some(Kind::Call(place))) => {
                if let Some(call) = self.calls.get_mut(*place) {
                    let json = &*delta.partial_json.text;
                    call.arguments.push_str(json);
                    ready.fragment(*place, (&call.id, &call.name), json);
                }
            }
            ("input_json_delta", Some(Kind::Opaque { input, .. })) => {
                input.push_str(&delta.partial_json.text);
            }
            (_, Some(Kind::Opaque { is_whole, .. })) => *is_whole = false,
            (kind, _) => tracing::debug!(kind, "a piece of a kind that is not known is read over"),
        }
    }

    /// Ends the block that a piece of this number would belong to.
    fn close(&mut self, index: Option<u64>, ready: &mut Ready) {
        if let Some(block) = self.blocks.end(index) {
            self.closed(block, ready);
        }
    }

    fn closed(&mut self, mut block: Open, ready: &mut Ready) {
        let half = block.seam.end();
        match &mut block.kind {
            Kind::Text => self.say(half, ready),
            Kind::Thinking { thinking, .. } => {
                thinking.push_str(half);
                ready.think(half);
            }
            Kind::Call(place) => {
                if let Some(call) = self.calls.get_mut(*place) {
                    call.arguments.push_str(half);
                }
            }
            Kind::Opaque { input, .. } => input.push_str(half),
        }
        match block.kind {
            // Without a signature the provider would refuse its own words.
            Kind::Thinking {
                thinking,
                signature: Some(signature),
            } => {
                let json = json!({
                    "type": "thinking", "thinking": thinking, "signature": signature,
                });
                let part = self.opaque(json.to_string());
                ready.push(ModelDelta::Opaque(part));
            }
            Kind::Opaque {
                mut part,
                input,
                is_whole: true,
            } => {
                if let Some(json) = with_input(&part.json, &input) {
                    part.json = json;
                    ready.push(ModelDelta::Opaque(part));
                }
            }
            Kind::Opaque { part, .. } => {
                tracing::debug!(
                    json = part.json,
                    "a block of a kind that is not known is dropped"
                );
            }
            _ => {}
        }
    }

    fn opaque(&self, json: String) -> OpaquePart {
        OpaquePart::new(PROVIDER, json).after(self.text, self.calls.len())
    }

    fn say(&mut self, text: &str, ready: &mut Ready) {
        self.text += text.len();
        ready.say(text);
    }

    /// Hands out what was held back until the end.
    fn end(&mut self, ready: &mut Ready) -> Result<(), ModelError> {
        self.is_done = true;
        let is_open = |block: &Open| match block.kind {
            Kind::Call(place) => Some(place),
            _ => None,
        };
        let open: HashSet<usize> = self.blocks.iter().filter_map(is_open).collect();
        for block in self.blocks.end_all() {
            self.closed(block, ready);
        }
        let half = self.loose.end();
        self.say(half, ready);
        if !self.has_begun {
            return Err(empty());
        }
        let word = self.stop_reason.as_deref();
        if let Some(word) = word.filter(|word| ending::is_broken_off(word)) {
            return Err(ending::broken_off(word));
        }
        let has_calls = !self.calls.is_empty();
        let reason = ending::finish_reason(word, has_calls);
        if reason == FinishReason::ToolCalls && !has_calls && self.text == 0 {
            return Err(empty());
        }
        let mut calls = std::mem::take(&mut self.calls);
        crate::id::make_unique(&mut calls, "call", |call| &mut call.id);
        for (place, call) in calls.into_iter().enumerate() {
            let arguments = match &*call.arguments {
                "" => call.input,
                _ => call.arguments,
            };
            let is_last = open.contains(&place) || self.latest_call == Some(place);
            let only_began = arguments.is_empty() && is_last && ending::is_cut(&reason);
            let whole = match only_began {
                true => ToolCall::begun(call.id, call.name),
                false => ToolCall::new(call.id, call.name, arguments),
            };
            ready.push(ModelDelta::ToolCall(whole));
        }
        if let Some(usage) = self.counts.usage() {
            ready.push(ModelDelta::Usage(usage));
        }
        ready.push(ModelDelta::Finished(reason));
        Ok(())
    }
}

/// The block with the input that came after it; `None` if that is no JSON.
fn with_input(block: &str, input: &str) -> Option<String> {
    if input.is_empty() {
        return Some(block.to_owned());
    }
    let mut whole: serde_json::Map<_, _> = serde_json::from_str(block).ok()?;
    let input: serde_json::Value = serde_json::from_str(input).ok()?;
    whole.insert("input".to_owned(), input);
    serde_json::to_string(&whole).ok()
}

fn empty() -> ModelError {
    ModelError::new(ModelErrorKind::EmptyResponse, "the answer holds nothing")
}

fn unreadable(error: serde_json::Error) -> ModelError {
    ModelError::new(
        ModelErrorKind::Decode,
        "the answer is not the JSON of a message",
    )
    .with_source(error)
}
