//! Checkpoints: what a saver promises, and what a run keeps.

mod agents;
mod answers;
mod edits;
mod misfits;
mod outside;
mod savers;
mod threads;
mod values;
