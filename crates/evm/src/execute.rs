//! Running transactions on the state of the parent block and on what those before them have changed.

use alloy_primitives::{Address, B256, U256, logs_bloom};
use revm::context::result::{EVMError, InvalidTransaction};
use revm::context::{CfgEnv, ContextTr};
use revm::primitives::AddressMap;
use revm::state::{Account, AccountId, AccountInfo, Bytecode};
use revm::{Database, DatabaseCommit, ExecuteCommitEvm};

use crate::block::Executed;
use crate::changes::Changes;
use crate::error::{ChainError, Refused};
use crate::machine::machine;
use crate::receipt::StoredReceipt;
use crate::state::{ReadError, View};
use crate::transaction::Checked;
use crate::{BASE_FEE, TRANSACTION_GAS_CAP, block};

use alloy_consensus::{Header, Transaction as _};

/// The outcome for each transaction that was given: its place among those that made it, or why it did not.
pub(crate) type Outcomes = Vec<Result<usize, Refused>>;

/// Runs the transactions, in order. Those that are refused leave no trace.
pub(crate) fn run(
    view: View<'_>,
    header: &Header,
    rules: &CfgEnv,
    transactions: Vec<Result<Checked, Refused>>,
) -> Result<(Outcomes, Vec<Executed>, Changes), ChainError> {
    let pending = Pending { view, changes: Changes::default() };
    let mut evm = machine(pending, rules, block::env(header));
    let mut executed: Vec<Executed> = Vec::new();
    let mut outcomes = Vec::with_capacity(transactions.len());
    for transaction in transactions {
        let room = header.gas_limit - executed.last().map_or(0, |last| last.receipt.cumulative_gas_used);
        let transaction = match transaction {
            Ok(transaction) if transaction.envelope.gas_limit() > room => {
                outcomes.push(Err(Refused::BlockFull));
                continue;
            }
            Ok(transaction) => transaction,
            Err(refused) => {
                outcomes.push(Err(refused));
                continue;
            }
        };
        match evm.transact_commit(transaction.env()) {
            Ok(result) => {
                let receipt =
                    StoredReceipt::new(&transaction, &result, executed.last().map(|last| &last.receipt));
                outcomes.push(Ok(executed.len()));
                executed.push(Executed { transaction, bloom: logs_bloom(&receipt.logs), receipt });
            }
            Err(EVMError::Transaction(invalid)) => {
                let known = executed.iter().any(|executed| executed.transaction.hash == transaction.hash);
                outcomes.push(Err(if known {
                    Refused::AlreadyKnown
                } else {
                    refused(invalid, &transaction.env())
                }));
            }
            Err(error) => return Err(trouble(error)),
        }
    }
    let changes = std::mem::take(&mut evm.ctx.db_mut().changes);
    Ok((outcomes, executed, changes))
}

/// What is wrong when it is not the transaction.
pub(crate) fn trouble(error: EVMError<ReadError>) -> ChainError {
    match error {
        EVMError::Database(ReadError::Chain(error)) => error,
        error => ChainError::Machine(error.to_string()),
    }
}

/// The machine's reason in our words.
pub(crate) fn refused(invalid: InvalidTransaction, given: &revm::context::TxEnv) -> Refused {
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

/// The state in the middle of a block.
#[derive(Debug)]
struct Pending<'s> {
    view: View<'s>,
    changes: Changes,
}

impl Pending<'_> {
    fn changed(&self, address: &Address, key: &U256) -> Option<U256> {
        self.changes.slots.get(address)?.get(key).copied()
    }
}

impl Database for Pending<'_> {
    type Error = ReadError;

    fn basic(&mut self, address: Address) -> Result<Option<AccountInfo>, ReadError> {
        match self.changes.accounts.get(&address) {
            Some(account) => Ok(account.clone()),
            None => self.view.account(address),
        }
    }

    fn code_by_hash(&mut self, hash: B256) -> Result<Bytecode, ReadError> {
        match self.changes.codes.get(&hash) {
            Some(code) => Ok(code.clone()),
            None => self.view.code(hash),
        }
    }

    fn storage(&mut self, address: Address, key: U256) -> Result<U256, ReadError> {
        // Asked for accounts without a number, which are not in the file and have no slots there.
        Ok(self.changed(&address, &key).unwrap_or_default())
    }

    fn storage_by_account_id(
        &mut self,
        address: Address,
        id: AccountId,
        key: U256,
    ) -> Result<U256, ReadError> {
        match self.changed(&address, &key) {
            Some(value) => Ok(value),
            None => self.view.slot(id, key),
        }
    }

    fn block_hash(&mut self, number: u64) -> Result<B256, ReadError> {
        self.view.block_hash(number)
    }
}

impl DatabaseCommit for Pending<'_> {
    fn commit(&mut self, changes: AddressMap<Account>) {
        self.changes.add(changes);
    }
}
