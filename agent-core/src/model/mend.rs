//! What is sent in place of what providers refuse, whatever stands in the history: names, ids and
//! pictures, and what the log is told of messages that are sent elsewhere or not at all.
//!
//! Each is a pure function of what is stored, so that a call and its result agree and a later
//! request says the same again. Nothing stored is changed.

use std::borrow::Cow;

use crate::message::{Image, Message};

/// Tells that a message is not sent, because it says nothing.
pub(super) fn tell_left_out(message: &Message) {
    tracing::debug!(id = %message.id(), "a message that says nothing is left out");
}

/// Tells that a system message is sent as one of the user, because others stand before it.
pub(super) fn tell_said_by_user(message: &Message) {
    tracing::debug!(id = %message.id(), "a system message behind others is said by the user");
}

/// Tells that these words are sent for one who would have to speak there.
pub(super) fn tell_put_in(words: &'static str) {
    tracing::debug!(words, "a message that the provider wants is put in");
}

/// What the id of a tool call must be like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "each client uses some, and clients are features")]
pub(super) enum CallIds {
    /// Any text that says something.
    Any,
    /// Any text of at most this many bytes.
    Longest(usize),
    /// ASCII letters, digits, `_` and `-`, at most this many.
    Words(usize),
    /// Letters and digits, this many.
    Exactly(usize),
}

impl CallIds {
    /// The id as it is sent: itself if it can be.
    pub(super) fn sent(self, id: &str) -> Cow<'_, str> {
        let (fits, room) = match self {
            Self::Any => (!id.is_empty(), 40),
            Self::Longest(most) => (!id.is_empty() && id.len() <= most, most),
            Self::Words(most) => (is_word(id, most), most),
            Self::Exactly(count) => {
                let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric());
                (plain && id.len() == count, count)
            }
        };
        if fits {
            return id.into();
        }
        let digits = format!("{:016x}", hash(id));
        let sent = match self {
            Self::Exactly(_) => digits[..room.min(digits.len())].to_owned(),
            _ => format!("{}_{digits}", cleaned(id, room.saturating_sub(17))),
        };
        tracing::debug!(
            id,
            sent,
            "an id that the provider refuses is sent as another"
        );
        sent.into()
    }
}

/// The pictures that OpenAI and Anthropic take.
const PICTURES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// A picture's media type as it is sent: in small letters, by its registered name and without
/// parameters.
pub(super) fn picture_type(image: &Image) -> String {
    let kind = image.media_type().split(';').next().unwrap_or_default();
    match &*kind.trim().to_ascii_lowercase() {
        "image/jpg" => "image/jpeg".to_owned(),
        kind => kind.to_owned(),
    }
}

/// What is said in place of a picture that the provider refuses; `None` if it takes it.
pub(super) fn in_place_of_picture(kind: &str) -> Option<String> {
    (!PICTURES.contains(&kind)).then(|| in_words(kind))
}

/// What is said in place of a picture where the provider takes none.
pub(super) fn in_words(kind: &str) -> String {
    tracing::debug!(kind, "a picture that the provider refuses is left out");
    format!("(a picture of the type {kind}, which cannot be shown)")
}

/// A tool's name as it is sent with a call: itself if it can be.
pub(super) fn tool_name(name: &str, most: usize) -> Cow<'_, str> {
    if is_word(name, most) {
        return name.into();
    }
    let sent = match &*cleaned(name, most) {
        "" => "unnamed".to_owned(),
        sent => sent.to_owned(),
    };
    tracing::debug!(
        name,
        sent,
        "a name that the provider refuses is sent as another"
    );
    sent.into()
}

fn is_word(text: &str, most: usize) -> bool {
    !text.is_empty() && text.len() <= most && text.bytes().all(is_word_byte)
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn cleaned(text: &str, most: usize) -> String {
    let plain = |character: char| match u8::try_from(character) {
        Ok(byte) if is_word_byte(byte) => character,
        _ => '_',
    };
    text.chars().map(plain).take(most).collect()
}

/// FNV-1a, which is the same in every build.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_and_what_does_not_is_told_apart() {
        let words = CallIds::Words(40);
        let long = "x".repeat(50);

        assert_eq!(words.sent("call_1-a"), "call_1-a");
        for id in ["", "functions.add:0", "è", &long] {
            let sent = words.sent(id);
            assert!(is_word(&sent, 40), "{sent}");
            assert_eq!(sent, words.sent(id));
        }
        assert_ne!(words.sent("a.b"), words.sent("a:b"));
        assert_eq!(CallIds::Exactly(9).sent("abcDEF123"), "abcDEF123");
        assert_eq!(CallIds::Exactly(9).sent("call_1").len(), 9);
        assert_eq!(tool_name("functions.add", 64), "functions_add");
        assert_eq!(tool_name("", 64), "unnamed");
    }
}
