//! Checkpoints: what a saver promises, and what a run keeps.

mod agents;
mod answers;
mod cuts;
mod edits;
mod misfits;
mod outside;
mod pauses;
mod savers;
mod threads;
mod values;
