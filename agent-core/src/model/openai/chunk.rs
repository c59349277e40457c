//! Reads the JSON of an answer: a chunk of a stream, or a plain answer, which is one chunk.
//!
//! Servers differ in every field, so one that is of another kind than it should be is as good as
//! absent. Only choices and what they say must be lists and objects.

use std::borrow::Cow;

use super::piece::Piece;
use super::usage::usage;
use crate::model::Usage;
use crate::model::reading::json::{Json, NotJson};

/// A chunk of a stream or a plain answer, without its choices.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) has_choices: bool,
    pub(super) has_error: bool,
    usage: Option<Usage>,
    of_choice: Option<Usage>,
    /// Where one provider says what a stream took.
    x_groq: Option<Usage>,
}

/// What the last chunk began with, up to its choices: the fields that are the same in all chunks of
/// an answer, so that they are not read again and again.
#[derive(Debug, Default)]
pub(super) struct Head(String);

#[derive(Debug, Default)]
pub(super) struct Choice<'a> {
    index: Option<u64>,
    pub(super) said: Said,
    pub(super) piece: Piece<'a>,
    finish_reason: Cow<'a, str>,
    /// True where one provider says what went wrong.
    has_error: bool,
    usage: Option<Usage>,
}

/// Where the piece of a choice stands.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    #[default]
    Nothing,
    /// In `message`: all of a plain answer, or what a stream came to so far.
    Whole,
    /// In `delta`, which counts more.
    More,
}

impl Chunk {
    /// Reads a chunk of an answer whose chunks begin alike, and hands each choice on.
    pub(super) fn read<'a>(
        text: &'a str,
        head: &mut Head,
        each: &mut impl FnMut(&mut Choice<'a>),
    ) -> Result<Self, NotJson> {
        let mut chunk = Self::default();
        let mut json = Json::new(text);
        if text.starts_with('[') {
            // One provider wraps its errors in a list.
            if json.list()? && json.item()? {
                must(json.object()?)?;
                chunk.take(&mut json, &mut Head::default(), each)?;
                must(!json.item()?)?;
            }
        } else if !head.0.is_empty() && text.starts_with(&head.0) {
            json.go_to(head.0.len());
            chunk.take_choices(&mut json, each)?;
            chunk.take(&mut json, head, each)?;
        } else {
            must(json.object()?)?;
            chunk.take(&mut json, head, each)?;
        }
        json.end()?;
        Ok(chunk)
    }

    fn take<'a>(
        &mut self,
        json: &mut Json<'a>,
        head: &mut Head,
        each: &mut impl FnMut(&mut Choice<'a>),
    ) -> Result<(), NotJson> {
        // Only what says nothing may be left out.
        let mut is_head = !self.has_choices;
        while let Some(key) = json.key()? {
            match key {
                "choices" => {
                    if is_head {
                        json.before().clone_into(&mut head.0);
                    }
                    self.take_choices(json, each)?;
                }
                "usage" => self.usage = usage(json)?,
                "x_groq" => self.take_groq(json)?,
                "error" => self.has_error |= json.any()?.is_some(),
                _ => {
                    json.skip()?;
                    continue;
                }
            }
            is_head = false;
        }
        Ok(())
    }

    /// Counts, and why an answer was broken off: <https://console.groq.com/docs/api-reference>.
    fn take_groq(&mut self, json: &mut Json<'_>) -> Result<(), NotJson> {
        if !json.object()? {
            return Ok(());
        }
        while let Some(key) = json.key()? {
            match key {
                "usage" => self.x_groq = usage(json)?,
                "error" => self.has_error |= json.any()?.is_some(),
                _ => json.skip()?,
            }
        }
        Ok(())
    }

    fn take_choices<'a>(
        &mut self,
        json: &mut Json<'a>,
        each: &mut impl FnMut(&mut Choice<'a>),
    ) -> Result<(), NotJson> {
        if json.null()? {
            return Ok(());
        }
        must(json.list()?)?;
        self.has_choices = true;
        while json.item()? {
            let mut choice = Choice::default();
            choice.read(json)?;
            self.has_error |= choice.has_error && choice.is_first();
            self.of_choice = choice.usage.or(self.of_choice);
            if choice.is_first() {
                each(&mut choice);
            }
        }
        Ok(())
    }

    /// The token counts, wherever the server put them.
    pub(super) fn usage(&self) -> Option<Usage> {
        self.usage.or(self.of_choice).or(self.x_groq)
    }
}

/// What is of another kind here cannot be read over.
fn must(is_so: bool) -> Result<(), NotJson> {
    is_so.then_some(()).ok_or(NotJson)
}

impl<'a> Choice<'a> {
    fn read(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        must(json.object()?)?;
        while let Some(key) = json.key()? {
            match key {
                "index" => self.index = json.number()?,
                "delta" => self.read_piece(json, Said::More)?,
                "message" if self.said != Said::More => self.read_piece(json, Said::Whole)?,
                // Gemini gave it by the name of its own API:
                // https://github.com/jakobdylanc/llmcord/issues/84
                "finishReason" if self.finish_reason().is_none() => {
                    self.finish_reason = json.said()?;
                }
                "finish_reason" => {
                    let reason = json.said()?;
                    if !reason.is_empty() {
                        self.finish_reason = reason;
                    }
                }
                "error" => self.has_error = json.any()?.is_some(),
                "usage" => self.usage = usage(json)?,
                _ => json.skip()?,
            }
        }
        Ok(())
    }

    fn read_piece(&mut self, json: &mut Json<'a>, said: Said) -> Result<(), NotJson> {
        if json.null()? {
            return Ok(());
        }
        if self.said != Said::Nothing {
            self.piece = Piece::default();
        }
        self.said = said;
        // What is written in PHP makes lists of empty objects.
        if json.peek() == b'[' {
            must(json.list()? && !json.item()?)?;
            return Ok(());
        }
        must(json.object()?)?;
        self.piece.read(json)
    }

    /// True for the one choice we read; we ask for no more.
    fn is_first(&self) -> bool {
        self.index.unwrap_or(0) == 0
    }

    pub(super) fn finish_reason(&self) -> Option<&str> {
        // One provider writes the absence of a reason as a word.
        Some(&*self.finish_reason).filter(|word| !matches!(*word, "" | "null"))
    }
}
