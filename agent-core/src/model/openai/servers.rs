//! What servers of the chat-completions API want and refuse: plain data, a table for each.
//!
//! Read from the servers' documents and from the errors of their servers in autumn 2026: a line
//! that differs from [`COMPATIBLE`] names the error or the page it is from above it, and is else
//! from the table's first source, where fields that are not listed count as not taken.

use super::quirks::{Forcing, Formats, Quirks, Thinking};
use crate::model::mend::CallIds;
use crate::schema::Dialect;

/// What most servers take.
pub(super) const COMPATIBLE: Quirks = Quirks {
    name: "compatible",
    provider: "openai",
    hosts: &[],
    key_header: "authorization",
    token_limit: "max_tokens",
    seed: Some("seed"),
    reasoning: None,
    reasoning_details: false,
    unreasoned: None,
    // What the official clients send back; some servers refuse calls beside "".
    no_text: "null",
    text_beside_calls: true,
    call_fields: true,
    unsigned: None,
    call_ids: CallIds::Any,
    names: None,
    takes_turns: false,
    // "System message must be at the beginning", as the templates of many models say, which most
    // servers of one's own use: https://github.com/ggml-org/llama.cpp/issues/27367
    system_first: true,
    forcing: Forcing::Any,
    thinking: None,
    plain: true,
    parallel: true,
    stream_options: true,
    formats: Formats::Maybe,
    dialect: Dialect::OpenAi,
    has_limits: false,
    fixes_sampling: false,
    reasons_or_calls: false,
    sources: &["https://platform.openai.com/docs/api-reference/chat/create"],
};

pub(super) const OPENAI: Quirks = Quirks {
    name: "openai",
    // In front stands the region that data stays in:
    // https://platform.openai.com/docs/guides/your-data
    hosts: &["api.openai.com", ".api.openai.com"],
    // "max_tokens: Deprecated in favor of max_completion_tokens"
    token_limit: "max_completion_tokens",
    // "string too long. Expected a string with maximum length 40":
    // https://github.com/agno-agi/agno/issues/5382
    call_ids: CallIds::Longest(40),
    // Those of other servers: "Additional properties are not allowed", and it has none of its own:
    // https://github.com/openai/openai-node/issues/1161
    call_fields: false,
    // "Must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64."
    names: Some(64),
    // https://platform.openai.com/docs/guides/structured-outputs
    formats: Formats::Schema,
    has_limits: true,
    reasons_or_calls: true,
    system_first: false,
    ..COMPATIBLE
};

pub(super) const AZURE: Quirks = Quirks {
    name: "azure",
    provider: "azure.ai.openai",
    hosts: &[
        ".openai.azure.com",
        ".services.ai.azure.com",
        ".cognitiveservices.azure.com",
    ],
    // "API key authentication: For this type of authentication, all API requests must include
    // the API Key in the api-key HTTP header."
    key_header: "api-key",
    sources: &["https://learn.microsoft.com/azure/ai-foundry/openai/reference"],
    ..OPENAI
};

pub(super) const OPENROUTER: Quirks = Quirks {
    name: "openrouter",
    provider: "openrouter",
    hosts: &["openrouter.ai"],
    // "Preserving reasoning": kept by sending `reasoning` or `reasoning_details` back; see
    // https://openrouter.ai/docs/use-cases/reasoning-tokens
    reasoning: Some("reasoning"),
    reasoning_details: true,
    names: Some(64),
    sources: &[
        "https://openrouter.ai/docs/api-reference/parameters",
        "https://openrouter.ai/docs/use-cases/reasoning-tokens",
    ],
    system_first: false,
    ..COMPATIBLE
};

pub(super) const DEEPSEEK: Quirks = Quirks {
    name: "deepseek",
    provider: "deepseek",
    hosts: &["api.deepseek.com"],
    // "Thinking mode": refused in a loop of tool calls without it, ignored elsewhere; see
    // https://api-docs.deepseek.com/guides/thinking_mode
    reasoning: Some("reasoning_content"),
    // "Missing `reasoning_content` field in the assistant message", also of other models' answers:
    // https://github.com/continuedev/continue/issues/11285
    unreasoned: Some(""),
    // "Thinking mode does not support this tool_choice", and it is on by default:
    // https://github.com/deepseek-ai/DeepSeek-V3/issues/1376
    thinking: Some(Thinking {
        field: "thinking",
        is_default: true,
    }),
    // Neither is listed.
    seed: None,
    parallel: false,
    // "with a maximum length of 64"
    names: Some(64),
    // "Must be one of text or json_object."
    formats: Formats::Object,
    sources: &[
        "https://api-docs.deepseek.com/api/create-chat-completion",
        "https://api-docs.deepseek.com/guides/thinking_mode",
    ],
    system_first: false,
    ..COMPATIBLE
};

pub(super) const MOONSHOT: Quirks = Quirks {
    name: "moonshot",
    provider: "moonshot_ai",
    hosts: &["api.moonshot.ai", "api.moonshot.cn", "api.kimi.com"],
    token_limit: "max_completion_tokens",
    // "thinking is enabled but reasoning_content is missing in assistant tool call message", and
    // not only of its own: https://github.com/spacedriveapp/spacebot/pull/364
    reasoning: Some("reasoning_content"),
    unreasoned: Some("."),
    // Neither is listed.
    seed: None,
    parallel: false,
    names: Some(64),
    // "tool_choice 'required' is incompatible with thinking enabled", which it is unless a request
    // says otherwise.
    forcing: Forcing::Never,
    formats: Formats::Object,
    fixes_sampling: true,
    sources: &[
        "https://platform.moonshot.ai/docs/api/chat",
        "https://java.agentscope.io/v2/en/integration/model/kimi",
    ],
    system_first: false,
    ..COMPATIBLE
};

pub(super) const QWEN: Quirks = Quirks {
    name: "qwen",
    provider: "qwen",
    hosts: &[
        "dashscope.aliyuncs.com",
        "dashscope-intl.aliyuncs.com",
        "dashscope-us.aliyuncs.com",
        ".dashscope.aliyuncs.com",
    ],
    // "The content field is a required field.": https://github.com/QwenLM/qwen-code/issues/5265
    no_text: r#""""#,
    names: Some(64),
    // `tool_choice` is `auto`, `none` or a function; others send `required` as `auto`:
    // https://docs.instructorphp.com/cookbook/examples/B04_LLMApiSupport/llm_qwen
    forcing: Forcing::Named,
    // "The tool_choice parameter does not support being set to required or object in thinking
    // mode": https://github.com/cloudwego/eino/issues/994
    thinking: Some(Thinking {
        field: "enable_thinking",
        is_default: false,
    }),
    // "parameter.enable_thinking must be set to false for non-streaming calls", and some models
    // think always: https://github.com/langchain4j/langchain4j/issues/3974
    plain: false,
    formats: Formats::Object,
    sources: &[
        "https://www.alibabacloud.com/help/en/model-studio/qwen-api-via-openai-chat-completions",
    ],
    system_first: false,
    ..COMPATIBLE
};

pub(super) const MISTRAL: Quirks = Quirks {
    name: "mistral",
    provider: "mistral_ai",
    hosts: &["api.mistral.ai", "codestral.mistral.ai"],
    seed: Some("random_seed"),
    // "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9":
    // https://github.com/avante-corp/avante.nvim/pull/2951
    call_ids: CallIds::Exactly(9),
    // "Assistant message must have either content or tool_calls, but not both.":
    // https://github.com/github/copilot-cli/issues/4884
    text_beside_calls: false,
    // "Extra inputs are not permitted": https://github.com/NousResearch/hermes-agent/pull/1058
    call_fields: false,
    names: Some(64),
    // Error 3230: "Unexpected role 'user' after role 'tool'", and others of its kind:
    // https://github.com/BerriAI/litellm/issues/6323
    takes_turns: true,
    // Unknown fields are refused (422), and the last chunk of a stream has its usage anyway.
    stream_options: false,
    formats: Formats::Schema,
    dialect: Dialect::Mistral,
    sources: &[
        "https://docs.mistral.ai/api/endpoint/chat",
        "https://github.com/avante-corp/avante.nvim/pull/2695",
    ],
    ..COMPATIBLE
};

pub(super) const GEMINI: Quirks = Quirks {
    name: "gemini",
    provider: "gcp.gemini",
    hosts: &["generativelanguage.googleapis.com"],
    // "Unknown name \"seed\": Cannot find field.": https://github.com/Vali-98/ChatterUI/issues/227
    seed: None,
    names: Some(64),
    // "Unknown name \"parallel_tool_calls\": Cannot find field.", at least in 2024:
    // https://github.com/jackmpcollins/magentic/pull/382
    parallel: false,
    formats: Formats::Schema,
    dialect: Dialect::Gemini,
    // Thought signatures come in `extra_content` of a call and are echoed with it. "Function call is
    // missing a thought_signature", also of other models' calls, unless they have this one:
    // https://docs.cloud.google.com/vertex-ai/generative-ai/docs/thought-signatures
    unsigned: Some("skip_thought_signature_validator"),
    sources: &[
        "https://ai.google.dev/gemini-api/docs/openai",
        "https://ai.google.dev/gemini-api/docs/thought-signatures",
    ],
    system_first: false,
    ..COMPATIBLE
};

pub(super) const OLLAMA: Quirks = Quirks {
    name: "ollama",
    provider: "ollama",
    hosts: &["ollama.com"],
    // "invalid message content type: <nil>":
    // https://github.com/SAIL-Research-Lab/cheetahclaws/pull/72
    no_text: r#""""#,
    // Neither is listed as taken; the choice, `none` too, is dropped in silence:
    // https://github.com/ollama/ollama/issues/17921
    forcing: Forcing::Nothing,
    parallel: false,
    formats: Formats::Schema,
    sources: &[
        "https://docs.ollama.com/api/openai-compatibility",
        "https://github.com/ollama/ollama/issues/17921",
    ],
    ..COMPATIBLE
};

pub(super) const VLLM: Quirks = Quirks {
    name: "vllm",
    provider: "vllm",
    formats: Formats::Schema,
    // "named function calling, as well as the auto, required (as of vllm>=0.8.3), and none
    // options": https://docs.vllm.ai/en/latest/features/tool_calling
    sources: &[
        "https://docs.vllm.ai/en/latest/serving/openai_compatible_server",
        "https://docs.vllm.ai/en/latest/features/tool_calling",
    ],
    ..COMPATIBLE
};

pub(super) const LLAMA_CPP: Quirks = Quirks {
    name: "llama.cpp",
    provider: "llama.cpp",
    // A named function is answered as `auto` is: https://github.com/ggml-org/llama.cpp/issues/26535
    forcing: Forcing::Required,
    formats: Formats::Schema,
    sources: &["https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md"],
    ..COMPATIBLE
};

pub(super) const STRICT_ALTERNATION: Quirks = Quirks {
    name: "strict-alternation",
    takes_turns: true,
    // "After the optional system message, conversation roles must alternate user/assistant"
    sources: &["https://github.com/charmbracelet/crush/issues/279"],
    ..COMPATIBLE
};
