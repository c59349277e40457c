//! Reads a piece of a tool call.

use std::borrow::Cow;

use serde_json::Value;

use crate::json::count_values;
use crate::model::reading::MAX_PARTS;
use crate::model::reading::cut::Cut;
use crate::model::reading::json::{Json, NotJson};
use crate::model::reading::quoted::{unescaped, without_lone_surrogates};

/// A piece of a tool call.
#[derive(Debug, Default)]
pub(super) struct Fragment<'a> {
    pub(super) index: Option<u64>,
    pub(super) id: Cow<'a, str>,
    pub(super) name: Cow<'a, str>,
    pub(super) arguments: Cut<'a>,
    /// Fields that are not known. Mostly there are none, which a list tells for nothing.
    pub(super) extra: Vec<(String, Value)>,
    /// How many values they hold. Those above the bound are left out.
    pub(super) values: usize,
    has_function: bool,
}

impl<'a> Fragment<'a> {
    /// Reads an object from behind its bracket.
    pub(super) fn read(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        while let Some(key) = json.key()? {
            match key {
                "index" => self.index = json.number()?,
                "id" => self.id = json.said()?,
                "type" => json.skip()?,
                "function" => self.has_function |= self.take_function(json)?,
                // Without a function around them, as Cloudflare's models give them:
                // https://developers.cloudflare.com/workers-ai/features/function-calling/
                "name" if !self.has_function => self.name = json.said()?,
                "arguments" if !self.has_function => self.take_arguments(json)?,
                key => {
                    let Some(value) = json.any()? else {
                        continue;
                    };
                    self.values += 1 + count_values(value);
                    if self.values <= MAX_PARTS {
                        let key = unescaped(key).into_owned();
                        self.extra.push((key, value_of(value)?));
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads the function of a call; false if it is no object.
    pub(super) fn take_function(&mut self, json: &mut Json<'a>) -> Result<bool, NotJson> {
        if !json.object()? {
            return Ok(false);
        }
        (self.name, self.arguments) = Default::default();
        while let Some(key) = json.key()? {
            match key {
                "name" => self.name = json.said()?,
                "arguments" => self.take_arguments(json)?,
                _ => json.skip()?,
            }
        }
        Ok(true)
    }

    /// Arguments are a JSON text in a string; some servers send the object itself.
    fn take_arguments(&mut self, json: &mut Json<'a>) -> Result<(), NotJson> {
        self.arguments = match json.peek() {
            b'"' => json.piece()?,
            _ => Cow::Borrowed(json.any()?.unwrap_or_default()).into(),
        };
        Ok(())
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
