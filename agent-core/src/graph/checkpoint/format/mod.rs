//! How checkpoints and writes are written: JSON with a version in front.
//!
//! A text is `{"format": n, "checkpoint": …}` or `{"format": n, "write": …}`. Every kind of
//! value has its tag. What waits for answers is as long as it waits: in a list, `[from, to]` stands
//! for these places of the parent checkpoint's list, and what comes next is missing where it is what
//! came next there. A text of a newer version, with a tag or a member that the version does
//! not have, or that was cut, is refused as a whole. A change of what is written is a new
//! version, with a module and a golden file of its own; older ones stay readable.

mod depth;
mod item;
mod message;
mod v1;

use serde::{Deserialize, Serialize};

use super::record::{Entry, Record};
use crate::boxed::BoxError;
use crate::state::StateError;

/// The version that is written.
pub(super) const VERSION: u64 = 1;

/// Why a text cannot be read.
#[derive(Debug)]
pub(super) enum Unreadable {
    Version(u64),
    Malformed(BoxError),
}

impl<E: Into<BoxError>> From<E> for Unreadable {
    fn from(error: E) -> Self {
        Self::Malformed(error.into())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind<C, W> {
    Checkpoint(C),
    Write(W),
}

/// The bytes of a checkpoint.
///
/// # Errors
///
/// A value that has no JSON form, or that could not be read again.
pub(super) fn write_checkpoint(record: &Record) -> Result<Vec<u8>, StateError> {
    let bytes = envelope(&Kind::<_, ()>::Checkpoint(v1::Record::of(record)?));
    match depth::is_readable(&bytes) {
        true => Ok(bytes),
        false => Err(depth::too_deep(depth::of_record(record))),
    }
}

/// The bytes of a write.
///
/// # Errors
///
/// As [`write_checkpoint`].
pub(super) fn write_entry(entry: &Entry) -> Result<Vec<u8>, StateError> {
    let bytes = envelope(&Kind::<(), _>::Write(v1::Entry::of(entry)?));
    match depth::is_readable(&bytes) {
        true => Ok(bytes),
        false => Err(depth::too_deep(depth::of_entry(entry))),
    }
}

fn envelope<C: Serialize, W: Serialize>(kind: &Kind<C, W>) -> Vec<u8> {
    let (name, content) = match kind {
        Kind::Checkpoint(content) => ("checkpoint", serde_json::to_vec(content)),
        Kind::Write(content) => ("write", serde_json::to_vec(content)),
    };
    let mut bytes = format!(r#"{{"format":{VERSION},"{name}":"#).into_bytes();
    // What stands in a record is JSON already, or text: it can always be written.
    bytes.extend(content.unwrap_or_default());
    bytes.push(b'}');
    bytes
}

pub(super) fn read_checkpoint(bytes: &[u8]) -> Result<Record, Unreadable> {
    match read(bytes)? {
        Kind::Checkpoint(record) => Ok(record.into_record()?),
        Kind::Write(_) => Err("a write where a checkpoint should stand".into()),
    }
}

pub(super) fn read_entry(bytes: &[u8]) -> Result<Entry, Unreadable> {
    match read(bytes)? {
        Kind::Write(entry) => Ok(entry.into_entry()?),
        Kind::Checkpoint(_) => Err("a checkpoint where a write should stand".into()),
    }
}

fn read(bytes: &[u8]) -> Result<Kind<v1::Record, v1::Entry>, Unreadable> {
    /// Only the version is looked at before it is known what else there may be.
    #[derive(Deserialize)]
    struct Version {
        format: u64,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Envelope {
        #[serde(rename = "format")]
        _format: u64,
        checkpoint: Option<v1::Record>,
        write: Option<v1::Entry>,
    }

    // What is written here says so in front, and is read once.
    if !bytes.starts_with(format!(r#"{{"format":{VERSION},"#).as_bytes()) {
        let Version { format } = serde_json::from_slice(bytes)?;
        if format != VERSION {
            return Err(Unreadable::Version(format));
        }
    }
    let envelope: Envelope = serde_json::from_slice(bytes)?;
    match (envelope.checkpoint, envelope.write) {
        (Some(checkpoint), None) => Ok(Kind::Checkpoint(checkpoint)),
        (None, Some(write)) => Ok(Kind::Write(write)),
        _ => Err("neither one checkpoint nor one write".into()),
    }
}
