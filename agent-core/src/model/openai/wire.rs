//! Writes a chat-completions request.
//!
//! Messages are written once into the text of their history, and tools into one kept with their
//! list; a request is a list of those texts with the options behind it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::message::{kept, push_kept};
use super::quirks::{Forcing, Formats, Quirks};
use super::turns;
use crate::message::Message;
use crate::model::families::{self, Refused};
use crate::model::http::{Expect, Piece, closing};
use crate::model::mend::tell_put_in;
use crate::model::{ChatOptions, ChatRequest, ResponseFormat, ToolChoice};
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
    if offers_tools(request, quirks) {
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

/// True if the request names its tools. A server that heeds no choice calls them in spite of
/// `none`, so it is not told of them then.
fn offers_tools(request: &ChatRequest, quirks: &Quirks) -> bool {
    let is_none = request.options().tool_choice == Some(ToolChoice::None);
    let is_heeded = quirks.forcing != Forcing::Nothing;
    !request.tools().definitions().is_empty() && (is_heeded || !is_none)
}

/// The settings behind the tools.
fn fields(
    request: &ChatRequest,
    model: &str,
    quirks: &Quirks,
    expect: Expect,
) -> Map<String, Value> {
    let options = request.options();
    let mut fields = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        // A number that is none would be written as null, which no server takes.
        if let Some(value) = value.filter(|value| !value.is_null()) {
            fields.insert(key.to_owned(), value);
        }
    };
    let refused = refused(options, model, quirks);
    let sampled = |number: Option<f64>| number.filter(|_| !refused.sampling).map(Value::from);
    set("temperature", sampled(options.temperature));
    set("top_p", sampled(options.top_p));
    set(
        quirks.token_limit,
        options.max_output_tokens.map(Value::from),
    );
    let stop = options.stop.iter().filter(|_| !refused.stop).flatten();
    let stop: Vec<&String> = stop.filter(|text| !text.is_empty()).collect();
    // "[] is too short - 'stop'"
    let stop = Some(stop).filter(|stop| !stop.is_empty());
    set("stop", stop.map(|stop| json!(stop)));
    if let Some(field) = quirks.seed {
        set(field, options.seed.map(Value::from));
    }
    if offers_tools(request, quirks) {
        let tools = request.tools().definitions();
        // Without tools, providers refuse both.
        let choice = options.tool_choice.as_ref();
        set(
            "tool_choice",
            choice.and_then(|choice| tool_choice(choice, tools, forcing(options, quirks, refused))),
        );
        let is_taken = quirks.parallel && !refused.parallel_tool_calls;
        let parallel = options.parallel_tool_calls.filter(|_| is_taken);
        set("parallel_tool_calls", parallel.map(Value::from));
        if refused.reasoning_beside_tools && quirks.reasons_or_calls {
            set("reasoning_effort", Some("none".into()));
        }
    }
    let format = request.response_format();
    set(
        "response_format",
        format.and_then(|format| response_format(format, quirks)),
    );
    for (key, value) in &options.extra {
        // "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        let is_out_of_place = key == "stream_options" && expect == Expect::Json;
        let is_ours = matches!(&**key, "model" | "messages" | "tools" | "stream");
        if !is_ours && !is_out_of_place {
            fields.insert(key.clone(), value.clone());
        }
    }
    // Other options of a stream do not mean that its tokens are not to be counted.
    if let Some(Value::Object(stream)) = fields.get_mut("stream_options")
        && quirks.stream_options
    {
        stream.entry("include_usage").or_insert(true.into());
    }
    fields
}

/// Whether the answer is streamed, and with token counts.
fn streaming(request: &ChatRequest, quirks: &Quirks, expect: Expect) -> &'static str {
    let is_theirs = request.options().extra.contains_key("stream_options");
    match expect {
        Expect::Json => "",
        Expect::EventStream if quirks.stream_options && !is_theirs => {
            r#","stream":true,"stream_options":{"include_usage":true}"#
        }
        Expect::EventStream => r#","stream":true"#,
    }
}

/// What the model refuses at this server.
fn refused(options: &ChatOptions, model: &str, quirks: &Quirks) -> Refused {
    let model = options.model_or(model);
    let effort = options.extra.get("reasoning_effort");
    let mut refused = families::refused(model, effort.and_then(Value::as_str));
    refused.sampling |= refused.sampling_at_home && quirks.fixes_sampling;
    refused
}

fn forcing(options: &ChatOptions, quirks: &Quirks, refused: Refused) -> Forcing {
    match refused.forcing {
        true => Forcing::Never,
        false => quirks.forcing(options),
    }
}

/// The settings that this server has not.
pub(super) fn unsupported(
    options: &ChatOptions,
    model: &str,
    quirks: &Quirks,
) -> Vec<&'static str> {
    let refused = refused(options, model, quirks);
    let forced = match (&options.tool_choice, forcing(options, quirks, refused)) {
        (Some(ToolChoice::Required), forcing) => {
            matches!(forcing, Forcing::Named | Forcing::Never | Forcing::Nothing)
        }
        (Some(ToolChoice::Named(_)), forcing) => {
            matches!(
                forcing,
                Forcing::Required | Forcing::Never | Forcing::Nothing
            )
        }
        _ => false,
    };
    let mut stops = options.stop.iter().flatten();
    let settings = [
        (
            "temperature",
            options.temperature.is_some() && refused.sampling,
        ),
        ("top_p", options.top_p.is_some() && refused.sampling),
        ("seed", options.seed.is_some() && quirks.seed.is_none()),
        ("stop", stops.any(|text| text.is_empty() || refused.stop)),
        ("tool_choice", forced),
        (
            "parallel_tool_calls",
            options.parallel_tool_calls.is_some()
                && (!quirks.parallel || refused.parallel_tool_calls),
        ),
    ];
    let missing = settings.into_iter().filter(|(_, is_missing)| *is_missing);
    let missing = missing.map(|(name, _)| name);
    missing.chain(options.not_numbers()).collect()
}

fn response_format(format: &ResponseFormat, quirks: &Quirks) -> Option<Value> {
    let ResponseFormat::JsonSchema(output) = format else {
        return Some(json!({"type": "json_object"}));
    };
    if quirks.formats == Formats::Object {
        return None;
    }
    let dialect = match quirks.has_limits {
        true => Dialect::OpenAiStrict,
        false => quirks.dialect,
    };
    let written = output.in_dialect(dialect);
    let mut schema = json!({"name": output.name(), "schema": written.schema});
    if !output.description().is_empty() {
        schema["description"] = output.description().into();
    }
    if written.strict {
        schema["strict"] = true.into();
    }
    Some(json!({"type": "json_schema", "json_schema": schema}))
}

/// What comes closest among what the server heeds.
fn tool_choice(choice: &ToolChoice, tools: &[ToolDefinition], forcing: Forcing) -> Option<Value> {
    let named = |name: &str| json!({"type": "function", "function": {"name": name}});
    let value = match (choice, forcing) {
        (ToolChoice::Auto, _) => "auto".into(),
        (ToolChoice::None, _) => "none".into(),
        (_, Forcing::Never | Forcing::Nothing) => return None,
        (ToolChoice::Required, Forcing::Named) => match tools {
            [only] => named(only.name()),
            _ => return None,
        },
        (ToolChoice::Named(_), Forcing::Required) | (ToolChoice::Required, _) => "required".into(),
        (ToolChoice::Named(name), _) => named(name),
    };
    Some(value)
}
