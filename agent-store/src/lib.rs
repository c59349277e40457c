//! Keeps the threads of agents over the end of the process.
//!
//! Two savers, both [`CheckpointSaver`]s: [`SqliteSaver`] keeps them in one file, for a program on
//! one machine; [`PostgresSaver`] in a database that many machines share. Both write each commit
//! in one transaction, refuse a second writer, and pass `agent_core`'s conformance suite.
//!
//! ```
//! use agent_store::SqliteSaver;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("agent-store-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! let saver = SqliteSaver::open(folder.join("threads.db")).await?;
//! // ReactAgent::builder(…).saver(saver)
//! # drop(saver);
//! # std::fs::remove_dir_all(folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! # Cargo features
//!
//! | feature | default | opens |
//! |---|---|---|
//! | `sqlite` | yes | [`SqliteSaver`]; SQLite itself is built in |
//! | `postgres` | no | [`PostgresSaver`], with TLS by rustls |

#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod error;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod migrations;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod saver;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod tables;

#[cfg(doc)]
use agent_core::graph::checkpoint::CheckpointSaver;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub use error::StoreError;
#[cfg(feature = "postgres")]
pub use postgres::{PostgresSaver, PostgresSaverBuilder};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteSaver, SqliteSaverBuilder};
