//! What kind of error the words and numbers of a server tell, and whether a retry helps.

use super::report::Report;
use crate::model::{ModelError, ModelErrorKind};

/// What tells too many requests, in small letters.
const RATE_LIMITED: [&str; 7] = [
    "rate_limit",
    "ratelimit",
    "throttl",
    "resource_exhausted",
    "too_many_requests",
    "toomanyrequests",
    "request_limit_exceeded",
];

/// The same as the codes of one provider: <https://docs.z.ai/api-reference/api-code>.
const RATE_LIMITED_CODES: [&str; 3] = ["1302", "1303", "1305"];

/// A failure that may pass.
const PASSING: [&str; 9] = [
    "server_error",
    "api_error",
    "overloaded",
    "timeout",
    "unavailable",
    "internal",
    "deadline_exceeded",
    "modelstreamerror",
    "upstream",
];

/// The same where a server gives words alone.
/// <https://github.com/langchain-ai/deepagents/pull/6304>
const PASSING_IN_WORDS: [&str; 6] = [
    "again later",
    "retry later",
    "overloaded",
    "timed out",
    "timeout",
    "temporarily unavailable",
];

/// All that some gateways say of a provider behind them that failed, with a status that tells of a
/// fault in the request.
/// <https://github.com/cloudflare/ai/issues/436>,
/// <https://github.com/langchain-ai/langchainjs/issues/11573>
const BEHIND: [&str; 2] = [
    "failed to get response from provider",
    "provider returned error",
];

/// An account that no waiting fills.
const SPENT: [&str; 8] = [
    "insufficient_quota",
    "exceeded_current_quota",
    "insufficient_balance",
    "insufficient_credit",
    "billing",
    "creditserror",
    // https://www.volcengine.com/docs/82379/1299023
    "accountoverdue",
    "setlimitexceeded",
];

/// The same where only the message tells, because its code is that of any rate limit; the last are
/// requests that are larger than all that the limit allows.
/// <https://github.com/macanderson/stella/pull/2>, <https://docs.x.ai/docs/key-information/debugging>,
/// <https://github.com/vanna-ai/vanna-flask/issues/11>
const SPENT_IN_WORDS: [&str; 8] = [
    "insufficient balance",
    "insufficient credit",
    "used all available credits",
    "credit balance is too low",
    "\u{4f59}\u{989d}\u{4e0d}\u{8db3}",
    "\u{6b20}\u{8d39}",
    "request too large",
    "must be reduced in order to run",
];

/// What lies in the request, though the status may say that the server failed.
const OF_REQUEST: [&str; 3] = [
    "context_length_exceeded",
    "exceed_context_size",
    "content_filter",
];

impl Report {
    /// True if one of the words stands in the code or the type, which some servers write in
    /// capitals, or each word with one.
    fn says(&self, words: &[&str]) -> bool {
        let code = self.code.as_deref().unwrap_or_default();
        let said = format!("{code} {}", self.class).to_ascii_lowercase();
        words.iter().any(|word| said.contains(word))
    }

    /// True for news whose code says that nothing went wrong.
    pub(super) fn is_success(&self) -> bool {
        matches!(self.code.as_deref(), Some("0" | "200"))
    }

    /// The status that the code is, or is one of: some servers number their errors from 40001 and
    /// 50001 on. Any other number is a word of the server's own.
    /// <https://github.com/lm-sys/FastChat/blob/main/fastchat/constants.py>
    fn number(&self) -> Option<u16> {
        let code = self.code.as_deref()?.parse().ok()?;
        match code {
            100..600 => Some(code),
            40_000..60_000 => Some(code / 100),
            _ => None,
        }
    }

    /// The kind that code and type tell, whatever the status.
    fn told(&self) -> Option<ModelErrorKind> {
        let code = self.code.as_deref().unwrap_or_default();
        // https://console.groq.com/docs/errors
        if self.says(&["tool_use_failed", "output_parse_failed"]) {
            Some(ModelErrorKind::ToolGenerationFailed)
        } else if self.number() == Some(429)
            || self.says(&RATE_LIMITED)
            || RATE_LIMITED_CODES.contains(&code)
            || self.says(&["insufficient_quota", "exceeded_current_quota"])
        {
            Some(ModelErrorKind::RateLimited)
        } else {
            None
        }
    }

    /// The kind of an error inside of a good answer.
    pub(super) fn kind(&self) -> ModelErrorKind {
        self.told().unwrap_or(ModelErrorKind::ProviderError)
    }

    /// The kind of an error with this status.
    pub(super) fn kind_of(&self, status: u16, asks_to_wait: bool) -> ModelErrorKind {
        match (status, self.told()) {
            // A request that is too large is that also where the rates are what it is too large for.
            // https://console.groq.com/docs/errors
            (413, _) => ModelErrorKind::InvalidRequest,
            (_, Some(kind)) => kind,
            // https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
            (403, None) if asks_to_wait => ModelErrorKind::RateLimited,
            (401 | 403, None) => ModelErrorKind::Auth,
            (429, None) => ModelErrorKind::RateLimited,
            (400 | 404 | 422, None) => ModelErrorKind::InvalidRequest,
            _ => ModelErrorKind::HttpStatus,
        }
    }

    /// Says whether a retry helps, where the kind and the status do not tell or tell otherwise.
    fn retryable(&self, kind: ModelErrorKind, status: Option<u16>) -> Option<bool> {
        let message = self.message.to_lowercase();
        let is_spent = SPENT_IN_WORDS.iter().any(|words| message.contains(words));
        if is_spent
            || self.says(&SPENT)
            || self.says(&OF_REQUEST)
            || self.code.as_deref() == Some("1113")
        {
            return Some(false);
        }
        match (kind, status) {
            (ModelErrorKind::ProviderError, None) => {
                let passes = self.number().is_some_and(ModelError::passes);
                let has_words_alone = self.code.is_none() && self.class.is_empty();
                let says = |words: &&str| has_words_alone && message.contains(words);
                Some(passes || self.says(&PASSING) || PASSING_IN_WORDS.iter().any(says))
            }
            // What the model wrote may be right the next time, though the request is as it was.
            (ModelErrorKind::InvalidRequest, Some(_)) => {
                let may_pass = self.failed_generation.is_some()
                    || self.says(&["overloaded"])
                    || BEHIND.contains(&message.trim());
                may_pass.then_some(true)
            }
            _ => None,
        }
    }

    /// Adds what is told here to an error.
    pub(super) fn onto(self, mut error: ModelError) -> ModelError {
        if let Some(retryable) = self.retryable(error.kind(), error.status()) {
            error = error.with_retryable(retryable);
        }
        // One API has codes, another one names its errors by their type alone.
        let class = Some(self.class).filter(|class| !class.is_empty());
        if let Some(code) = self.code.or(class) {
            error = error.with_code(code);
        }
        if let Some(text) = self.failed_generation {
            error = error.with_failed_generation(text);
        }
        match self.wait {
            Some(wait) if error.retry_after().is_none() => error.with_retry_after(wait),
            _ => error,
        }
    }
}
