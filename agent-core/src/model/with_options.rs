//! A model with settings of its own.

use super::{ChatModel, ChatOptions, ChatRequest, ChatResponse, ModelDelta, ModelError, ToolList};
use crate::boxed::{BoxFuture, BoxStream};
use crate::schema::Dialect;

/// A model with settings of its own, which those of a request come over; made by
/// [`ChatModel::with_options`].
#[derive(Debug, Clone)]
pub struct WithOptions<M> {
    model: M,
    options: ChatOptions,
}

impl<M: ChatModel> WithOptions<M> {
    pub(super) fn new(model: M, options: ChatOptions) -> Self {
        Self { model, options }
    }

    fn over_own(&self, request: ChatRequest) -> ChatRequest {
        let options = self.options.merged(request.options());
        request.with_options(options)
    }
}

impl<M: ChatModel> ChatModel for WithOptions<M> {
    fn stream(&self, request: ChatRequest) -> BoxStream<'static, Result<ModelDelta, ModelError>> {
        self.model.stream(self.over_own(request))
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'static, Result<ChatResponse, ModelError>> {
        self.model.chat(self.over_own(request))
    }

    fn name(&self) -> &str {
        let own = self.options.model.as_deref();
        own.unwrap_or_else(|| self.model.name())
    }

    fn dialect(&self) -> Option<Dialect> {
        self.model.dialect()
    }

    fn holds_json_schema(&self, options: &ChatOptions) -> bool {
        self.model.holds_json_schema(&self.options.merged(options))
    }

    fn unsupported(&self, options: &ChatOptions, tools: &ToolList) -> Vec<&'static str> {
        self.model.unsupported(&self.options.merged(options), tools)
    }

    fn provider(&self) -> &str {
        self.model.provider()
    }
}
