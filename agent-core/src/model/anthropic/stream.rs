//! Puts an answer together: events in, deltas out. Pure.
//!
//! A plain answer is read as the events it would have been, so both forms are read by the
//! same rules. What its blocks say is for `content`.

use super::API;
use super::content::Content;
use super::event::{Counts, Event, Message};
use crate::model::families::is_claude;
use crate::model::reading;
use crate::model::reading::ending;
use crate::model::reading::json::{Json, NotJson};
use crate::model::reading::ready::Ready;
use crate::model::reading::report::reported;
use crate::model::{FinishReason, ModelDelta, ModelError, ModelErrorKind};

/// An answer that is being put together.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    /// The id of the message.
    id: String,
    content: Content,
    counts: Counts,
    stop_reason: Option<String>,
    /// True once an answer began: before that there is none, not even an empty one.
    has_begun: bool,
    /// True once it says something.
    has_content: bool,
    is_done: bool,
}

impl reading::Assembler for Assembler {
    const API: &'static str = API;

    fn event(&mut self, data: &str, ready: &mut Ready) -> Result<(), ModelError> {
        match data {
            _ if self.is_done => Ok(()),
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
            let block = content.raw().map_err(wrong)?;
            self.content.start(None, block, ready)?;
            self.content.stop(None, ready);
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
                    self.content.start(event.index, block, ready)?;
                }
            }
            "content_block_delta" => {
                let index = event.index;
                if let Some(delta) = event.delta() {
                    (self.has_begun, self.has_content) = (true, true);
                    self.content.delta(index, delta, ready);
                }
            }
            "content_block_stop" => self.content.stop(event.index, ready),
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
        self.content.is_foreign = !message.model.is_empty() && !is_claude(&message.model);
        self.counts.take(message.usage);
        self.stop_reason = message.stop_reason.as_deref().map(str::to_owned);
    }

    /// Hands out what was held back until the end.
    fn end(&mut self, ready: &mut Ready) -> Result<(), ModelError> {
        self.is_done = true;
        self.content.stop_all(ready);
        if !self.has_begun {
            return Err(empty());
        }
        let word = self.stop_reason.as_deref();
        if let Some(word) = word.filter(|word| ending::is_broken_off(word)) {
            return Err(ending::broken_off(word));
        }
        if let Some(error) = word.and_then(ending::malformed) {
            return Err(error);
        }
        let has_calls = self.content.has_calls();
        let reason = ending::finish_reason(word, has_calls);
        if reason == FinishReason::ToolCalls && !has_calls && !self.content.has_text() {
            return Err(empty());
        }
        let calls = self.content.end(ending::is_cut(&reason));
        ready.extend(calls.map(ModelDelta::ToolCall));
        if let Some(usage) = self.counts.usage() {
            ready.push(ModelDelta::Usage(usage));
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
        "the answer is not the JSON of a message",
    )
    .with_source(error)
}
