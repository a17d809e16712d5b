//! Executes the transactions of a block, each on top of the changes of those before it.

use alloy_consensus::{Header, Transaction as _};
use alloy_primitives::{Address, B256, U256};
use revm::context::result::{EVMError, InvalidTransaction};
use revm::context::{CfgEnv, ContextTr, TxEnv};
use revm::primitives::AddressMap;
use revm::state::{Account, AccountId, AccountInfo, Bytecode};
use revm::{Database, DatabaseCommit, ExecuteCommitEvm};

use crate::block::ExecutedTransaction;
use crate::changes::Changes;
use crate::error::{ChainError, Refused};
use crate::executor::executor;
use crate::receipt::{self, StoredReceipt};
use crate::state::View;
use crate::transaction::VerifiedTransaction;
use crate::{BASE_FEE, TRANSACTION_GAS_CAP, block};

#[derive(Debug)]
pub(crate) struct BlockExecution {
    /// For each submitted transaction its hash, or why it was refused.
    pub(crate) outcomes: Vec<Result<B256, Refused>>,
    pub(crate) executed: Vec<ExecutedTransaction>,
    pub(crate) changes: Changes,
}

/// Runs the transactions in order. Refused ones change nothing.
pub(crate) fn run(
    view: View<'_>,
    header: &Header,
    rules: &CfgEnv,
    transactions: Vec<Result<VerifiedTransaction, Refused>>,
) -> Result<BlockExecution, ChainError> {
    let pending = PendingState { view, changes: Changes::default() };
    let mut evm = executor(pending, rules, block::env(header));
    let mut executed: Vec<ExecutedTransaction> = Vec::new();
    let mut outcomes = Vec::with_capacity(transactions.len());
    for transaction in transactions {
        let before = executed.last().map(|last| &last.receipt);
        let room = header.gas_limit - before.map_or(0, |before| before.cumulative_gas_used);
        outcomes.push(match transaction {
            Err(refused) => Err(refused),
            Ok(transaction) if transaction.envelope.gas_limit() > room => Err(Refused::BlockFull),
            Ok(transaction) => match evm.transact_commit(transaction.env()) {
                Ok(result) => {
                    let hash = transaction.hash;
                    let receipt = StoredReceipt::new(&transaction, result, before);
                    executed.push(ExecutedTransaction {
                        transaction,
                        bloom: receipt::bloom(&receipt.logs),
                        receipt,
                    });
                    Ok(hash)
                }
                Err(EVMError::Transaction(invalid)) => {
                    let known = executed.iter().any(|executed| executed.transaction.hash == transaction.hash);
                    Err(match refused(invalid, &evm.ctx.tx) {
                        // A transaction that is already on the chain has used its nonce.
                        Refused::NonceTooLow { .. }
                            if known || evm.ctx.db_mut().view.has_transaction(&transaction.hash)? =>
                        {
                            Refused::AlreadyKnown
                        }
                        refused => refused,
                    })
                }
                Err(EVMError::Database(error)) => return Err(error),
                Err(error) => return Err(ChainError::Executor(error.to_string())),
            },
        });
    }
    let changes = std::mem::take(&mut evm.ctx.db_mut().changes);
    Ok(BlockExecution { outcomes, executed, changes })
}

pub(crate) fn refused(invalid: InvalidTransaction, given: &TxEnv) -> Refused {
    match invalid {
        InvalidTransaction::NonceTooLow { tx, state } => Refused::NonceTooLow { next: state, given: tx },
        InvalidTransaction::NonceTooHigh { tx, state } => Refused::NonceTooHigh { next: state, given: tx },
        InvalidTransaction::LackOfFundForMaxFee { fee, balance } => {
            Refused::Underfunded { balance: *balance, cost: *fee }
        }
        InvalidTransaction::GasPriceLessThanBasefee => {
            Refused::FeeTooLow { offered: given.gas_price, base_fee: BASE_FEE }
        }
        InvalidTransaction::CallerGasLimitMoreThanBlock
        | InvalidTransaction::TxGasLimitGreaterThanCap { .. } => {
            Refused::GasTooHigh { cap: TRANSACTION_GAS_CAP, given: given.gas_limit }
        }
        InvalidTransaction::CallGasCostMoreThanGasLimit { initial_gas: needed, gas_limit: given }
        | InvalidTransaction::GasFloorMoreThanGasLimit { gas_floor: needed, gas_limit: given } => {
            Refused::GasTooLow { needed, given }
        }
        other => Refused::Invalid(other.to_string()),
    }
}

/// The state of the parent block with the changes so far.
#[derive(Debug)]
struct PendingState<'s> {
    view: View<'s>,
    changes: Changes,
}

impl PendingState<'_> {
    fn changed(&self, address: &Address, key: &U256) -> Option<U256> {
        self.changes.slots.get(address)?.get(key).copied()
    }
}

impl Database for PendingState<'_> {
    type Error = ChainError;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>, ChainError> {
        match self.changes.accounts.get(&address) {
            Some(account) => Ok(account.clone()),
            None => self.view.account(address),
        }
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode, ChainError> {
        match self.changes.codes.get(&hash) {
            Some(code) => Ok(code.clone()),
            None => self.view.code(hash),
        }
    }

    fn storage(&mut self, address: Address, key: U256) -> Result<U256, ChainError> {
        // revm calls this for accounts without an id: they have no slots in the file.
        Ok(self.changed(&address, &key).unwrap_or_default())
    }

    fn storage_by_account_id(
        &mut self,
        address: Address,
        id: AccountId,
        key: U256,
    ) -> Result<U256, ChainError> {
        match self.changed(&address, &key) {
            Some(value) => Ok(value),
            None => self.view.slot(id, key),
        }
    }

    fn block_hash(&mut self, number: u64) -> Result<B256, ChainError> {
        self.view.block_hash(number)
    }
}

impl DatabaseCommit for PendingState<'_> {
    fn commit(&mut self, changes: AddressMap<Account>) {
        self.changes.add(changes);
    }
}
