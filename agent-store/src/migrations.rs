//! The tables, as the steps in which they came to be.

use std::borrow::Cow;

use sqlx::error::BoxDynError;
use sqlx::migrate::{Migration, MigrationSource, MigrationType, Migrator};

/// One text for each version of the tables, the first in front. A text that was published stays
/// as it is.
#[derive(Debug)]
struct Versions(&'static [&'static str]);

impl MigrationSource<'static> for Versions {
    fn resolve(self) -> agent_core::BoxFuture<'static, Result<Vec<Migration>, BoxDynError>> {
        let all = (1..).zip(self.0).map(|(version, sql)| {
            let name = Cow::Borrowed("agent-store");
            Migration::new(
                version,
                name,
                MigrationType::Simple,
                Cow::Borrowed(sql),
                false,
            )
        });
        Box::pin(std::future::ready(Ok(all.collect())))
    }
}

/// Brings the tables up to their last version.
pub(crate) async fn migrator(
    versions: &'static [&'static str],
) -> Result<Migrator, sqlx::migrate::MigrateError> {
    Migrator::new(Versions(versions)).await
}
