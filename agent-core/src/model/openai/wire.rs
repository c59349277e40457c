//! Writes a chat-completions request.
//!
//! Messages are written once into the text of their history, and tools into one kept with their
//! list; a request is a list of those texts with the options behind it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use super::message::{kept, push_kept};
use super::quirks::Quirks;
use super::settings::{fields, offers_tools, streaming};
use super::turns;
use crate::message::Message;
use crate::model::ChatRequest;
use crate::model::http::{Expect, Piece, closing};
use crate::model::mend::tell_put_in;
use crate::schema::{Dialect, DialectSchema};
use crate::tool::ToolDefinition;

/// The pieces of the request body, in order. It begins with the client's [`head`], unless another
/// model is asked.
pub(super) fn body(
    request: &ChatRequest,
    (client, model): (&Arc<str>, &str),
    quirks: &'static Quirks,
    dialect: Dialect,
    expect: Expect,
) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::with_capacity(8);
    pieces.push(match &request.options().model {
        None => client.into(),
        Some(model) => head(model).into(),
    });
    if quirks.takes_turns {
        pieces.extend(turns::pieces(request, quirks));
    } else if quirks.system_first {
        pieces.extend(turns::system_first(request, quirks));
    } else {
        pieces.extend(request.system().map(|message| kept(message, quirks).into()));
        let transcript = request.transcript();
        let write =
            |message: &Message, text: &mut String, (): &mut ()| push_kept(text, message, quirks);
        pieces.push(transcript.text(quirks.name, write, |text, ()| Arc::clone(text).into()));
    }
    // Each text begins with the comma that parts it from the message before.
    match pieces.iter_mut().skip(1).find(|piece| !piece.is_empty()) {
        Some(first) => first.cut_first(1),
        None => {
            tell_put_in(turns::FILLER);
            pieces.push(Piece::from(&turns::FILLER[1..]));
        }
    }
    pieces.push("]".into());
    let tools = request.tools();
    if offers_tools(request.options(), tools.definitions(), quirks) {
        pieces.push(tools.wire("openai-chat", dialect, written_tools).into());
    }
    pieces.push(streaming(request, quirks, expect).into());
    pieces.push(closing(fields(request, model, quirks, expect)));
    pieces
}

/// Everything before the messages.
pub(super) fn head(model: &str) -> String {
    let model = serde_json::to_string(model).unwrap_or_default();
    ["{\"model\":", &model, ",\"messages\":["].concat()
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    parameters: &'a RawValue,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
}

fn written_tools(definitions: &[(&ToolDefinition, &DialectSchema)]) -> String {
    let tools: Vec<Tool<'_>> = definitions
        .iter()
        .filter_map(|(definition, input)| {
            Some(Tool {
                r#type: "function",
                function: Function {
                    name: definition.name(),
                    description: definition.description(),
                    parameters: serde_json::from_str(&input.text).ok()?,
                    strict: input.strict,
                },
            })
        })
        .collect();
    let tools = serde_json::to_string(&tools).unwrap_or_else(|_| "[]".to_owned());
    format!(",\"tools\":{tools}")
}
