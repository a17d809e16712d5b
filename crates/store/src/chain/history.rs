//! The service's own transactions, for people who look an account or a contract up.

use portico_records::ItemKind;

use crate::chain::batches::BatchStatus;
use crate::chain::signing::Address;
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Keyed, Page, as_limit};
use crate::engine::sql::{Columns, FromRow, Row, Sql, Weight, select, statements};
use crate::engine::word::Word;

/// A batch, and the transaction that carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchTransaction {
    pub signer: Address,
    pub nonce: i64,
    /// `None`: it only fills the nonce.
    pub kind: Option<ItemKind>,
    pub items: i64,
    pub status: BatchStatus,
    pub block: Option<i64>,
    /// The mined transaction, else the newest attempt.
    pub hash: Word,
}

impl FromRow for BatchTransaction {
    const COLUMNS: &'static str = "s.address, b.nonce, b.kind, b.items, b.state, b.block, b.mined, \
     (SELECT hash FROM chain_attempts a WHERE a.signer = b.signer AND a.nonce = b.nonce \
      ORDER BY a.max_fee DESC LIMIT 1)";

    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let signer = c.get()?;
        let (nonce, kind, items) = (c.get()?, c.get()?, c.get()?);
        let (status, block) = (c.get()?, c.get()?);
        let (mined, newest): (Option<Word>, Option<Word>) = (c.get()?, c.get()?);
        let hash = mined.or(newest).ok_or_else(|| Error::Bug("a batch has no transaction".into()))?;
        Ok(Self { signer, nonce, kind, items, status, block, hash })
    }
}

static OF_SIGNER: Sql = select::<BatchTransaction>(
    "SELECT {columns}, -b.nonce, -b.nonce \
     FROM chain_signers s JOIN chain_batches b ON b.signer = s.id \
     WHERE s.address = ?1 AND b.nonce < ?2 ORDER BY b.nonce DESC LIMIT ?3",
);
/// By block, those without one first; the index `chain_batches_kind` has the same expressions.
static OF_KIND: Sql = select::<BatchTransaction>(
    "SELECT {columns}, \
     -coalesce(b.block, 9223372036854775807), -(b.signer * 17592186044416 + b.nonce) \
     FROM chain_batches b JOIN chain_signers s ON s.id = b.signer \
     WHERE b.kind = ?1 AND coalesce(b.block, 9223372036854775807) <= ?2 \
     AND (coalesce(b.block, 9223372036854775807) < ?2 OR b.signer * 17592186044416 + b.nonce < ?3) \
     ORDER BY coalesce(b.block, 9223372036854775807) DESC, b.signer * 17592186044416 + b.nonce DESC LIMIT ?4",
);

impl Db {
    /// The transactions that an account signed, the newest first.
    pub async fn transactions_of_signer(
        &self,
        signer: &Address,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<BatchTransaction>> {
        let before = Cursor::before(after);
        let params = [signer.as_slice().into(), before.seq.into(), (as_limit(limit) + 1).into()];
        let found: Vec<Keyed<_>> = self.read(&OF_SIGNER, &params, Weight::Scan).await?;
        Ok(Page::cut(found, limit))
    }

    /// The transactions that call the contract of a kind of items, the newest first.
    pub async fn transactions_of_kind(
        &self,
        kind: ItemKind,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<BatchTransaction>> {
        let before = Cursor::before(after);
        let params = [kind.into(), before.key.into(), before.seq.into(), (as_limit(limit) + 1).into()];
        let found: Vec<Keyed<_>> = self.read(&OF_KIND, &params, Weight::Scan).await?;
        Ok(Page::cut(found, limit))
    }
}

statements! { OF_SIGNER, OF_KIND }
