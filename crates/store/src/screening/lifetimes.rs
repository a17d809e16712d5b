//! Erasing a person and writing their rows, one after the other.
//!
//! What belongs to a case is written under a lock of the case's row, which an erasure changes. Nothing has to exist
//! for a new case or application, so that these take a lock on the person, and prove that no erasure came before them:
//! they are sealed with a key that it has destroyed.

use aws_lc_rs::digest::{SHA256, digest};
use portico_domain::UserId;

use crate::engine::error::{Error, Result};
use crate::engine::sql::{Sql, Tx, dialects, sql, statements};
use crate::engine::word::Word;

/// The time between two erasures of one person.
#[derive(Debug, Clone, Copy)]
pub struct Lifetime {
    subject: Word,
    last_erasure: i64,
}

/// A writer of new rows; erasures wait for it. `SQLite` has a single writer anyway. Two numbers name the lock, unlike
/// those of creation numbers.
static SHARE: Sql = dialects(
    "SELECT 0",
    "SELECT 1::BIGINT FROM (SELECT pg_advisory_xact_lock_shared(0, (?1::BIGINT)::INTEGER) OFFSET 0) AS locked",
);
static LOCK: Sql = dialects(
    "SELECT 0",
    "SELECT 1::BIGINT FROM (SELECT pg_advisory_xact_lock(0, (?1::BIGINT)::INTEGER) OFFSET 0) AS locked",
);
// A separate statement, so that it sees what was committed while this transaction waited for the lock.
static LATER: Sql = sql("SELECT seq FROM erasures_applied WHERE subject = ?1 AND seq > ?2 LIMIT 1");

impl Lifetime {
    /// `last_erasure` is the number of the person's last erasure, read from the keystore before their key; 0: none.
    pub fn new(user: &UserId, last_erasure: i64) -> Self {
        Self { subject: subject(user), last_erasure }
    }

    /// Fails if the lifetime has ended; it does not end before the transaction does.
    pub(crate) async fn check<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.rows::<(i64,)>(&SHARE, &[lock_number(&self.subject).into()]).await?;
        let later = [self.subject[..].into(), self.last_erasure.into()];
        match tx.one::<(i64,)>(&LATER, &later).await? {
            None => Ok(()),
            Some(_) => Err(Error::Erased),
        }
    }
}

/// Names a person in the records of erasures.
pub(super) fn subject(user: &UserId) -> Word {
    let mut subject = Word::default();
    subject.copy_from_slice(digest(&SHA256, user.as_str().as_bytes()).as_ref());
    subject
}

/// Waits for writers of the person's new rows, and blocks later ones until the transaction ends.
pub(super) async fn lock_for_erasure<T: Tx>(tx: &mut T, subject: &Word) -> Result<()> {
    tx.rows::<(i64,)>(&LOCK, &[lock_number(subject).into()]).await.map(drop)
}

/// People may share one: then they wait for each other.
fn lock_number(subject: &Word) -> i64 {
    let mut bytes = [0; 4];
    bytes.copy_from_slice(&subject[..4]);
    i32::from_be_bytes(bytes).into()
}

statements! { SHARE, LOCK, LATER }
