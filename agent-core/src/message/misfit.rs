//! Why a message does not fit a history.

/// Why a message cannot join a transcript.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// Calls of the last assistant message have no result yet.
    #[error("tool calls without a result: {}", list(.call_ids))]
    OpenCalls {
        /// The ids of the open calls, in call order.
        call_ids: Vec<String>,
    },
    /// A result answers a call that the last assistant message does not hold.
    #[error("result for `{call_id}`, which is no open tool call")]
    UnknownCall {
        /// The id the result names.
        call_id: String,
    },
    /// A call has a result already.
    #[error("second result for tool call `{call_id}`")]
    AlreadyAnswered {
        /// The id the result names.
        call_id: String,
    },
    /// Two calls of one assistant message share an id.
    #[error("two tool calls of one message have the id `{call_id}`")]
    DuplicateCallId {
        /// The shared id.
        call_id: String,
    },
}

fn list(ids: &[String]) -> String {
    let quoted: Vec<String> = ids.iter().map(|id| format!("`{id}`")).collect();
    quoted.join(", ")
}
