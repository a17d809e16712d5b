//! Every query that reads the chain's file, as functions of a connection.

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, Sealed, U256};
use alloy_rlp::Decodable;
use revm::primitives::KECCAK_EMPTY;
use revm::state::{AccountId, AccountInfo, Bytecode};
use rusqlite::{Connection, OptionalExtension, Params, Row};

use crate::error::ChainError;

/// Bits of a place that tell the position in the block.
const POSITION_BITS: u32 = 20;

type Result<T> = std::result::Result<T, ChainError>;

/// Where a transaction stands in history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) block: u64,
    pub(crate) position: u64,
}

impl Place {
    /// None: no block has so many transactions.
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

/// A transaction as it is kept. The blobs are decoded by who knows their form.
#[derive(Debug)]
pub(crate) struct StoredTransaction {
    pub(crate) place: Place,
    pub(crate) hash: B256,
    pub(crate) sender: Address,
    /// Empty if it was not asked for.
    pub(crate) receipt: Vec<u8>,
    /// Empty if it was not asked for.
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

/// The number of the latest block. Inside a transaction it also fixes what the transaction sees.
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

/// Of the headers of the blocks `from` to `to`, both included, those that are `wanted`, in order.
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

/// What can be known of a transaction without reading it.
#[derive(Debug)]
pub(crate) struct Outline {
    pub(crate) hash: B256,
    /// Bytes as it was signed.
    pub(crate) length: usize,
    /// Whether it is of the kind that has no type.
    pub(crate) legacy: bool,
}

pub(crate) fn outlines(connection: &Connection, block: u64) -> Result<Vec<Outline>> {
    let sql = "SELECT hash, length(raw), substr(raw, 1, 1) FROM transactions \
               WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
    each(connection, sql, places(block), |row| {
        Ok(Outline {
            hash: hash(row, 0)?,
            length: usize::try_from(number(row, 1)?).unwrap_or(usize::MAX),
            legacy: blob(row, 2)?.first().is_some_and(|first| *first >= 0xc0),
        })
    })
}

fn places(block: u64) -> [i64; 2] {
    [Place { block, position: 0 }.key(), Place { block: block + 1, position: 0 }.key() - 1]
}

pub(crate) fn place(connection: &Connection, hash: &B256) -> Result<Option<Place>> {
    let sql = "SELECT place FROM transactions WHERE hash = ?1";
    first(connection, sql, [hash.as_slice()], |row| Ok(Place::from_key(row.get(0)?)))
}

/// The transaction at a place, as it was signed.
pub(crate) fn transaction(connection: &Connection, at: Place) -> Result<Option<StoredTransaction>> {
    let sql = "SELECT place, hash, sender, x'', raw FROM transactions WHERE place = ?1";
    first(connection, sql, [at.key()], stored)
}

/// All transactions of a block, as they were signed.
pub(crate) fn transactions(connection: &Connection, block: u64) -> Result<Vec<StoredTransaction>> {
    let sql = "SELECT place, hash, sender, x'', raw FROM transactions \
               WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
    each(connection, sql, places(block), stored)
}

/// The receipt of the transaction at a place.
pub(crate) fn receipt(connection: &Connection, at: Place) -> Result<Option<StoredTransaction>> {
    let sql = "SELECT place, hash, sender, receipt, x'' FROM transactions WHERE place = ?1";
    first(connection, sql, [at.key()], stored)
}

/// The receipts of a block.
pub(crate) fn receipts(connection: &Connection, block: u64) -> Result<Vec<StoredTransaction>> {
    let sql = "SELECT place, hash, sender, receipt, x'' FROM transactions \
               WHERE place BETWEEN ?1 AND ?2 ORDER BY place";
    each(connection, sql, places(block), stored)
}

fn stored(row: &Row<'_>) -> Result<StoredTransaction> {
    Ok(StoredTransaction {
        place: Place::from_key(row.get(0)?),
        hash: hash(row, 1)?,
        sender: Address::try_from(blob(row, 2)?)
            .map_err(|_| ChainError::Corrupt("an address of another length"))?,
        receipt: blob(row, 3)?.to_vec(),
        raw: blob(row, 4)?.to_vec(),
    })
}

/// An account, without its code.
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

pub(super) fn account_id(key: i64) -> Option<AccountId> {
    usize::try_from(key).ok().and_then(AccountId::new)
}

/// An account's number, which is small, as SQLite wants it.
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
