//! Answers from a cassette.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::CassetteError;
use super::difference::{Difference, difference};
use super::file::{self, Exchange};
use super::meaning::meaning;
use super::scrub::scrub;
use crate::boxed::{BoxFuture, BoxStream};
use crate::model::scripted::Answer;
use crate::model::{
    ChatModel, ChatOptions, ChatRequest, ChatResponse, ModelDelta, ModelError, ModelErrorKind,
};
use crate::secrets::Secrets;

/// A model that answers from a cassette. Clones share what is left of it.
///
/// A request gets the first reply to a request of the same meaning that was not given yet, so
/// requests may come in another order than when they were recorded. One without a reply is an
/// error of kind [`ModelErrorKind::NoRecording`], which shows how it differs from the nearest.
#[derive(Clone)]
pub struct Replay {
    /// What the recorded model said of itself.
    holds_json_schema: bool,
    /// The same of the models that its requests named.
    holds_json_schema_of: Arc<BTreeMap<String, bool>>,
    state: Arc<Mutex<State>>,
}

struct State {
    left: Vec<(usize, Exchange)>,
    secrets: Secrets,
}

impl Replay {
    /// Reads a cassette. It blocks, and is meant for the start of a test.
    ///
    /// # Errors
    ///
    /// [`CassetteError::Missing`] if it was not recorded yet, [`CassetteError::Malformed`] if
    /// the file was cut or is something else, [`CassetteError::Version`], and
    /// [`CassetteError::Unreadable`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CassetteError> {
        let file = file::read(path.as_ref())?;
        let state = State {
            left: (1..).zip(file.exchanges).collect(),
            secrets: Secrets::default(),
        };
        Ok(Self {
            holds_json_schema: file.holds_json_schema,
            holds_json_schema_of: Arc::new(file.holds_json_schema_of),
            state: Arc::new(Mutex::new(state)),
        })
    }

    /// A text that was masked when the cassette was recorded; a request that holds it is found
    /// only so.
    #[must_use]
    pub fn secret(self, value: impl AsRef<str>) -> Self {
        self.state().secrets.add(value.as_ref());
        self
    }

    /// How many replies were not given yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.state().left.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, request: &ChatRequest) -> Result<Answer, ModelError> {
        let mut asked = meaning(request);
        let mut state = self.state();
        scrub(&mut asked, &state.secrets);
        let is_asked = |(_, exchange): &(usize, Exchange)| exchange.request == asked;
        let Some(place) = state.left.iter().position(is_asked) else {
            return Err(mismatch(&state.left, &asked));
        };
        let (_, exchange) = state.left.remove(place);
        let (response, error) = exchange.reply.restored();
        Ok(Answer::of(response, error))
    }
}

fn mismatch(left: &[(usize, Exchange)], asked: &serde_json::Value) -> ModelError {
    let differences = left
        .iter()
        .map(|(number, exchange)| (number, difference(&exchange.request, asked)));
    let text = match differences.min_by_key(|(_, difference)| difference.places) {
        None => "the cassette has no reply left, but there is one more request".to_owned(),
        Some((number, Difference { lines, .. })) => format!(
            "the cassette has no reply to this request; nearest is recording {number} \
             (- recorded, + asked):{lines}"
        ),
    };
    ModelError::new(ModelErrorKind::NoRecording, text)
}

impl ChatModel for Replay {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        match self.take(&request) {
            Ok(answer) => answer.stream(),
            Err(error) => Box::pin(futures_util::stream::iter([Err(error)])),
        }
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        match self.take(&request) {
            Ok(answer) => answer.chat(),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn name(&self) -> &str {
        "replay"
    }

    fn holds_json_schema(&self, options: &ChatOptions) -> bool {
        let named = options.model.as_ref();
        let of_named = named.and_then(|name| self.holds_json_schema_of.get(name));
        of_named.copied().unwrap_or(self.holds_json_schema)
    }

    fn provider(&self) -> &str {
        "replay"
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("left", &self.left())
            .finish_non_exhaustive()
    }
}
