//! Request rules of the providers, written down apart from the code that keeps them.
//!
//! Each rule names where it comes from: a provider's document, or the error its server answers
//! with. A request that breaks one is answered with HTTP 400, mostly long after the mistake.

use std::collections::HashSet;

use agent_core::model::openai::Profile;
use serde_json::Value;

type Checked = Result<(), String>;

fn must(holds: bool, rule: &str, what: &Value) -> Checked {
    if holds {
        return Ok(());
    }
    Err(format!("{rule}: {what}"))
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| list)
}

fn is_word(text: &str, most: usize) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !text.is_empty() && text.len() <= most && text.bytes().all(fits)
}

/// Rules of chat completions, and those of this server.
///
/// # Errors
///
/// The first rule that is broken.
pub fn chat_completions(body: &Value, profile: Profile) -> Checked {
    let messages = items(&body["messages"]);
    // "[] is too short - 'messages'"
    must(!messages.is_empty(), "there is a message", body)?;
    // A setting that is not set is left out: "null is not of type …" at several servers.
    let no_null = |(_, value): (&String, &Value)| !value.is_null();
    let all_set = body.as_object().into_iter().flatten().all(no_null);
    must(all_set, "no setting is null", body)?;
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        // "An assistant message with 'tool_calls' must be followed by tool messages responding
        // to each 'tool_call_id'" and "messages with role 'tool' must be a response to a
        // preceding message with 'tool_calls'" (OpenAI)
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let place = open.iter().position(|open| *open == id);
            must(place.is_some(), "a result answers an open call", message)?;
            open.remove(place.unwrap_or_default());
            must(
                message["content"].is_string(),
                "a result is a text",
                message,
            )?;
            continue;
        }
        must(
            open.is_empty(),
            "every call has its result at once",
            message,
        )?;
        let fields = message.as_object().into_iter().flatten();
        let nulls = fields.filter(|(_, value)| value.is_null());
        let nulls: Vec<&str> = nulls.map(|(key, _)| &**key).collect();
        let calls = items(&message["tool_calls"]);
        // `content` is "required unless `tool_calls` is specified", and may be null then (OpenAI)
        let may_be_null = nulls.is_empty() || (nulls == ["content"] && !calls.is_empty());
        must(
            may_be_null,
            "no field is null but the content beside calls",
            message,
        )?;
        match role {
            "system" | "user" => content(message)?,
            "assistant" => {
                answer(message, profile)?;
                if calls.is_empty() {
                    content(message)?;
                }
                // "[] is too short - 'messages.1.tool_calls'"
                let is_list = message.get("tool_calls").is_none() || !calls.is_empty();
                must(is_list, "no list of calls is empty", message)?;
                let mut ids = HashSet::new();
                for call in calls {
                    one_call(call, profile)?;
                    let id = call["id"].as_str().unwrap_or_default();
                    must(ids.insert(id), "ids of one message differ", message)?;
                    open.push(id);
                }
            }
            _ => must(false, "a role is known", message)?,
        }
    }
    must(open.is_empty(), "every call has its result", body)?;
    match profile {
        Profile::Mistral | Profile::StrictAlternation => turns(messages),
        // "System message must be at the beginning" (templates of models)
        Profile::LlamaCpp | Profile::Vllm | Profile::Ollama | Profile::Compatible => {
            let later = messages.iter().skip(1).find(|it| it["role"] == "system");
            must(later.is_none(), "the system speaks first and once", body)
        }
        _ => Ok(()),
    }
}

/// What this server wants of an answer in the history, whoever gave it.
fn answer(message: &Value, profile: Profile) -> Checked {
    let first = message.pointer("/tool_calls/0");
    match profile {
        // "Assistant message must have either content or tool_calls, but not both." (Mistral)
        Profile::Mistral => must(
            first.is_none() || message["content"].is_null(),
            "an answer says something or calls",
            message,
        ),
        // "invalid message content type: <nil>" (Ollama), "The content field is a required field."
        // (Qwen)
        Profile::Ollama | Profile::Qwen => {
            must(message["content"].is_string(), "content is a text", message)
        }
        // "Missing `reasoning_content` field in the assistant message" (DeepSeek), "thinking is
        // enabled but reasoning_content is missing in assistant tool call message" (Moonshot)
        Profile::DeepSeek | Profile::Moonshot => must(
            message["reasoning_content"].is_string(),
            "an answer has its reasoning",
            message,
        ),
        // "Function call is missing a thought_signature in functionCall parts." (Gemini)
        Profile::Gemini => must(
            first.is_none_or(|call| call["extra_content"].is_object()),
            "the first call is signed",
            message,
        ),
        _ => Ok(()),
    }
}

/// "Invalid type for content", "text content must not be empty" (several servers)
fn content(message: &Value) -> Checked {
    let is_said = |text: &Value| text.as_str().is_some_and(|text| !text.trim().is_empty());
    let parts = items(&message["content"]);
    let has_part = |part: &Value| part["type"] == "image_url" || is_said(&part["text"]);
    let holds = is_said(&message["content"]) || parts.iter().any(has_part);
    must(holds, "a message says something", message)
}

fn one_call(call: &Value, profile: Profile) -> Checked {
    let id = call["id"].as_str().unwrap_or_default();
    let fits = match profile {
        // "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9." (Mistral)
        Profile::Mistral => id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()),
        // "string too long. Expected a string with maximum length 40" (OpenAI)
        Profile::OpenAi | Profile::Azure => !id.is_empty() && id.len() <= 40,
        _ => !id.is_empty(),
    };
    must(fits, "an id is one the server takes", call)?;
    let function = &call["function"];
    let name = function["name"].as_str().unwrap_or_default();
    let fits = match profile {
        Profile::Compatible | Profile::StrictAlternation | Profile::Vllm => !name.is_empty(),
        Profile::Ollama | Profile::LlamaCpp => !name.is_empty(),
        // "string does not match pattern. Expected … '^[a-zA-Z0-9_-]+$'" (OpenAI)
        _ => is_word(name, 64),
    };
    must(fits, "a name is one the server takes", call)?;
    must(call["type"] == "function", "a call has its type", call)?;
    // "Extra inputs are not permitted" (Mistral)
    let is_known = |key: &String| matches!(&**key, "id" | "type" | "function");
    let mut fields = call.as_object().into_iter().flat_map(|call| call.keys());
    let holds = profile != Profile::Mistral || fields.all(is_known);
    must(holds, "a call has no other fields", call)?;
    // Servers that fill a template read the arguments: "Expecting value" (vLLM, llama.cpp)
    let arguments = function["arguments"].as_str().unwrap_or_default();
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    must(
        arguments.is_object(),
        "arguments are an object in a text",
        call,
    )
}

/// "After the optional system message, conversation roles must alternate user/assistant",
/// "Unexpected role 'user' after role 'tool'", "Expected last role User or Tool" (Mistral)
fn turns(messages: &[Value]) -> Checked {
    let mut last = "start";
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        let holds = match role {
            "system" => last == "start",
            "user" => matches!(last, "start" | "system" | "assistant"),
            "assistant" => matches!(last, "user" | "tool"),
            _ => matches!(last, "assistant" | "tool"),
        };
        must(
            holds,
            &format!("`{role}` may not come after `{last}`"),
            message,
        )?;
        last = role;
    }
    let holds = matches!(last, "user" | "tool");
    must(holds, "the last word is not the model's", &last.into())
}

/// Rules of the Messages API.
///
/// # Errors
///
/// The first rule that is broken.
pub fn messages(body: &Value) -> Checked {
    // "max_tokens: Field required"
    must(
        body["max_tokens"].as_u64() > Some(0),
        "there is a token limit",
        body,
    )?;
    let messages = items(&body["messages"]);
    // "messages: at least one message is required"
    must(!messages.is_empty(), "there is a message", body)?;
    // "first message must use the "user" role"; a last message of the model is a prefill, which
    // newer models refuse: "The conversation must end with a user message."
    for message in [messages.first(), messages.last()].into_iter().flatten() {
        must(
            message["role"] == "user",
            "the user begins and ends",
            message,
        )?;
    }
    for block in items(&body["system"]) {
        said(block)?;
    }
    // "A maximum of 4 blocks with cache_control may be provided."
    let marks = body.to_string().matches(r#""cache_control":{"#).count();
    must(marks <= 4, "few marks for the cache", body)?;
    let mut ids = HashSet::new();
    let mut open: Vec<&str> = Vec::new();
    let mut last = "";
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        // "roles must alternate between "user" and "assistant""
        must(role != last, "roles take turns", message)?;
        last = role;
        let blocks = items(&message["content"]);
        // "all messages must have non-empty content"
        must(!blocks.is_empty(), "a message says something", message)?;
        if role == "user" {
            user(message, blocks, &mut open)?;
            continue;
        }
        must(role == "assistant", "a role is known", message)?;
        for block in blocks {
            match block["type"].as_str() {
                Some("text") => said(block)?,
                // "`thinking` or `redacted_thinking` blocks … cannot be modified"
                Some("thinking") => must(block["signature"].is_string(), "signed", block)?,
                Some("redacted_thinking") => must(block["data"].is_string(), "sealed", block)?,
                Some("tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default();
                    // "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                    must(is_word(id, 256), "an id is one the API takes", block)?;
                    // "`tool_use` ids must be unique"
                    must(ids.insert(id), "no id comes again", block)?;
                    let name = block["name"].as_str().unwrap_or_default();
                    must(is_word(name, 128), "a name is one the API takes", block)?;
                    // "tool_use.input: Input should be a valid dictionary"
                    must(block["input"].is_object(), "an input is an object", block)?;
                    open.push(id);
                }
                _ => must(false, "a block of the model has a known type", block)?,
            }
        }
        // "The final block in an assistant message cannot be `thinking`."
        let kind = blocks.last().and_then(|block| block["type"].as_str());
        let holds = kind.is_some_and(|kind| !kind.contains("thinking"));
        must(holds, "thinking is not the last word", message)?;
    }
    must(open.is_empty(), "every call has its result", body)
}

/// "text content blocks must be non-empty", "… must contain non-whitespace text"
fn said(block: &Value) -> Checked {
    let text = block["text"].as_str().unwrap_or_default();
    must(!text.trim().is_empty(), "a text says something", block)
}

/// "Each `tool_use` block must have a corresponding `tool_result` block in the next message",
/// "unexpected `tool_use_id` found in `tool_result` blocks", results before everything else
fn user<'a>(message: &Value, blocks: &'a [Value], open: &mut Vec<&'a str>) -> Checked {
    let mut results_may_come = true;
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => said(block)?,
            Some("image") => picture(block)?,
            Some("tool_result") => {
                must(results_may_come, "results come first", message)?;
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                let place = open.iter().position(|open| *open == id);
                must(place.is_some(), "a result answers an open call", block)?;
                open.remove(place.unwrap_or_default());
                // "content cannot be empty if `is_error` is true"
                match &block["content"] {
                    Value::String(text) => {
                        must(!text.is_empty(), "a result says something", block)?
                    }
                    content => must(!items(content).is_empty(), "a result says something", block)?,
                }
                for part in items(&block["content"]) {
                    match part["type"].as_str() {
                        // "all content must be type 'text' if 'is_error' is true"
                        Some("image") if block["is_error"] == true => {
                            must(false, "an error is a text", block)?;
                        }
                        Some("image") => picture(part)?,
                        _ => said(part)?,
                    }
                }
                continue;
            }
            _ => must(false, "a block of the user has a known type", block)?,
        }
        results_may_come = false;
    }
    must(
        open.is_empty(),
        "every call has its result at once",
        message,
    )
}

/// "media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
fn picture(block: &Value) -> Checked {
    let kinds = ["image/jpeg", "image/png", "image/gif", "image/webp"];
    let kind = block["source"]["media_type"].as_str().unwrap_or_default();
    must(
        kinds.contains(&kind),
        "a picture is of a kind the API takes",
        block,
    )
}
