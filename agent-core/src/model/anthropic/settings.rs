//! Writes the settings of a Messages request, and tells which the provider has not.

use serde_json::{Map, Value, json};

use super::message::{Server, is_thought};
use super::wire::Asking;
use crate::model::families::{Refused, holds_no_schema, is_claude, refused, thinks_unasked};
use crate::model::http::{Expect, Piece, closing};
use crate::model::writing::set;
use crate::model::{ChatOptions, ChatRequest, ResponseFormat, ToolChoice};
use crate::schema::Dialect;

/// Everything behind the messages, up to the closing brace.
pub(super) fn tail(request: &ChatRequest, asking: &Asking<'_>, has_tools: bool) -> Piece {
    let options = request.options();
    let refused = refused(options.model_or(asking.model), None);
    let mut fields = Map::new();
    let temperature = options.temperature;
    let temperature = temperature.filter(|_| takes_temperature(options, refused));
    set(&mut fields, "temperature", temperature);
    let top_p = options.top_p;
    let top_p = top_p.filter(|_| takes_top_p(options, asking.model, refused));
    set(&mut fields, "top_p", top_p);
    let stop = options.stop.iter().flatten().map(|text| &**text);
    let stop: Vec<&str> = stop.filter(|text| !text.trim().is_empty()).collect();
    let stop = Some(stop).filter(|stop| !stop.is_empty());
    set(&mut fields, "stop_sequences", stop);
    if has_tools {
        let one = options.parallel_tool_calls == Some(false);
        let choice = options.tool_choice.as_ref();
        let choice = choice.filter(|choice| !forces(choice) || takes_forcing(options, refused));
        set(&mut fields, "tool_choice", tool_choice(choice, one));
    }
    if let Some(ResponseFormat::JsonSchema(output)) = request.response_format()
        && !holds_no_schema(options.model_or(asking.model))
    {
        let schema = &output.in_dialect(Dialect::AnthropicStrict).schema;
        let format = json!({"format": {"type": "json_schema", "schema": schema}});
        set(&mut fields, "output_config", Some(format));
    }
    if asking.expect == Expect::EventStream {
        set(&mut fields, "stream", Some(true));
    }
    add_extra(&mut fields, options);
    let must_think = options.extra.get("thinking").map(|it| &it["type"]) == Some(&json!("enabled"));
    if must_think && goes_on_unthought(request, asking.server) {
        tracing::debug!("another model began this turn, so it is ended without thinking");
        fields.remove("thinking");
    }
    if asking.drops_thoughts && refused.moved_thoughts {
        drop_moved_thoughts(&mut fields);
    }
    closing(fields)
}

/// What a request is made of; nobody sets it beside.
const OURS: [&str; 6] = [
    "model",
    "messages",
    "system",
    "tools",
    "stream",
    "max_tokens",
];

/// Adds the settings that are not known here, which come over those that are.
fn add_extra(fields: &mut Map<String, Value>, options: &ChatOptions) {
    for (key, value) in &options.extra {
        match (fields.get_mut(key), value) {
            _ if OURS.contains(&&**key) => {}
            // How hard it tries stands beside the form of the answer.
            (Some(Value::Object(set)), Value::Object(more)) => set.extend(more.clone()),
            _ => drop(fields.insert(key.clone(), value.clone())),
        }
    }
}

/// Asks that thoughts behind a changed beginning are dropped, unless the user says what is to be done
/// with them. Such a model takes no `thinking` as `adaptive`.
fn drop_moved_thoughts(fields: &mut Map<String, Value>) {
    let thinking = fields
        .entry("thinking")
        .or_insert_with(|| json!({"type": "adaptive"}));
    let takes_it = matches!(thinking["type"].as_str(), Some("adaptive" | "enabled"));
    if let Some(thinking) = thinking.as_object_mut().filter(|_| takes_it) {
        thinking
            .entry("block_binding")
            .or_insert_with(|| json!({"prefix_mismatch_behavior": "drop_block"}));
    }
}

/// True if the last answer waits for its results and does not begin with thinking, as that of
/// another provider: a request that must think is refused then.
fn goes_on_unthought(request: &ChatRequest, server: Server) -> bool {
    let mut has_results = false;
    for message in request.messages().rev() {
        if let Some(answer) = message.as_assistant() {
            let first = answer.opaque.iter().find(|part| server.takes(part));
            let begins = first.is_some_and(|part| {
                (part.after_text, part.after_calls) == (0, 0) && is_thought(part)
            });
            return has_results && !begins;
        }
        has_results |= !message.tool_results().is_empty();
    }
    false
}

/// True if the model is to think before it answers.
fn thinks(options: &ChatOptions) -> bool {
    let thinking = options.extra.get("thinking");
    thinking.is_some_and(|it| it.is_object() && it["type"] != "disabled")
}

/// What every model of today can write in one answer; the API wants a number.
const MAX_TOKENS: u64 = 8192;

/// Room for the thoughts of a model that thinks unasked.
const THOUGHTS: u64 = 12_288;

/// The most tokens of an answer, thoughts among them. Where nobody named a number, ours makes room
/// for the thoughts: "`max_tokens` must be greater than `thinking.budget_tokens`".
pub(super) fn max_tokens(options: &ChatOptions, asking: &Asking<'_>) -> u64 {
    let unasked = match thinks_unasked(options.model_or(asking.model)) {
        true => MAX_TOKENS + THOUGHTS,
        false => MAX_TOKENS,
    };
    let ours = asking.max_output_tokens.map_or(unasked, u64::from);
    let thinking = options.extra.get("thinking");
    let budget = thinking.and_then(|it| it["budget_tokens"].as_u64());
    let budget = budget.unwrap_or_default();
    match options.max_output_tokens {
        Some(tokens) => tokens.into(),
        None if budget >= ours => budget.saturating_add(ours),
        None => ours,
    }
}

/// False beside what a model does not take it with.
///
/// "`temperature` and `top_p` cannot both be specified for this model. Please use only one.":
/// <https://github.com/BerriAI/litellm/issues/15097>. "When thinking is enabled, you can set
/// `top_p` to values between 1 and 0.95":
/// <https://platform.claude.com/docs/en/build-with-claude/extended-thinking>.
fn takes_top_p(options: &ChatOptions, asked: &str, refused: Refused) -> bool {
    if refused.sampling {
        return false;
    }
    if !is_claude(options.model_or(asked)) {
        return true;
    }
    match thinks(options) {
        true => options.top_p.is_none_or(|top_p| top_p >= 0.95),
        false => options.temperature.is_none(),
    }
}

fn takes_temperature(options: &ChatOptions, refused: Refused) -> bool {
    !refused.sampling && !thinks(options)
}

fn takes_forcing(options: &ChatOptions, refused: Refused) -> bool {
    !refused.forcing && !thinks(options)
}

fn forces(choice: &ToolChoice) -> bool {
    matches!(choice, ToolChoice::Required | ToolChoice::Named(_))
}

/// The settings that the provider has not, or not beside others of these.
///
/// "Thinking isn't compatible with temperature or top_k modifications as well as forced tool
/// use": <https://platform.claude.com/docs/en/build-with-claude/extended-thinking>, "Feature
/// compatibility".
pub(super) fn unsupported(options: &ChatOptions, asked: &str) -> Vec<&'static str> {
    let refused = refused(options.model_or(asked), None);
    let forced = options.tool_choice.as_ref().is_some_and(forces);
    let mut stops = options.stop.iter().flatten();
    let settings = [
        ("seed", options.seed.is_some()),
        ("stop", stops.any(|text| text.trim().is_empty())),
        ("tool_choice", forced && !takes_forcing(options, refused)),
        (
            "temperature",
            options.temperature.is_some() && !takes_temperature(options, refused),
        ),
        (
            "top_p",
            options.top_p.is_some() && !takes_top_p(options, asked, refused),
        ),
    ];
    options.left_out(settings)
}

fn tool_choice(choice: Option<&ToolChoice>, one: bool) -> Option<Value> {
    let mut written = match choice {
        None if !one => return None,
        None | Some(ToolChoice::Auto) => json!({"type": "auto"}),
        Some(ToolChoice::None) => return Some(json!({"type": "none"})),
        Some(ToolChoice::Required) => json!({"type": "any"}),
        Some(ToolChoice::Named(name)) => json!({"type": "tool", "name": name}),
    };
    if one {
        written["disable_parallel_tool_use"] = true.into();
    }
    Some(written)
}
