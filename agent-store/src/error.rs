//! Why a store cannot be opened.

use agent_core::BoxError;
use sqlx::migrate::MigrateError;

/// Why a store cannot be opened. Nothing in it has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file or the server cannot be reached, or is not what it should be.
    #[error("the store `{store}` cannot be opened")]
    Open {
        /// The file, or the server without its password.
        store: String,
        /// What went wrong.
        source: BoxError,
    },
    /// A setting that cannot be used.
    #[error("{problem}")]
    Setting {
        /// What is wrong with it.
        problem: String,
    },
    /// The tables were made by a newer version of this crate.
    #[error(
        "the store `{store}` has tables of version {version}, which this version does not know"
    )]
    TooNew {
        /// The file, or the server without its password.
        store: String,
        /// The version of the tables.
        version: i64,
    },
}

impl StoreError {
    pub(crate) fn open(store: &str, error: sqlx::Error) -> Self {
        Self::Open {
            store: store.to_owned(),
            source: error.into(),
        }
    }

    pub(crate) fn migrate(store: &str, error: MigrateError) -> Self {
        let store = store.to_owned();
        match error {
            MigrateError::VersionMissing(version) => Self::TooNew { store, version },
            error => Self::Open {
                store,
                source: error.into(),
            },
        }
    }
}
