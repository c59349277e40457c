//! A model that is a function, for tests whose answers depend on what is asked.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::Stream;

use super::scripted::{Answer, CallIds, Turn};
use super::{ChatModel, ChatRequest, ChatResponse, ModelDelta, ModelError, delta};
use crate::boxed::{BoxFuture, BoxStream};

/// A model that answers with what a function makes of the request. Clones share it.
///
/// ```
/// use agent_core::ReactAgent;
/// use agent_core::model::{ChatRequest, FunctionModel, scripted::says};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let echo = FunctionModel::new(|request: &ChatRequest| {
///     let asked = request.messages().last().map(|message| message.text());
///     says(asked.unwrap_or_default().to_uppercase())
/// });
/// let agent = ReactAgent::builder("echo", echo).build()?;
///
/// assert_eq!(agent.run("loud").await?.text(), "LOUD");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FunctionModel(Arc<Function>);

enum Function {
    Turns {
        make: Box<dyn Fn(&ChatRequest) -> Turn + Send + Sync>,
        ids: Mutex<CallIds>,
    },
    Deltas(Box<dyn Fn(ChatRequest) -> Deltas + Send + Sync>),
}

type Deltas = BoxStream<'static, Result<ModelDelta, ModelError>>;

impl FunctionModel {
    /// A model that does with a request what the turn says: [`says`](super::scripted::says),
    /// [`calls`](super::scripted::calls), [`fails`](super::scripted::fails) and
    /// [`hangs`](super::scripted::hangs) make one.
    pub fn new(make: impl Fn(&ChatRequest) -> Turn + Send + Sync + 'static) -> Self {
        Self(Arc::new(Function::Turns {
            make: Box::new(make),
            ids: Mutex::default(),
        }))
    }

    /// A model whose reply is this stream, in pieces of your own. One that is to be whole ends
    /// with [`ModelDelta::Finished`]; what waits in it is dropped with the run.
    ///
    /// ```
    /// use agent_core::model::{FinishReason, FunctionModel, ModelDelta};
    /// use futures_util::stream;
    ///
    /// let model = FunctionModel::streaming(|_request| {
    ///     stream::iter([
    ///         Ok(ModelDelta::Text("4 ".into())),
    ///         Ok(ModelDelta::Text("°C".into())),
    ///         Ok(ModelDelta::Finished(FinishReason::Stop)),
    ///     ])
    /// });
    /// # drop(model);
    /// ```
    pub fn streaming<S>(make: impl Fn(ChatRequest) -> S + Send + Sync + 'static) -> Self
    where
        S: Stream<Item = Result<ModelDelta, ModelError>> + Send + 'static,
    {
        let make = move |request| Box::pin(make(request)) as Deltas;
        Self(Arc::new(Function::Deltas(Box::new(make))))
    }
}

fn answer(turn: Turn, ids: &Mutex<CallIds>) -> Answer {
    Answer::new(
        turn,
        &mut ids.lock().unwrap_or_else(PoisonError::into_inner),
    )
}

impl ChatModel for FunctionModel {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        match &*self.0 {
            Function::Turns { make, ids } => answer(make(&request), ids).stream(),
            Function::Deltas(make) => make(request),
        }
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        match &*self.0 {
            Function::Turns { make, ids } => answer(make(&request), ids).chat(),
            Function::Deltas(make) => Box::pin(delta::fold(make(request))),
        }
    }

    fn name(&self) -> &str {
        "function"
    }

    fn provider(&self) -> &str {
        "function"
    }
}

impl fmt::Debug for FunctionModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionModel").finish_non_exhaustive()
    }
}
