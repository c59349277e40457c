//! The models of Anthropic.
//!
//! By <https://platform.claude.com/docs/en/about-claude/models/migration-guide>: from 4.7 on,
//! "`temperature` is deprecated for this model", and so is `top_p`; from 5.5 on, and by models that always
//! think, forced tool use is refused:
//! <https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5>. From 5.1 on, a thought is
//! bound to what came before it, and behind anything else "the API rejects the request with a 400 error or
//! drops the invalid blocks, whichever you choose":
//! <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking>. From 5 on, a Claude thinks unless
//! it is told not to, and its thoughts count as output:
//! <https://platform.claude.com/docs/en/models/sonnet-5/migration-guide>. Its text can be held to a schema
//! since 4.1: <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>.

use super::Refused;

/// True if a Claude goes by this name.
pub(in crate::model) fn is_claude(model: &str) -> bool {
    let mut parts = model.as_bytes().windows("claude".len());
    parts.any(|part| part.eq_ignore_ascii_case(b"claude"))
}

/// What the name of a Claude tells.
pub(super) struct Claude {
    always_thinks: bool,
    version: Option<(u32, u32)>,
}

impl Claude {
    /// Reads a name in lower case.
    pub(super) fn of(name: &str) -> Option<Self> {
        let (_, name) = name.split_once("claude")?;
        let words = || name.split(|char: char| !char.is_ascii_alphanumeric());
        let number = |word: &str| word.parse::<u32>().ok().filter(|_| word.len() <= 2);
        let mut numbers = words().skip_while(|word| number(word).is_none());
        let major = numbers.next().and_then(number);
        Some(Self {
            always_thinks: words().any(|word| matches!(word, "fable" | "mythos")),
            version: major.map(|major| (major, numbers.next().and_then(number).unwrap_or(0))),
        })
    }

    fn is_since(&self, least: (u32, u32)) -> bool {
        self.version.is_some_and(|version| version >= least)
    }

    pub(super) fn refused(&self) -> Refused {
        Refused {
            sampling: self.always_thinks || self.is_since((4, 7)),
            forcing: self.always_thinks || self.is_since((5, 5)),
            moved_thoughts: self.is_since((5, 1)),
            ..Refused::default()
        }
    }

    pub(super) fn thinks_unasked(&self) -> bool {
        self.always_thinks || self.is_since((5, 0))
    }

    pub(super) fn holds_no_schema(&self) -> bool {
        self.version.is_some_and(|version| version < (4, 1))
    }
}
