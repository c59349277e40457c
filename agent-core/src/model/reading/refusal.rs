//! Answers that are none: of a bad status, of another type, a web page.

use super::report::Report;
use crate::model::http::Reply;
use crate::model::{ModelError, ModelErrorKind};

/// Most bytes of an error's body that are read.
const MAX_BODY: usize = 64 * 1024;

/// The error that words in the middle of a stream are, if they are one.
/// <https://github.com/lucasjinreal/Crane/pull/121>
pub(super) fn in_words(words: &str) -> Option<ModelError> {
    words.to_ascii_lowercase().contains("error").then(|| {
        let message = format!("the provider reported an error: {words}");
        ModelError::new(ModelErrorKind::ProviderError, message).with_retryable(true)
    })
}

/// The error at the end of a stream in which these words stood.
pub(super) fn ended_with(error: ModelError, words: &str) -> ModelError {
    let is_odd =
        |it: char| it == char::REPLACEMENT_CHARACTER || (it.is_control() && !it.is_whitespace());
    if words.contains(is_odd) {
        return error;
    }
    let kind = match error.kind() {
        // Nothing but words is no answer of the API, and asking again gives no other.
        ModelErrorKind::EmptyResponse => ModelErrorKind::Decode,
        kind => kind,
    };
    ModelError::new(kind, format!("{error}; it said `{words}`"))
}

/// The error an answer with a bad status is.
pub(super) async fn refused(mut reply: Reply) -> ModelError {
    let status = reply.status();
    let mut message = format!(
        "`{}` answered {status} {}",
        reply.endpoint().shown(),
        reply.reason()
    );
    message.truncate(message.trim_end().len());
    let body = match reply.encoding() {
        "" => reply.beginning(MAX_BODY).await,
        _ => Vec::new(),
    };
    let body = String::from_utf8_lossy(&body);
    let body = body.trim_start_matches('\u{feff}').trim();
    let mut report = Report::of(data_of(body)).unwrap_or_else(|| {
        let is_page = is_page(reply.media_type(), body);
        Report::in_words(match serde_json::from_str(body) {
            Ok(text) => text,
            Err(_) if is_page => page(body),
            Err(_) => body.to_owned(),
        })
    });
    if report.class.is_empty() {
        // Amazon names the type of an error here, and where it is documented behind it.
        let class = reply.header("x-amzn-errortype");
        let class = class.split(':').next().unwrap_or_default();
        class.trim().clone_into(&mut report.class);
    }
    if (300..400).contains(&status) {
        message.push_str("; redirects are not followed, because the key would go with them");
    } else if !report.message.is_empty() {
        message.push_str(": ");
        message.push_str(&report.message);
    }
    let wait = reply.retry_after();
    let kind = report.kind_of(status, wait.is_some());
    let mut error = ModelError::new(kind, message).with_status(status);
    if let Some(wait) = wait {
        error = error.with_retry_after(wait);
    }
    if let Ok(retry) = reply.header("x-should-retry").trim().parse() {
        error = error.with_retryable(retry);
    }
    error = report.onto(error);
    if error.retry_after().is_none()
        && kind == ModelErrorKind::RateLimited
        && let Some(wait) = reply.reset_after()
    {
        error = error.with_retry_after(wait);
    }
    error.redacted(reply.endpoint().secrets())
}

/// The error a web page is, where an answer of the API was expected.
pub(super) async fn not_the_api(mut reply: Reply, api: &str) -> ModelError {
    let body = reply.beginning(MAX_BODY).await;
    let message = format!(
        "`{}` answered with {}, which is no answer of {api}; is the base URL right?",
        reply.endpoint().shown(),
        page(&String::from_utf8_lossy(&body)),
    );
    unexpected(message, &reply)
}

/// As [`not_the_api`], where nothing but the body tells it.
pub(super) fn page_of(api: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::UnexpectedContentType,
        format!("the answer is an HTML page, which is no answer of {api}; is the base URL right?"),
    )
}

/// The error an answer is that nobody asked to be compressed.
pub(super) fn compressed(reply: &Reply) -> ModelError {
    let message = format!(
        "`{}` answered in the encoding `{}`, which was not asked for",
        reply.endpoint().shown(),
        reply.encoding(),
    );
    unexpected(message, reply)
}

fn unexpected(message: String, reply: &Reply) -> ModelError {
    ModelError::new(ModelErrorKind::UnexpectedContentType, message)
        .with_status(reply.status())
        .redacted(reply.endpoint().secrets())
}

/// True if this is a web page.
pub(super) fn is_page(media_type: &str, body: &str) -> bool {
    let start = body.trim_start().get(..9).unwrap_or_default();
    let is_html = |word: &[u8]| word.eq_ignore_ascii_case(b"html");
    media_type.as_bytes().windows(4).any(is_html)
        || start.eq_ignore_ascii_case("<!doctype")
        || start.to_ascii_lowercase().starts_with("<html")
}

fn page(body: &str) -> String {
    let title = body
        .split_once("<title>")
        .and_then(|(_, rest)| rest.split_once("</title>"));
    match title {
        Some((title, _)) => format!("the HTML page `{}`", title.trim()),
        None => "an HTML page".to_owned(),
    }
}

/// What a body says, or the event of a body that is an event stream.
fn data_of(body: &str) -> &str {
    let mut lines = body.lines();
    let data = lines.find_map(|line| line.strip_prefix("data:"));
    data.filter(|data| data.trim_start().starts_with('{'))
        .unwrap_or(body)
}
