//! Reads past blocks, transactions and receipts, up to the published head.

use alloy_consensus::transaction::Recovered;
use alloy_consensus::{Header, Transaction as _};
use alloy_eips::eip2718::Decodable2718;
use alloy_primitives::{B256, Sealed};
use alloy_rlp::{Decodable, Encodable};

use crate::BASE_FEE;
use crate::error::ChainError;
use crate::file::{PooledReader, StoredTransaction, TransactionSummary, TxLocation, reads};
use crate::receipt::{Receipt, StoredReceipt};
use crate::state::State;
use crate::transaction::Envelope;

type Result<T> = std::result::Result<T, ChainError>;

/// A block, with the hashes of its transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub header: Sealed<Header>,
    /// Bytes of its RLP encoding.
    pub size: usize,
    pub transactions: Vec<B256>,
}

/// A mined transaction, with its sender and its place on the chain.
pub type Transaction = alloy_rpc_types_eth::Transaction<Envelope>;

#[derive(Debug)]
pub(crate) struct History<'s> {
    reader: PooledReader<'s>,
    head: u64,
}

impl<'s> History<'s> {
    pub(crate) fn read(state: &'s State) -> Result<Self> {
        Ok(Self { head: state.head().number, reader: state.reader()? })
    }

    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    pub(crate) fn number(&self, hash: &B256) -> Result<Option<u64>> {
        Ok(reads::block_number(&self.reader, hash)?.filter(|number| *number <= self.head))
    }

    pub(crate) fn header(&self, number: u64) -> Result<Option<Sealed<Header>>> {
        if number > self.head { Ok(None) } else { reads::header(&self.reader, number) }
    }

    /// The headers of blocks `from..=to` that `wanted` accepts.
    pub(crate) fn headers(
        &self,
        from: u64,
        to: u64,
        wanted: impl FnMut(&Header) -> bool,
    ) -> Result<Vec<Sealed<Header>>> {
        reads::headers(&self.reader, from, to.min(self.head), wanted)
    }

    pub(crate) fn block(&self, number: u64) -> Result<Option<Block>> {
        let Some(header) = self.header(number)? else { return Ok(None) };
        let summaries = reads::summaries(&self.reader, number)?;
        let size = size(&header, &summaries);
        Ok(Some(Block {
            header,
            size,
            transactions: summaries.into_iter().map(|summary| summary.hash).collect(),
        }))
    }

    pub(crate) fn locate(&self, hash: &B256) -> Result<Option<TxLocation>> {
        Ok(reads::tx_location(&self.reader, hash)?.filter(|location| location.block <= self.head))
    }

    pub(crate) fn transaction(&self, at: TxLocation) -> Result<Option<Transaction>> {
        let Some(header) = self.header(at.block)? else { return Ok(None) };
        reads::transaction(&self.reader, at)?.map(|stored| transaction(&header, &stored)).transpose()
    }

    pub(crate) fn transaction_at(&self, block: u64, position: u64) -> Result<Option<Transaction>> {
        TxLocation::new(block, position).map_or(Ok(None), |location| self.transaction(location))
    }

    pub(crate) fn transactions(&self, header: &Sealed<Header>) -> Result<Vec<Transaction>> {
        let stored = reads::transactions(&self.reader, header.number)?;
        stored.iter().map(|stored| transaction(header, stored)).collect()
    }

    pub(crate) fn receipt(&self, at: TxLocation) -> Result<Option<Receipt>> {
        let Some(header) = self.header(at.block)? else { return Ok(None) };
        reads::receipt(&self.reader, at)?.map(|stored| receipt(&header, &stored)).transpose()
    }

    pub(crate) fn receipts(&self, header: &Sealed<Header>) -> Result<Vec<Receipt>> {
        let stored = reads::receipts(&self.reader, header.number)?;
        stored.iter().map(|stored| receipt(header, stored)).collect()
    }
}

/// The length of the block's RLP: header, transactions, no ommers, no withdrawals.
fn size(header: &Header, transactions: &[TransactionSummary]) -> usize {
    let list = |payload: usize| alloy_rlp::length_of_length(payload) + payload;
    // Typed transactions are wrapped in an RLP string.
    let length =
        |summary: &TransactionSummary| if summary.is_legacy { summary.length } else { list(summary.length) };
    list(header.length() + list(transactions.iter().map(length).sum()) + 2)
}

fn transaction(header: &Sealed<Header>, stored: &StoredTransaction) -> Result<Transaction> {
    let envelope = Envelope::decode_2718(&mut stored.raw.as_slice())
        .map_err(|_| ChainError::Corrupt("a transaction cannot be read"))?;
    Ok(Transaction {
        effective_gas_price: Some(envelope.effective_gas_price(Some(BASE_FEE))),
        inner: Recovered::new_unchecked(envelope, stored.sender),
        block_hash: Some(header.hash()),
        block_number: Some(header.number),
        block_timestamp: Some(header.timestamp),
        transaction_index: Some(stored.location.position),
    })
}

fn receipt(header: &Sealed<Header>, stored: &StoredTransaction) -> Result<Receipt> {
    let receipt = StoredReceipt::decode(&mut stored.receipt.as_slice())
        .map_err(|_| ChainError::Corrupt("a receipt cannot be read"))?;
    Ok(receipt.into_receipt(header, (stored.location.position, stored.hash, stored.sender)))
}
