//! What a model answered. Belongs to no provider.

use std::fmt;
use std::ops::{Add, AddAssign};

use crate::message::AssistantMessage;

/// Why a reply ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FinishReason {
    /// The model was done.
    Stop,
    /// The model waits for tool results.
    ToolCalls,
    /// The token limit was reached.
    Length,
    /// The provider held something back.
    ContentFilter,
    /// The results of `return_direct` tools are the answer; no model said so, we did.
    ReturnDirect,
    /// The provider's own word for anything else.
    Other(String),
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::ReturnDirect => "return_direct",
            Self::Other(word) => word,
        })
    }
}

/// Token counts of one reply, or summed over several.
///
/// `cached_input_tokens` and `cache_write_input_tokens` are part of `input_tokens`,
/// `reasoning_tokens` are part of `output_tokens`, and `total_tokens` is what the provider counts as
/// the whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
    /// All tokens.
    pub total_tokens: u64,
    /// Tokens of the request that were read from the provider's cache.
    pub cached_input_tokens: u64,
    /// Tokens of the request that were written to the provider's cache.
    pub cache_write_input_tokens: u64,
    /// Tokens of the reply that were reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Counts of request and reply; the total is their sum.
    #[must_use]
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            total_tokens: input_tokens.saturating_add(output_tokens),
            ..Self::default()
        }
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            total_tokens: self.total_tokens.saturating_add(other.total_tokens),
            cached_input_tokens: self
                .cached_input_tokens
                .saturating_add(other.cached_input_tokens),
            cache_write_input_tokens: self
                .cache_write_input_tokens
                .saturating_add(other.cache_write_input_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChatResponse {
    /// What the model said.
    pub message: AssistantMessage,
    /// Why it ended.
    pub finish_reason: FinishReason,
    /// Token counts, if the provider gave any.
    pub usage: Option<Usage>,
}

impl ChatResponse {
    /// A reply of these parts.
    #[must_use]
    pub fn new(
        message: AssistantMessage,
        finish_reason: FinishReason,
        usage: Option<Usage>,
    ) -> Self {
        Self {
            message,
            finish_reason,
            usage,
        }
    }
}
