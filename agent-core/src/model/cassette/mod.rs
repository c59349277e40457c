//! Replies that were recorded once and are replayed in tests.
//!
//! A [`Recorder`] stands before a real model and keeps what goes by; [`Recorder::save`] writes
//! it to a file, the cassette. A [`Replay`] is a model that answers from that file, by what a
//! request means: ids, the order of keys and tools, and whether it is streamed do not count.
//!
//! ```
//! use agent_core::ReactAgent;
//! use agent_core::model::cassette::{Recorder, Replay};
//! use agent_core::model::{ScriptedModel, scripted::says};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("cassette-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let file = folder.join("greeting.json");
//! // In the place of a real one.
//! let model = ScriptedModel::new([says("Hello!")]);
//! let recorder = Recorder::new(model).secret("hunter2-hunter2");
//! let agent = ReactAgent::builder("greeter", recorder.clone()).build()?;
//! agent.run("Hi, my password is hunter2-hunter2").await?;
//! recorder.save(&file)?;
//!
//! let replay = Replay::open(&file)?.secret("hunter2-hunter2");
//! let agent = ReactAgent::builder("greeter", replay.clone()).build()?;
//! let output = agent.run("Hi, my password is hunter2-hunter2").await?;
//! assert_eq!(output.text(), "Hello!");
//! assert_eq!(replay.left(), 0);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Why requests and replies, not HTTP
//!
//! A cassette holds what was asked and what was answered, not the bytes of a connection. So one
//! recording serves every provider, model and client, also a [`ChatModel`](super::ChatModel) of
//! one's own; it does not change when a client writes the same request in other bytes; and keys,
//! headers and addresses are not in it to begin with. What servers send, byte by byte, is tested
//! where it is read: `model::openai::read_answer` and
//! `model::anthropic::read_answer` take bytes that were kept.
//!
//! # What is not written
//!
//! What a client adds, such as its key and headers, is not part of a request and never reaches a
//! cassette. Masked as `***` are the texts given by [`Recorder::secret`], what follows `Bearer `,
//! and the texts under names like `authorization`, `api_key` and `password`, also in arguments of
//! calls and in results and answers that are JSON: a replayed call has the mask in their place. An
//! operator reads a cassette before it is shared, all the same: nobody else knows what is secret in
//! a message.

mod difference;
mod file;
mod meaning;
mod record;
mod replay;
mod scrub;

use std::path::PathBuf;

pub use record::Recorder;
pub use replay::Replay;

/// Why a cassette cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CassetteError {
    /// There is no such file: nothing was recorded yet.
    #[error("there is no cassette `{}`: record it first", path.display())]
    #[non_exhaustive]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The file cannot be read.
    #[error("the cassette `{}` cannot be read", path.display())]
    #[non_exhaustive]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is no cassette, or was cut.
    #[error("`{}` is no whole cassette", path.display())]
    #[non_exhaustive]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where it ends or what it says.
        source: serde_json::Error,
    },
    /// The file is of a later version than this crate reads.
    #[error("the cassette `{}` is of version {version}, which is not known here", path.display())]
    #[non_exhaustive]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u64,
    },
    /// The file cannot be written.
    #[error("the cassette `{}` cannot be written", path.display())]
    #[non_exhaustive]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}
