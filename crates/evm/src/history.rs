//! Blocks, transactions and receipts as they were. What is not yet the head's is not told.

use alloy_consensus::Header;
use alloy_eips::eip2718::Decodable2718;
use alloy_primitives::{Address, B256, Sealed};
use alloy_rlp::{Decodable, Encodable};

use crate::error::ChainError;
use crate::file::{Outline, Place, Reader, StoredTransaction, reads};
use crate::receipt::{Receipt, StoredReceipt};
use crate::state::State;
use crate::transaction::Envelope;

type Result<T> = std::result::Result<T, ChainError>;

/// A block, with the hashes of its transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Its header, with the block's hash.
    pub header: Sealed<Header>,
    /// How many bytes it has on the wire.
    pub size: usize,
    /// Its transactions, in order.
    pub transactions: Vec<B256>,
}

/// A transaction on the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    pub envelope: Envelope,
    pub from: Address,
    pub block_hash: B256,
    pub block_number: u64,
    /// When its block was made.
    pub block_timestamp: u64,
    /// Its position in the block.
    pub index: u64,
}

/// What is known of the past, up to the head.
#[derive(Debug)]
pub(crate) struct History<'s> {
    reader: Reader<'s>,
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

    /// The headers from one block to another, both included, that are `wanted`.
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
        let outlines = reads::outlines(&self.reader, number)?;
        let size = size(&header, &outlines);
        Ok(Some(Block {
            header,
            size,
            transactions: outlines.into_iter().map(|outline| outline.hash).collect(),
        }))
    }

    pub(crate) fn place(&self, hash: &B256) -> Result<Option<Place>> {
        Ok(reads::place(&self.reader, hash)?.filter(|place| place.block <= self.head))
    }

    pub(crate) fn transaction(&self, at: Place) -> Result<Option<Transaction>> {
        let Some(header) = self.header(at.block)? else { return Ok(None) };
        reads::transaction(&self.reader, at)?.map(|stored| transaction(&header, &stored)).transpose()
    }

    pub(crate) fn transaction_at(&self, block: u64, position: u64) -> Result<Option<Transaction>> {
        Place::new(block, position).map_or(Ok(None), |place| self.transaction(place))
    }

    pub(crate) fn transactions(&self, header: &Sealed<Header>) -> Result<Vec<Transaction>> {
        let stored = reads::transactions(&self.reader, header.number)?;
        stored.iter().map(|stored| transaction(header, stored)).collect()
    }

    pub(crate) fn receipt(&self, at: Place) -> Result<Option<Receipt>> {
        let Some(header) = self.header(at.block)? else { return Ok(None) };
        reads::receipt(&self.reader, at)?.map(|stored| receipt(&header, &stored)).transpose()
    }

    pub(crate) fn receipts(&self, header: &Sealed<Header>) -> Result<Vec<Receipt>> {
        let stored = reads::receipts(&self.reader, header.number)?;
        stored.iter().map(|stored| receipt(header, stored)).collect()
    }
}

/// The length of the block's RLP: header, transactions, no ommers, no withdrawals.
fn size(header: &Header, transactions: &[Outline]) -> usize {
    let list = |payload: usize| alloy_rlp::length_of_length(payload) + payload;
    // All but the oldest kind are wrapped in a string.
    let length = |outline: &Outline| if outline.legacy { outline.length } else { list(outline.length) };
    list(header.length() + list(transactions.iter().map(length).sum()) + 2)
}

fn transaction(header: &Sealed<Header>, stored: &StoredTransaction) -> Result<Transaction> {
    let envelope = Envelope::decode_2718(&mut stored.raw.as_slice())
        .map_err(|_| ChainError::Corrupt("a transaction cannot be read"))?;
    Ok(Transaction {
        envelope,
        from: stored.sender,
        block_hash: header.hash(),
        block_number: header.number,
        block_timestamp: header.timestamp,
        index: stored.place.position,
    })
}

fn receipt(header: &Sealed<Header>, stored: &StoredTransaction) -> Result<Receipt> {
    let receipt = StoredReceipt::decode(&mut stored.receipt.as_slice())
        .map_err(|_| ChainError::Corrupt("a receipt cannot be read"))?;
    Ok(receipt.told(header, (stored.place.position, stored.hash, stored.sender)))
}
