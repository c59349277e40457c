//! The blocks of an answer that are still being written, and which of them a piece belongs to.

use std::collections::{BTreeMap, HashMap};

use crate::message::OpaquePart;
use crate::model::reading::cut::Seam;

/// The blocks that are open, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    open: BTreeMap<usize, Open>,
    /// Those of each number, in the same order: some gateways use one again before it is free.
    numbered: HashMap<u64, Vec<usize>>,
    /// How many began.
    pub(super) begun: usize,
}

/// A block that is still being written.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) index: Option<u64>,
    pub(super) kind: Kind,
    /// Between its pieces.
    pub(super) seam: Seam,
}

#[derive(Debug)]
pub(super) enum Kind {
    Text,
    Thinking {
        thinking: String,
        signature: Option<String>,
    },
    /// The call at this place of the calls.
    Call(usize),
    Opaque {
        part: OpaquePart,
        /// What its input is, if it came in pieces.
        input: String,
        is_whole: bool,
    },
}

impl Blocks {
    pub(super) fn begin(&mut self, block: Open) {
        if let Some(index) = block.index {
            self.numbered.entry(index).or_default().push(self.begun);
        }
        self.open.insert(self.begun, block);
        self.begun += 1;
    }

    /// The block a piece belongs to: the latest of its number, else the latest.
    pub(super) fn of(&mut self, index: Option<u64>) -> Option<&mut Open> {
        let place = self.place(index)?;
        self.open.get_mut(&place)
    }

    /// Takes out the block that [`of`](Self::of) gives.
    pub(super) fn end(&mut self, index: Option<u64>) -> Option<Open> {
        let place = self.place(index)?;
        let block = self.open.remove(&place)?;
        if let Some(index) = block.index
            && let Some(places) = self.numbered.get_mut(&index)
        {
            // It is the latest of its number.
            places.pop();
        }
        Some(block)
    }

    /// Takes out all blocks.
    pub(super) fn end_all(&mut self) -> impl Iterator<Item = Open> + use<> {
        self.numbered.clear();
        std::mem::take(&mut self.open).into_values()
    }

    fn place(&self, index: Option<u64>) -> Option<usize> {
        match index {
            Some(index) => self.numbered.get(&index)?.last().copied(),
            None => self.open.last_key_value().map(|(place, _)| *place),
        }
    }
}
