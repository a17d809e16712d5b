//! All queries that read the chain's file.

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, Sealed, U256};
use alloy_rlp::Decodable;
use revm::primitives::KECCAK_EMPTY;
use revm::state::{AccountId, AccountInfo, Bytecode};
use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::error::ChainError;

/// The low bits of a transaction's key are its position in the block.
const POSITION_BITS: u32 = 20;

type Result<T> = std::result::Result<T, ChainError>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TxLocation {
    pub(crate) block: u64,
    pub(crate) position: u64,
}

impl TxLocation {
    /// `None`: no block has that many transactions.
    pub(crate) fn new(block: u64, position: u64) -> Option<Self> {
        (position < 1 << POSITION_BITS).then_some(Self { block, position })
    }

    pub(super) fn key(self) -> i64 {
        (self.block << POSITION_BITS | self.position).cast_signed()
    }

    fn from_key(key: i64) -> Self {
        let key = key.cast_unsigned();
        Self { block: key >> POSITION_BITS, position: key & ((1 << POSITION_BITS) - 1) }
    }
}

/// A row of `transactions`, with encoded blobs.
#[derive(Debug)]
pub(crate) struct StoredTransaction {
    pub(crate) location: TxLocation,
    pub(crate) hash: B256,
    pub(crate) sender: Address,
    /// Empty if not selected.
    pub(crate) receipt: Vec<u8>,
    /// Empty if not selected.
    pub(crate) raw: Vec<u8>,
}

fn first<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    rows.next()?.map(read).transpose()
}

fn each<T>(
    connection: &Connection,
    sql: &str,
    params: impl Params,
    mut read: impl FnMut(&Row<'_>) -> Result<T>,
) -> Result<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn blob<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r [u8]> {
    row.get_ref(column)?.as_blob().map_err(|_| ChainError::Corrupt("a column of another type"))
}

fn hash(row: &Row<'_>, column: usize) -> Result<B256> {
    B256::try_from(blob(row, column)?).map_err(|_| ChainError::Corrupt("a hash of another length"))
}

fn number(row: &Row<'_>, column: usize) -> Result<u64> {
    Ok(row.get::<_, i64>(column)?.cast_unsigned())
}

fn uint(bytes: &[u8]) -> Result<U256> {
    U256::try_from_be_slice(bytes).ok_or(ChainError::Corrupt("a number of more than 256 bits"))
}

pub(crate) fn chain_id(connection: &Connection) -> Result<Option<u64>> {
    first(connection, "SELECT id FROM chain", [], |row| number(row, 0))
}

/// The number of the latest block. As the first read of a transaction it also fixes its snapshot.
pub(crate) fn latest(connection: &Connection) -> Result<u64> {
    first(connection, "SELECT number FROM blocks ORDER BY number DESC LIMIT 1", [], |row| number(row, 0))?
        .ok_or(ChainError::Corrupt("there is no block"))
}

pub(crate) fn latest_account(connection: &Connection) -> Result<u32> {
    first(connection, "SELECT coalesce(max(id), 0) FROM accounts", [], |row| Ok(row.get(0)?))
        .map(Option::unwrap_or_default)
}

pub(crate) fn header(connection: &Connection, at: u64) -> Result<Option<Sealed<Header>>> {
    let sql = "SELECT hash, header FROM blocks WHERE number = ?1";
    first(connection, sql, [at.cast_signed()], sealed)
}

/// The headers of blocks `from..=to` that `wanted` accepts, in order.
pub(crate) fn headers(
    connection: &Connection,
    from: u64,
    to: u64,
    mut wanted: impl FnMut(&Header) -> bool,
) -> Result<Vec<Sealed<Header>>> {
    let sql = "SELECT hash, header FROM blocks WHERE number BETWEEN ?1 AND ?2 ORDER BY number";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([from.cast_signed(), to.cast_signed()])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let header = sealed(row)?;
        if wanted(&header) {
            found.push(header);
        }
    }
    Ok(found)
}

fn sealed(row: &Row<'_>) -> Result<Sealed<Header>> {
    let header =
        Header::decode(&mut blob(row, 1)?).map_err(|_| ChainError::Corrupt("a header cannot be read"))?;
    Ok(Sealed::new_unchecked(header, hash(row, 0)?))
}

pub(crate) fn block_hash(connection: &Connection, at: u64) -> Result<Option<B256>> {
    let sql = "SELECT hash FROM blocks WHERE number = ?1";
    first(connection, sql, [at.cast_signed()], |row| hash(row, 0))
}

pub(crate) fn block_number(connection: &Connection, hash: &B256) -> Result<Option<u64>> {
    let sql = "SELECT number FROM blocks WHERE hash = ?1";
    first(connection, sql, [hash.as_slice()], |row| number(row, 0))
}

/// What a block listing needs of a transaction, without loading it.
#[derive(Debug)]
pub(crate) struct TransactionSummary {
    pub(crate) hash: B256,
    /// Bytes of the signed transaction.
    pub(crate) length: usize,
    pub(crate) is_legacy: bool,
}

pub(crate) fn summaries(connection: &Connection, block: u64) -> Result<Vec<TransactionSummary>> {
    let sql = "SELECT hash, length(raw), substr(raw, 1, 1) FROM transactions \
               WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
    each(connection, sql, key_range(block), |row| {
        Ok(TransactionSummary {
            hash: hash(row, 0)?,
            length: usize::try_from(number(row, 1)?).unwrap_or(usize::MAX),
            is_legacy: blob(row, 2)?.first().is_some_and(|first| *first >= 0xc0),
        })
    })
}

fn key_range(block: u64) -> [i64; 2] {
    [TxLocation { block, position: 0 }.key(), TxLocation { block: block + 1, position: 0 }.key() - 1]
}

pub(crate) fn tx_location(connection: &Connection, hash: &B256) -> Result<Option<TxLocation>> {
    let sql = "SELECT place FROM transactions WHERE hash = ?1";
    first(connection, sql, [hash.as_slice()], |row| Ok(TxLocation::from_key(row.get(0)?)))
}

pub(crate) fn transaction(connection: &Connection, at: TxLocation) -> Result<Option<StoredTransaction>> {
    let sql = "SELECT place, hash, sender, x'', raw FROM transactions WHERE place = ?1";
    first(connection, sql, [at.key()], stored)
}

pub(crate) fn transactions(connection: &Connection, block: u64) -> Result<Vec<StoredTransaction>> {
    let sql = "SELECT place, hash, sender, x'', raw FROM transactions \
               WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
    each(connection, sql, key_range(block), stored)
}

pub(crate) fn receipt(connection: &Connection, at: TxLocation) -> Result<Option<StoredTransaction>> {
    let sql = "SELECT place, hash, sender, receipt, x'' FROM transactions WHERE place = ?1";
    first(connection, sql, [at.key()], stored)
}

pub(crate) fn receipts(connection: &Connection, block: u64) -> Result<Vec<StoredTransaction>> {
    let sql = "SELECT place, hash, sender, receipt, x'' FROM transactions \
               WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
    each(connection, sql, key_range(block), stored)
}

fn stored(row: &Row<'_>) -> Result<StoredTransaction> {
    Ok(StoredTransaction {
        location: TxLocation::from_key(row.get(0)?),
        hash: hash(row, 1)?,
        sender: Address::try_from(blob(row, 2)?)
            .map_err(|_| ChainError::Corrupt("an address of another length"))?,
        receipt: blob(row, 3)?.to_vec(),
        raw: blob(row, 4)?.to_vec(),
    })
}

/// An account without its code.
pub(crate) fn account(connection: &Connection, address: &Address) -> Result<Option<AccountInfo>> {
    let sql = "SELECT id, nonce, balance, code_hash FROM accounts WHERE address = ?1";
    first(connection, sql, [address.as_slice()], |row| {
        Ok(AccountInfo {
            account_id: account_id(row.get(0)?),
            nonce: number(row, 1)?,
            balance: uint(blob(row, 2)?)?,
            code_hash: if row.get_ref(3)?.as_blob_or_null().is_ok_and(|blob| blob.is_none()) {
                KECCAK_EMPTY
            } else {
                hash(row, 3)?
            },
            code: None,
        })
    })
}

fn account_id(key: i64) -> Option<AccountId> {
    usize::try_from(key).ok().and_then(AccountId::new)
}

pub(super) fn account_key(id: AccountId) -> i64 {
    i64::try_from(id.get()).unwrap_or(i64::MAX)
}

pub(crate) fn code(connection: &Connection, hash: &B256) -> Result<Bytecode> {
    let sql = "SELECT code FROM codes WHERE hash = ?1";
    first(connection, sql, [hash.as_slice()], |row| {
        let code = Bytes::copy_from_slice(blob(row, 0)?);
        Bytecode::new_raw_checked(code).map_err(|_| ChainError::Corrupt("a contract's code cannot be read"))
    })?
    .ok_or(ChainError::Corrupt("a contract's code is missing"))
}

pub(crate) fn slot(connection: &Connection, account: AccountId, key: U256) -> Result<U256> {
    let sql = "SELECT value FROM slots WHERE account = ?1 AND key = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let value = statement
        .query_row((account_key(account), key.to_be_bytes::<32>().as_slice()), |row| {
            Ok(row.get_ref(0)?.as_blob().map(U256::try_from_be_slice))
        })
        .optional()?;
    match value {
        None => Ok(U256::ZERO),
        Some(Ok(Some(value))) => Ok(value),
        Some(_) => Err(ChainError::Corrupt("a slot cannot be read")),
    }
}
