//! Writes the settings of a chat-completions request, and tells which the server has not.

use serde_json::{Map, Value, json};

use super::quirks::{Forcing, Formats, Quirks};
use crate::model::families::{self, Refused};
use crate::model::http::Expect;
use crate::model::writing::set;
use crate::model::{ChatOptions, ChatRequest, ResponseFormat, ToolChoice};
use crate::schema::Dialect;
use crate::tool::ToolDefinition;

/// True if the request names its tools. A server that heeds no choice calls them in spite of
/// `none`, so it is not told of them then.
pub(super) fn offers_tools(
    options: &ChatOptions,
    tools: &[ToolDefinition],
    quirks: &Quirks,
) -> bool {
    let is_none = options.tool_choice == Some(ToolChoice::None);
    let is_heeded = quirks.forcing != Forcing::Nothing;
    !tools.is_empty() && (is_heeded || !is_none)
}

/// The settings behind the tools.
pub(super) fn fields(
    request: &ChatRequest,
    model: &str,
    quirks: &Quirks,
    expect: Expect,
) -> Map<String, Value> {
    let (options, tools) = (request.options(), request.tools().definitions());
    let refused = refused(options, tools, model, quirks);
    let mut fields = Map::new();
    let sampled = |number: Option<f64>| number.filter(|_| !refused.sampling);
    set(&mut fields, "temperature", sampled(options.temperature));
    set(&mut fields, "top_p", sampled(options.top_p));
    set(&mut fields, quirks.token_limit, options.max_output_tokens);
    let stop = options.stop.iter().filter(|_| !refused.stop).flatten();
    let stop: Vec<&str> = stop
        .map(|text| &**text)
        .filter(|it| !it.is_empty())
        .collect();
    // "[] is too short - 'stop'"
    set(&mut fields, "stop", Some(stop).filter(|it| !it.is_empty()));
    if let Some(field) = quirks.seed {
        set(&mut fields, field, options.seed);
    }
    // Without tools, providers refuse what is said of them.
    if offers_tools(options, tools, quirks) {
        add_calling(&mut fields, request, quirks, refused);
    }
    let format = request.response_format();
    let format = format.and_then(|it| response_format(it, options.model_or(model), quirks));
    set(&mut fields, "response_format", format);
    add_extra(&mut fields, options, quirks, expect);
    fields
}

/// Adds the settings of how tools are called.
fn add_calling(
    fields: &mut Map<String, Value>,
    request: &ChatRequest,
    quirks: &Quirks,
    refused: Refused,
) {
    let (options, tools) = (request.options(), request.tools().definitions());
    let forcing = forcing(options, quirks, refused);
    let choice = options.tool_choice.as_ref();
    let choice = choice.and_then(|choice| tool_choice(choice, tools, forcing));
    set(fields, "tool_choice", choice);
    let is_taken = quirks.parallel && !refused.parallel_tool_calls;
    let parallel = options.parallel_tool_calls.filter(|_| is_taken);
    set(fields, "parallel_tool_calls", parallel);
    if refused.reasoning_beside_tools {
        set(fields, "reasoning_effort", Some("none"));
    }
}

/// Adds the settings that are not known here, which come over those that are.
fn add_extra(
    fields: &mut Map<String, Value>,
    options: &ChatOptions,
    quirks: &Quirks,
    expect: Expect,
) {
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
}

/// Whether the answer is streamed, and with token counts.
pub(super) fn streaming(request: &ChatRequest, quirks: &Quirks, expect: Expect) -> &'static str {
    let is_theirs = request.options().extra.contains_key("stream_options");
    match expect {
        Expect::Json => "",
        Expect::EventStream if quirks.stream_options && !is_theirs => {
            r#","stream":true,"stream_options":{"include_usage":true}"#
        }
        Expect::EventStream => r#","stream":true"#,
    }
}

/// What the model refuses at this server beside these tools.
fn refused(
    options: &ChatOptions,
    tools: &[ToolDefinition],
    model: &str,
    quirks: &Quirks,
) -> Refused {
    let model = options.model_or(model);
    let effort = options.extra.get("reasoning_effort");
    let mut refused = families::refused(model, effort.and_then(Value::as_str));
    refused.reasoning_beside_tools &= quirks.reasons_or_calls;
    if refused.reasoning_beside_tools && offers_tools(options, tools, quirks) {
        // It is told not to reason, and then takes what it refuses else.
        let unreasoning = families::refused(model, Some("none"));
        refused = Refused {
            reasoning_beside_tools: true,
            ..unreasoning
        };
    }
    refused.sampling |= refused.sampling_at_home && quirks.fixes_sampling;
    refused
}

fn forcing(options: &ChatOptions, quirks: &Quirks, refused: Refused) -> Forcing {
    match refused.forcing {
        true => Forcing::Never,
        false => quirks.forcing(options),
    }
}

/// The settings that this server has not, as they are sent with these tools.
pub(super) fn unsupported(
    options: &ChatOptions,
    tools: &[ToolDefinition],
    model: &str,
    quirks: &Quirks,
) -> Vec<&'static str> {
    let refused = refused(options, tools, model, quirks);
    let forcing = forcing(options, quirks, refused);
    let choice = options.tool_choice.as_ref();
    let is_lost = choice.is_some_and(|choice| !is_heeded(choice, tools, forcing));
    let mut stops = options.stop.iter().flatten();
    let settings = [
        (
            "temperature",
            options.temperature.is_some() && refused.sampling,
        ),
        ("top_p", options.top_p.is_some() && refused.sampling),
        ("seed", options.seed.is_some() && quirks.seed.is_none()),
        ("stop", stops.any(|text| text.is_empty() || refused.stop)),
        ("tool_choice", is_lost),
        (
            "parallel_tool_calls",
            options.parallel_tool_calls.is_some()
                && (!quirks.parallel || refused.parallel_tool_calls),
        ),
    ];
    options.left_out(settings)
}

fn response_format(format: &ResponseFormat, model: &str, quirks: &Quirks) -> Option<Value> {
    let ResponseFormat::JsonSchema(output) = format else {
        return Some(json!({"type": "json_object"}));
    };
    if quirks.formats == Formats::Object || families::holds_no_schema(model) {
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

/// True if what is sent for a choice says as much.
fn is_heeded(choice: &ToolChoice, tools: &[ToolDefinition], forcing: Forcing) -> bool {
    match (choice, forcing) {
        (ToolChoice::Auto | ToolChoice::None, _) | (_, Forcing::Any) => true,
        (_, Forcing::Never | Forcing::Nothing) => false,
        (ToolChoice::Required, Forcing::Required) | (ToolChoice::Named(_), Forcing::Named) => true,
        // One must be called, or this one: that is the same if there is no other.
        (ToolChoice::Required, Forcing::Named) | (ToolChoice::Named(_), Forcing::Required) => {
            tools.len() == 1
        }
    }
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
