//! What commands and the server open first: the database, as an operator.

use std::sync::Arc;

use anyhow::Result;
use portico_app::clock::{CalendarClock, SystemClock};
use portico_app::{Actor, CallContext, Database, Location, Role};

use crate::config::Config;

/// A call from the command line.
pub(crate) const OPERATOR: CallContext = CallContext::new(Actor::Operator);

pub(crate) async fn database(config: &Config, role: Role) -> Result<Database> {
    if let Location::Sqlite(_) = &config.database {
        config.data.create()?;
    }
    Ok(Database::open(&OPERATOR, &config.database, role).await?)
}

pub(crate) fn machine_clock() -> CalendarClock {
    CalendarClock::new(Arc::new(SystemClock))
}

/// Where the keystore is: at `--keystore`, else in the data folder.
pub(crate) fn keystore_location(config: &Config) -> Location {
    config.keystore.clone().unwrap_or_else(|| Location::Sqlite(config.data.keystore()))
}
