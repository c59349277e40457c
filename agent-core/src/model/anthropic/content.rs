//! What the blocks of an answer say: blocks and their pieces in, deltas out. Pure.
//!
//! What is no text, reasoning or call of a known kind is kept as it came if it can be kept
//! whole, and read over if it cannot.

use std::collections::HashSet;

use serde_json::json;
use smol_str::SmolStr;

use super::blocks::{Blocks, Kind, Open};
use super::event::Part;
use super::message::maker;
use crate::message::{OpaquePart, ToolCall};
use crate::model::reading;
use crate::model::reading::cut::Seam;
use crate::model::reading::growing::Growing;
use crate::model::reading::ready::Ready;
use crate::model::{ModelDelta, ModelError};

/// The content of an answer as far as it came.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// True if it is known not to be a Claude that says it.
    pub(super) is_foreign: bool,
    blocks: Blocks,
    calls: Vec<PartialCall>,
    /// The place of the call that the latest block is. One that was cut off has an end, too.
    latest_call: Option<usize>,
    /// The places of the calls whose blocks had no end.
    endless: HashSet<usize>,
    /// Between pieces that are of no block.
    loose: Seam,
    /// How many bytes of text were handed out.
    text: usize,
}

#[derive(Debug)]
struct PartialCall {
    id: SmolStr,
    name: String,
    /// The input that came with the beginning.
    input: String,
    arguments: String,
    growing: Growing,
}

impl Content {
    /// Takes the beginning of a block in, or a whole one.
    pub(super) fn start(
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
                    false => self.as_it_came(raw),
                    true => Kind::Thinking {
                        thinking: block.thinking.text.into_owned(),
                        signature: None,
                    },
                }
            }
            "tool_use" => {
                let call = PartialCall {
                    id: SmolStr::new(&block.id),
                    name: block.name.to_string(),
                    input: block.input().to_owned(),
                    arguments: String::new(),
                    growing: Growing::default(),
                };
                let place = self.calls.len();
                ready.fragment(place, (&call.id, &call.name), &call.input);
                self.calls.push(call);
                Kind::Call(place)
            }
            "" => return Ok(()),
            _ => self.as_it_came(raw),
        };
        self.latest_call = match kind {
            Kind::Call(place) => Some(place),
            _ => None,
        };
        self.blocks.begin(Open { index, kind, seam });
        Ok(())
    }

    /// Takes a piece of a block in.
    pub(super) fn delta(&mut self, index: Option<u64>, delta: &mut Part<'_>, ready: &mut Ready) {
        let (block, seam) = match self.blocks.of(index) {
            Some(block) => {
                if &*delta.kind == "thinking_delta" {
                    go_on_thinking(&mut block.kind);
                }
                (Some(&mut block.kind), &mut block.seam)
            }
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
                    call.growing.note(&call.arguments, json);
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
    pub(super) fn stop(&mut self, index: Option<u64>, ready: &mut Ready) {
        if let Some(block) = self.blocks.end(index) {
            self.stopped(block, ready);
        }
    }

    /// Ends all blocks.
    pub(super) fn stop_all(&mut self, ready: &mut Ready) {
        for block in self.blocks.end_all() {
            if let Kind::Call(place) = block.kind {
                self.endless.insert(place);
            }
            self.stopped(block, ready);
        }
        let half = self.loose.end();
        self.say(half, ready);
    }

    fn stopped(&mut self, mut block: Open, ready: &mut Ready) {
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
            Kind::Thinking {
                thinking,
                signature,
            } if !thinking.is_empty() || signature.is_some() => {
                let mut json = json!({"type": "thinking", "thinking": thinking});
                if let Some(signature) = signature {
                    json["signature"] = signature.into();
                }
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

    fn as_it_came(&self, raw: &str) -> Kind {
        Kind::Opaque {
            part: self.opaque(raw.to_owned()),
            input: String::new(),
            is_whole: true,
        }
    }

    fn opaque(&self, json: String) -> OpaquePart {
        OpaquePart::new(maker(self.is_foreign), json).after(self.text, self.calls.len())
    }

    fn say(&mut self, text: &str, ready: &mut Ready) {
        self.text += text.len();
        ready.say(text);
    }

    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    pub(super) fn has_text(&self) -> bool {
        self.text > 0
    }

    /// The whole calls, each with an id of its own. Of an answer that was cut off, one may be
    /// among them that only began.
    pub(super) fn end(&mut self, is_cut: bool) -> impl Iterator<Item = ToolCall> {
        let mut calls = std::mem::take(&mut self.calls);
        crate::id::make_unique(&mut calls, "call", |call| &mut call.id);
        calls.into_iter().enumerate().map(move |(place, mut call)| {
            call.growing.end(&mut call.arguments);
            let arguments = match &*call.arguments {
                "" => call.input,
                _ => call.arguments,
            };
            let is_last = self.endless.contains(&place) || self.latest_call == Some(place);
            let only_began = arguments.is_empty() && is_last && is_cut;
            match only_began {
                true => ToolCall::begun(call.id, call.name.into()),
                false => ToolCall::of(call.id, call.name.into(), arguments.into()),
            }
        })
    }
}

/// Thoughts that began with their signature go on, so the block is not whole yet.
fn go_on_thinking(kind: &mut Kind) {
    let Kind::Opaque { part, .. } = kind else {
        return;
    };
    let Some(block) = Part::read(&part.json).filter(|block| block.kind == "thinking") else {
        return;
    };
    let (thinking, signature) = (
        block.thinking.whole().into_owned(),
        block.signature.to_string(),
    );
    *kind = Kind::Thinking {
        thinking,
        signature: Some(signature),
    };
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
