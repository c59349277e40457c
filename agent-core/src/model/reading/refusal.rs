//! Answers that are none: of a bad status, of another type, a web page.

use super::report::Report;
use crate::model::http::Reply;
use crate::model::{ModelError, ModelErrorKind};

/// Most bytes of an error's body that are read.
const MAX_BODY: usize = 64 * 1024;

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
    let is_page = is_page(reply.media_type(), &body);
    let report = Report::of(data_of(&body)).unwrap_or_else(|| {
        Report::in_words(match is_page {
            true => page(&body),
            false => body.trim().to_owned(),
        })
    });
    if (300..400).contains(&status) {
        message.push_str("; redirects are not followed, because the key would go with them");
    } else if !report.message.is_empty() {
        message.push_str(": ");
        message.push_str(&report.message);
    }
    let kind = report.kind().unwrap_or(match status {
        401 | 403 => ModelErrorKind::Auth,
        429 => ModelErrorKind::RateLimited,
        400 | 404 | 413 | 422 => ModelErrorKind::InvalidRequest,
        _ => ModelErrorKind::HttpStatus,
    });
    let mut error = ModelError::new(kind, message).with_status(status);
    if let Some(wait) = reply.retry_after() {
        error = error.with_retry_after(wait);
    }
    if let Ok(retry) = reply.header("x-should-retry").trim().parse() {
        error = error.with_retryable(retry);
    }
    report.onto(error).redacted(reply.endpoint().secrets())
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
