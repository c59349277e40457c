//! A Messages body that is being put together: whose turn it is, and where marks for the
//! provider's cache stand.

use std::sync::Arc;

use super::FILLER;
use crate::model::http::Piece;
use crate::model::mend::tell_put_in;

/// The pieces so far.
pub(super) struct Body {
    pub(super) pieces: Vec<Piece>,
    /// What ends an object that the provider is to keep up to there.
    mark: Option<&'static str>,
}

impl Body {
    /// A body that begins with this text.
    pub(super) fn new(head: String, mark: Option<&'static str>) -> Self {
        let mut pieces = Vec::with_capacity(16);
        pieces.push(head.into());
        Self { pieces, mark }
    }

    pub(super) fn push(&mut self, piece: impl Into<Piece>) {
        self.pieces.push(piece.into());
    }

    /// A piece that ends with an object and `end`; the object is marked.
    pub(super) fn push_marked(&mut self, mut piece: Piece, end: &'static str) {
        let Some(mark) = self.mark else {
            return self.push(piece);
        };
        piece.cut_last(end.len() + 1);
        self.push(piece);
        self.push(mark);
        self.push(end);
    }

    /// The system messages, each a list of blocks with a comma before each.
    pub(super) fn system(&mut self, mut texts: Vec<Piece>) {
        texts.retain(|text| !text.is_empty());
        let Some(first) = texts.first_mut() else {
            return;
        };
        first.cut_first(1);
        let last = texts.pop();
        self.push(",\"system\":[");
        self.pieces.extend(texts);
        if let Some(last) = last {
            self.push_marked(last, "");
        }
        self.push("]");
    }

    /// The messages, whose text is this so far. The user has the last word. Marked are the end, and
    /// what was the end a turn before: the cache is found again there.
    pub(super) fn messages(&mut self, text: &Arc<String>, turns: Turns) {
        self.push(",\"messages\":[");
        let is_users = turns.role == Some(USER);
        let ends = [turns.user_end, Some(text.len()).filter(|_| is_users)];
        let mut rest = Piece::from(Arc::clone(text));
        let (mut gone, is_marked) = (0, self.mark.is_some());
        for end in ends.into_iter().flatten().filter(|_| is_marked) {
            let mut piece = rest.clone();
            piece.cut_last(text.len() - end);
            self.push_marked(piece, "");
            rest.cut_first(end - gone);
            gone = end;
        }
        self.push(rest);
        if !is_users {
            tell_put_in(FILLER);
            self.push(opening(turns.role, USER));
            self.push("[");
            self.push_marked(FILLER.into(), "");
        }
        self.push("]}]");
    }
}

const USER: &str = "user";
const ASSISTANT: &str = "assistant";

/// Whose message is being written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Turns {
    role: Option<&'static str>,
    /// Where the last block ends of the user's last message that is over.
    user_end: Option<usize>,
}

impl Turns {
    /// Adds blocks, each with a comma before it, to what the model or its user says. Nothing is
    /// said if there are none.
    pub(super) fn say(
        &mut self,
        text: &mut String,
        is_answer: bool,
        blocks: impl FnOnce(&mut String),
    ) {
        let before = (text.len(), *self);
        let role = if is_answer { ASSISTANT } else { USER };
        if self.role.is_none() && is_answer {
            tell_put_in(FILLER);
            self.open(text, USER);
            text.push('[');
            text.push_str(FILLER);
        }
        let opens = self.role != Some(role);
        if opens {
            self.open(text, role);
        }
        let start = text.len();
        blocks(text);
        if text.len() == start {
            text.truncate(before.0);
            *self = before.1;
        } else if opens {
            // In place of the comma.
            text.replace_range(start..=start, "[");
        }
    }

    fn open(&mut self, text: &mut String, role: &'static str) {
        if self.role == Some(USER) {
            self.user_end = Some(text.len());
        }
        text.push_str(opening(self.role, role));
        self.role = Some(role);
    }
}

/// What stands before the blocks of one who speaks after another, but for their bracket.
fn opening(before: Option<&'static str>, role: &'static str) -> &'static str {
    match (before, role) {
        (None, USER) => "{\"role\":\"user\",\"content\":",
        (None, _) => "{\"role\":\"assistant\",\"content\":",
        (Some(_), USER) => "]},{\"role\":\"user\",\"content\":",
        (Some(_), _) => "]},{\"role\":\"assistant\",\"content\":",
    }
}
