//! Whether a keystore is being moved, and takes no changes.

use crate::engine::error::{Error, Result};
use crate::engine::sql::{Sql, Tx, dialects, statements};

/// Changes share the row; freezing waits for them.
static SHARE: Sql = dialects("SELECT moving FROM keystore", "SELECT moving FROM keystore FOR SHARE");

/// Fails while the keystore is being moved; nobody begins to move it before the transaction ends.
pub(super) async fn check_not_moving<T: Tx>(tx: &mut T) -> Result<()> {
    match tx.one::<(bool,)>(&SHARE, &[]).await? {
        Some((false,)) => Ok(()),
        _ => Err(Error::Unavailable("the keystore is being moved".into())),
    }
}

statements! { SHARE }
