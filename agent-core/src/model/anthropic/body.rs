//! A Messages body that is being put together: whose turn it is, and where marks for the
//! provider's cache stand.

use super::FILLER;
use crate::model::http::Piece;

/// The pieces so far.
pub(super) struct Body<'a> {
    pub(super) pieces: Vec<Piece<'a>>,
    /// Whose message is being written.
    role: Option<&'static str>,
    /// The last piece of each of the last two messages of the user.
    user_ends: [Option<usize>; 2],
}

impl<'a> Body<'a> {
    /// A body that begins with this text.
    pub(super) fn new(head: String) -> Self {
        Self {
            pieces: vec![head.into()],
            role: None,
            user_ends: [None; 2],
        }
    }

    pub(super) fn push(&mut self, piece: impl Into<Piece<'a>>) {
        self.pieces.push(piece.into());
    }

    /// A piece that ends with an object and `end`; the object is marked.
    pub(super) fn push_marked(
        &mut self,
        mut piece: Piece<'a>,
        end: &'static str,
        mark: Option<&'static str>,
    ) {
        let Some(mark) = mark else {
            return self.push(piece);
        };
        piece.cut_last(end.len() + 1);
        self.push(piece);
        self.push(mark);
        self.push(end);
    }

    /// The system messages, each a list of blocks with a comma before each.
    pub(super) fn system(&mut self, mut texts: Vec<Piece<'a>>, mark: Option<&'static str>) {
        texts.retain(|text| !text.is_empty());
        let Some(first) = texts.first_mut() else {
            return;
        };
        first.cut_first(1);
        let last = texts.pop();
        self.push(",\"system\":[");
        self.pieces.extend(texts);
        if let Some(last) = last {
            self.push_marked(last, "", mark);
        }
        self.push("]");
    }

    /// Adds blocks, each with a comma before it, to what this role says.
    pub(super) fn say(&mut self, role: &'static str, mut blocks: Piece<'a>) {
        if blocks.is_empty() {
            return;
        }
        if self.role.is_none() && role == "assistant" {
            self.open("user");
            self.push(FILLER);
        }
        if self.role != Some(role) {
            self.open(role);
            blocks.cut_first(1);
        }
        self.push(blocks);
    }

    fn open(&mut self, role: &'static str) {
        self.close();
        self.push(match (self.role, role) {
            (None, "user") => "{\"role\":\"user\",\"content\":[",
            (None, _) => "{\"role\":\"assistant\",\"content\":[",
            (Some(_), "user") => ",{\"role\":\"user\",\"content\":[",
            (Some(_), _) => ",{\"role\":\"assistant\",\"content\":[",
        });
        self.role = Some(role);
    }

    fn close(&mut self) {
        if self.role == Some("user") {
            self.user_ends = [self.user_ends[1], Some(self.pieces.len() - 1)];
        }
        if self.role.is_some() {
            self.push("]}");
        }
    }

    /// Ends the messages: the user has the last word.
    pub(super) fn end(&mut self, mark: Option<&'static str>) {
        if self.role != Some("user") {
            self.open("user");
            self.push(FILLER);
        }
        self.close();
        self.push("]");
        let Some(mark) = mark else { return };
        // The end, and what was the end a turn before: the cache is found again there.
        for place in self.user_ends.into_iter().rev().flatten() {
            self.pieces[place].cut_last(1);
            self.pieces.insert(place + 1, mark.into());
        }
    }
}
