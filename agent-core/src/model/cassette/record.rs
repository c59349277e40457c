//! Keeps what a model is asked and answers.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::StreamExt as _;
use serde_json::Value;

use super::CassetteError;
use super::file::{self, Exchange, Reply};
use super::meaning::meaning;
use crate::boxed::{BoxFuture, BoxStream};
use crate::message::AssistantMessage;
use crate::model::{
    Accumulator, ChatModel, ChatOptions, ChatRequest, ChatResponse, ModelDelta, ModelError,
    ToolList,
};
use crate::schema::Dialect;
use crate::secrets::Secrets;

/// A model that passes everything on to another, and keeps it for a cassette.
///
/// Clones share what is kept, which grows with each reply. A reply that was not read to its end
/// is not kept.
#[derive(Clone)]
pub struct Recorder(Arc<Inner>);

struct Inner {
    model: Arc<dyn ChatModel>,
    secrets: Mutex<Secrets>,
    /// In the order of the requests; empty as long as the reply is not over.
    kept: Mutex<Vec<Option<(Value, Reply)>>>,
}

impl Recorder {
    /// Records this model.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self(Arc::new(Inner {
            model: Arc::new(model),
            secrets: Mutex::default(),
            kept: Mutex::default(),
        }))
    }

    /// Writes `***` in place of this text; calls add up. One of fewer than 6 bytes is taken for
    /// no secret.
    #[must_use]
    pub fn secret(self, value: impl AsRef<str>) -> Self {
        lock(&self.0.secrets).add(value.as_ref());
        self
    }

    /// Writes what was kept so far; a file that is there is replaced. It blocks, and is meant
    /// for the end of a test.
    ///
    /// # Errors
    ///
    /// [`CassetteError::Unwritable`]; what was there before stays then.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CassetteError> {
        let secrets = lock(&self.0.secrets).clone();
        let kept: Vec<_> = lock(&self.0.kept).iter().flatten().cloned().collect();
        let named = kept
            .iter()
            .filter_map(|(request, _)| request["options"]["model"].as_str());
        let holds = |options: &ChatOptions| self.0.model.holds_json_schema(options);
        let of_named = named.map(|name| (name.to_owned(), holds(&ChatOptions::new().model(name))));
        let held = (holds(&ChatOptions::new()), of_named.collect());
        let exchanges = kept
            .into_iter()
            .map(|(request, reply)| Exchange::new(request, reply, &secrets));
        file::write(path.as_ref(), held, exchanges.collect())
    }

    /// A place for a reply, in the order of the requests.
    fn place(&self, request: &ChatRequest) -> Place {
        let request = meaning(request);
        let mut kept = lock(&self.0.kept);
        kept.push(None);
        Place {
            inner: Arc::clone(&self.0),
            place: kept.len() - 1,
            request,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Place {
    inner: Arc<Inner>,
    place: usize,
    request: Value,
}

impl Place {
    fn keep(self, message: &AssistantMessage, end: Result<&ChatResponse, &ModelError>) {
        let reply = Reply::new(message, end);
        if let Some(place) = lock(&self.inner.kept).get_mut(self.place) {
            *place = Some((self.request, reply));
        }
    }
}

impl ChatModel for Recorder {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        let place = self.place(&request);
        let deltas = self.0.model.stream(request);
        let state = (deltas, Some((Accumulator::new(), place)));
        Box::pin(futures_util::stream::unfold(
            state,
            async |(mut deltas, kept)| {
                let delta = deltas.next().await;
                let kept = match (&delta, kept) {
                    (Some(Ok(delta)), Some((mut reply, place))) => {
                        reply.push(delta.clone());
                        Some((reply, place))
                    }
                    (Some(Err(error)), Some((reply, place))) => {
                        place.keep(reply.message(), Err(error));
                        None
                    }
                    (None, Some((reply, place))) => {
                        let said = reply.message().clone();
                        // A reply that was cut off ends in its reader with this error.
                        match reply.finish() {
                            Ok(response) => place.keep(&said, Ok(&response)),
                            Err(error) => place.keep(&said, Err(&error)),
                        }
                        None
                    }
                    (_, None) => None,
                };
                Some((delta?, (deltas, kept)))
            },
        ))
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        let place = self.place(&request);
        let reply = self.0.model.chat(request);
        Box::pin(async move {
            let reply = reply.await;
            match &reply {
                Ok(response) => place.keep(&response.message, Ok(response)),
                Err(error) => place.keep(&AssistantMessage::default(), Err(error)),
            }
            reply
        })
    }

    fn name(&self) -> &str {
        self.0.model.name()
    }

    fn dialect(&self) -> Option<Dialect> {
        self.0.model.dialect()
    }

    fn holds_json_schema(&self, options: &ChatOptions) -> bool {
        self.0.model.holds_json_schema(options)
    }

    fn unsupported(&self, options: &ChatOptions, tools: &ToolList) -> Vec<&'static str> {
        self.0.model.unsupported(options, tools)
    }

    fn provider(&self) -> &str {
        self.0.model.provider()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("model", &self.name())
            .field("kept", &lock(&self.0.kept).len())
            .finish_non_exhaustive()
    }
}
