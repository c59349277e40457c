//! Reads what a delta or a message says: text, reasoning and calls.

use std::borrow::Cow;

use super::fragment::Fragment;
use crate::model::reading::MAX_PARTS;
use crate::model::reading::cut::Cut;
use crate::model::reading::json::{Json, NotJson};

/// What a delta or a message says.
#[derive(Debug, Default)]
pub(super) struct Piece<'a> {
    content: Parts<'a>,
    refusal: Cut<'a>,
    reasoning_content: Cut<'a>,
    reasoning: Cut<'a>,
    /// True if the text holds thoughts.
    pub(super) is_thought: bool,
    /// The signed and structured form of the reasoning, as one provider gives it.
    pub(super) reasoning_details: Vec<&'a str>,
    /// The calls, or the one call of the form before there could be several; mostly there is one.
    first: Option<Fragment<'a>>,
    others: Vec<Fragment<'a>>,
    /// How many calls there are, and values in them that are not known.
    in_calls: usize,
    /// True if there are more of these, or more reasoning, than an answer may have; the rest is
    /// left out.
    pub(super) has_too_many: bool,
}

/// The text of a message: a string, or the text parts of a list. One provider puts its reasoning
/// among the parts.
#[derive(Debug, Default)]
struct Parts<'a> {
    text: Cut<'a>,
    thinking: Cut<'a>,
}

impl<'a> Piece<'a> {
    /// Reads an object from behind its bracket.
    pub(super) fn read(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        while let Some(key) = json.key()? {
            match key {
                "content" => self.content.read(json)?,
                "refusal" => self.refusal = json.piece()?,
                "reasoning_content" => self.reasoning_content = json.piece()?,
                // The second is what GitHub Copilot calls it.
                "reasoning" | "reasoning_text" => self.reasoning = json.piece()?,
                "extra_content" => self.is_thought = is_thought(json)?,
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
        (self.first, self.others, self.in_calls) = (None, Vec::new(), 0);
        // Some servers give the one call they have without a list around it.
        if json.peek() == b'{' {
            json.object()?;
            return self.take_call(json);
        }
        if !json.list()? {
            return Ok(());
        }
        while json.item()? {
            if self.in_calls > MAX_PARTS {
                json.skip()?;
            } else if json.object()? {
                self.take_call(json)?;
            }
        }
        Ok(())
    }

    fn take_call(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        let fragment = self.next_fragment();
        fragment.read(json)?;
        self.in_calls += 1 + fragment.values;
        self.has_too_many |= self.in_calls > MAX_PARTS;
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

/// True if a provider marks the text so, under its name.
fn is_thought(json: &mut Json<'_>) -> Result<bool, NotJson> {
    let mut is_marked = false;
    if json.object()? {
        while json.key()?.is_some() {
            if json.object()? {
                while let Some(key) = json.key()? {
                    is_marked |= json.raw()? == "true" && key == "thought";
                }
            }
        }
    }
    Ok(is_marked)
}

impl<'a> Parts<'a> {
    fn read(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        if json.peek() == b'{' {
            return self.take_object(json);
        }
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

    /// Takes the one part that stands where a list should, or what was asked for as JSON.
    fn take_object(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        *self = Self::default();
        let raw = json.raw()?;
        self.take(&mut Json::new(raw))?;
        if self.text.is_empty() && self.thinking.is_empty() {
            self.text = Cow::Borrowed(raw).into();
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
