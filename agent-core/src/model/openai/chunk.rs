//! Reads the JSON of an answer: a chunk of a stream, or a plain answer, which is one chunk.
//!
//! Servers differ in every field, so one that is of another kind than it should be is as good as
//! absent. Only choices and what they say must be lists and objects.

use std::borrow::Cow;

use serde_json::Value;

use super::usage::usage;
use crate::model::Usage;
use crate::model::reading::MAX_PARTS;
use crate::model::reading::cut::Cut;
use crate::model::reading::json::{Json, NotJson};
use crate::model::reading::quoted::{unescaped, without_lone_surrogates};

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

/// What a delta or a message says.
#[derive(Debug, Default)]
pub(super) struct Piece<'a> {
    content: Parts<'a>,
    refusal: Cut<'a>,
    reasoning_content: Cut<'a>,
    reasoning: Cut<'a>,
    /// The signed and structured form of the reasoning, as one provider gives it.
    pub(super) reasoning_details: Vec<&'a str>,
    /// The calls, or the one call of the form before there could be several; mostly there is one.
    first: Option<Fragment<'a>>,
    others: Vec<Fragment<'a>>,
    /// True if there are more calls, or more reasoning, than an answer may have; these are left out.
    pub(super) has_too_many: bool,
}

/// The text of a message: a string, or the text parts of a list. One provider puts its reasoning
/// among the parts.
#[derive(Debug, Default)]
struct Parts<'a> {
    text: Cut<'a>,
    thinking: Cut<'a>,
}

/// A piece of a tool call.
#[derive(Debug, Default)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Cut<'a>,
    /// Fields that are not known. Mostly there are none, which a list tells for nothing.
    pub(super) extra: Vec<(String, Value)>,
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
                "finish_reason" => self.finish_reason = json.said()?,
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

impl<'a> Piece<'a> {
    fn read(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        while let Some(key) = json.key()? {
            match key {
                "content" => self.content.read(json)?,
                "refusal" => self.refusal = json.piece()?,
                "reasoning_content" => self.reasoning_content = json.piece()?,
                "reasoning" => self.reasoning = json.piece()?,
                "reasoning_details" => self.take_details(json)?,
                "tool_calls" => self.take_calls(json)?,
                "function_call" => self.take_function(json)?,
                _ => json.skip()?,
            }
        }
        Ok(())
    }

    fn take_details(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        self.reasoning_details = Vec::new();
        if json.list()? {
            while json.item()? {
                let raw = json.raw()?;
                match self.reasoning_details.len() < MAX_PARTS {
                    true => self.reasoning_details.push(raw),
                    false => self.has_too_many = true,
                }
            }
        }
        Ok(())
    }

    fn take_calls(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        (self.first, self.others) = (None, Vec::new());
        // Some servers give the one call they have without a list around it.
        if json.peek() == b'{' {
            json.object()?;
            return self.next_fragment().read(json);
        }
        if !json.list()? {
            return Ok(());
        }
        while json.item()? {
            if self.others.len() == MAX_PARTS {
                self.has_too_many = true;
                json.skip()?;
            } else if json.object()? {
                self.next_fragment().read(json)?;
            }
        }
        Ok(())
    }

    fn next_fragment(&mut self) -> &mut Fragment<'a> {
        if self.first.is_none() {
            return self.first.insert(Fragment::default());
        }
        self.others.push(Fragment::default());
        let last = self.others.len() - 1;
        &mut self.others[last]
    }

    pub(super) fn fragments(&mut self) -> impl Iterator<Item = &mut Fragment<'a>> {
        self.first.iter_mut().chain(&mut self.others)
    }

    fn take_function(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        let mut fragment = Fragment::default();
        if fragment.take_function(json)? && self.first.is_none() {
            self.first = Some(fragment);
        }
        Ok(())
    }

    /// The visible text: a string or the text parts of a list. A refusal is an answer too.
    pub(super) fn text(&mut self) -> &mut Cut<'a> {
        match self.content.text.is_empty() {
            true => &mut self.refusal,
            false => &mut self.content.text,
        }
    }

    pub(super) fn reasoning(&mut self) -> &mut Cut<'a> {
        if !self.reasoning_content.is_empty() {
            &mut self.reasoning_content
        } else if !self.reasoning.is_empty() {
            &mut self.reasoning
        } else {
            &mut self.content.thinking
        }
    }
}

impl<'a> Parts<'a> {
    fn read(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        if json.peek() != b'[' {
            self.text = json.piece()?;
            return Ok(());
        }
        *self = Self::default();
        json.list()?;
        while json.item()? {
            self.take(json)?;
        }
        Ok(())
    }

    /// Takes a part of the list. What is thought is a list of parts again.
    fn take(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        if json.peek() == b'"' {
            self.text.text += json.said()?;
            return Ok(());
        }
        if !json.object()? {
            return Ok(());
        }
        let (mut text, mut thinking) = Default::default();
        while let Some(key) = json.key()? {
            match key {
                "text" => text = json.said()?,
                // The second is what Databricks calls it, in a part of the type `reasoning`:
                // https://docs.databricks.com/machine-learning/model-serving/query-reason-models
                "thinking" | "summary" => thinking = thoughts(json)?,
                _ => json.skip()?,
            }
        }
        self.text.text += text;
        self.thinking.text += thinking;
        Ok(())
    }
}

/// The text of a list of parts, or a string.
fn thoughts<'a>(json: &mut Json<'a>) -> Result<Cow<'a, str>, NotJson> {
    if json.peek() != b'[' {
        return json.said();
    }
    json.list()?;
    let mut all = Cow::default();
    while json.item()? {
        all += match json.peek() {
            b'"' => json.said()?,
            _ => json.member("text", Json::text)?.unwrap_or_default(),
        };
    }
    Ok(all)
}

impl<'a> Fragment<'a> {
    fn read(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        while let Some(key) = json.key()? {
            match key {
                "index" => self.index = json.number()?,
                "id" => self.id = json.said()?,
                "type" => json.skip()?,
                "function" => drop(self.take_function(json)?),
                key => {
                    if let Some(value) = json.any()? {
                        let key = unescaped(key).into_owned();
                        self.extra.push((key, value_of(value)?));
                    }
                }
            }
        }
        Ok(())
    }

    /// False if it is no object.
    fn take_function(&mut self, json: &mut Json<'a>) -> Result<bool, NotJson> {
        if !json.object()? {
            return Ok(false);
        }
        (self.name, self.arguments) = Default::default();
        while let Some(key) = json.key()? {
            match key {
                "name" => self.name = json.said()?,
                // Arguments are a JSON text in a string; some servers send the object itself.
                "arguments" if json.peek() == b'"' => self.arguments = json.piece()?,
                "arguments" => {
                    self.arguments = Cow::Borrowed(json.any()?.unwrap_or_default()).into();
                }
                _ => json.skip()?,
            }
        }
        Ok(true)
    }

    /// True if nothing but a name tells which call this is a piece of.
    pub(super) fn is_named_only(&self) -> bool {
        self.index.is_none() && self.id.is_empty() && !self.name.is_empty()
    }
}

fn value_of(json: &str) -> Result<Value, NotJson> {
    let whole = without_lone_surrogates(json);
    serde_json::from_str(&whole).map_err(|_| NotJson)
}
