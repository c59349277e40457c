//! The servers that are known, by their names and hosts.

use std::fmt;
use std::str::FromStr;

use super::quirks::Quirks;
use super::servers::{
    AZURE, COMPATIBLE, DEEPSEEK, GEMINI, LLAMA_CPP, MISTRAL, MOONSHOT, OLLAMA, OPENAI, OPENROUTER,
    QWEN, STRICT_ALTERNATION, VLLM,
};

/// What a server wants to be asked like.
///
/// ```
/// use agent_core::model::openai::Profile;
///
/// assert_eq!("mistral".parse::<Profile>()?, Profile::Mistral);
/// assert_eq!(Profile::of_host("openrouter.ai"), Profile::OpenRouter);
/// assert_eq!(Profile::of_host("my-server.test"), Profile::Compatible);
/// # Ok::<(), agent_core::model::openai::UnknownProfile>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// OpenAI itself. The default for `api.openai.com`.
    OpenAi,
    /// OpenAI's models at Azure. The default for hosts of `openai.azure.com`.
    Azure,
    /// OpenRouter. The default for `openrouter.ai`.
    OpenRouter,
    /// DeepSeek. The default for `api.deepseek.com`.
    DeepSeek,
    /// Kimi at Moonshot. The default for `api.moonshot.ai`,
    /// `api.moonshot.cn` and `api.kimi.com`.
    Moonshot,
    /// Qwen at Alibaba's Model Studio (DashScope). The default for its hosts.
    Qwen,
    /// Mistral. The default for `api.mistral.ai`.
    Mistral,
    /// Gemini by its OpenAI-compatible API. The default for
    /// `generativelanguage.googleapis.com`.
    Gemini,
    /// Ollama. The default for `ollama.com`.
    Ollama,
    /// vLLM.
    Vllm,
    /// llama.cpp's own server.
    LlamaCpp,
    /// Any other server: what most of them take.
    Compatible,
    /// As `Compatible`, for a chat template that wants user and assistant to take turns.
    StrictAlternation,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 13] = [
        Self::OpenAi,
        Self::Azure,
        Self::OpenRouter,
        Self::DeepSeek,
        Self::Moonshot,
        Self::Qwen,
        Self::Mistral,
        Self::Gemini,
        Self::Ollama,
        Self::Vllm,
        Self::LlamaCpp,
        Self::Compatible,
        Self::StrictAlternation,
    ];

    /// The profile a host is documented for, else [`Profile::Compatible`].
    #[must_use]
    pub fn of_host(host: &str) -> Self {
        let fits = |known: &str| match known.strip_prefix('.') {
            Some(end) => host
                .strip_suffix(end)
                .is_some_and(|rest| rest.ends_with('.')),
            None => host == known,
        };
        let found = Self::ALL
            .into_iter()
            .find(|it| it.quirks().hosts.iter().any(|it| fits(it)));
        found.unwrap_or(Self::Compatible)
    }

    /// The name, for example `openai`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.quirks().name
    }

    /// Where what is known of the server is written down.
    #[must_use]
    pub fn sources(self) -> &'static [&'static str] {
        self.quirks().sources
    }

    pub(super) fn quirks(self) -> &'static Quirks {
        match self {
            Self::OpenAi => &OPENAI,
            Self::Azure => &AZURE,
            Self::OpenRouter => &OPENROUTER,
            Self::DeepSeek => &DEEPSEEK,
            Self::Moonshot => &MOONSHOT,
            Self::Qwen => &QWEN,
            Self::Mistral => &MISTRAL,
            Self::Gemini => &GEMINI,
            Self::Ollama => &OLLAMA,
            Self::Vllm => &VLLM,
            Self::LlamaCpp => &LLAMA_CPP,
            Self::Compatible => &COMPATIBLE,
            Self::StrictAlternation => &STRICT_ALTERNATION,
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is none of a [`Profile`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no profile; there are {names}", names = names())]
pub struct UnknownProfile(String);

fn names() -> String {
    let names: Vec<String> = Profile::ALL.iter().map(|it| format!("`{it}`")).collect();
    names.join(", ")
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let plain = name.replace('_', "-").to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|it| it.name() == plain);
        found.ok_or_else(|| UnknownProfile(name.to_owned()))
    }
}
