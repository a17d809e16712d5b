//! The state changes of a block, and the state commitment, which is a hash of them.

use std::collections::BTreeMap;

use alloy_primitives::{Address, B256, Keccak256, U256};
use revm::primitives::AddressMap;
use revm::state::{Account, AccountId, AccountInfo, Bytecode};

pub(crate) type SlotKey = (AccountId, U256);

/// The accounts and slots that differ from those of the parent block.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// `None`: the account is deleted.
    pub(crate) accounts: BTreeMap<Address, Option<AccountInfo>>,
    pub(crate) slots: BTreeMap<Address, BTreeMap<U256, U256>>,
    pub(crate) codes: BTreeMap<B256, Bytecode>,
    /// The ids that accounts have in the file.
    ids: BTreeMap<Address, AccountId>,
}

impl Changes {
    /// Adds the changes of one transaction.
    pub(crate) fn add(&mut self, touched: AddressMap<Account>) {
        for (address, account) in touched {
            if !account.is_touched() {
                continue;
            }
            if account.is_selfdestructed() || account.info.is_empty() {
                self.remove(address, &account);
                continue;
            }
            let slots: Vec<_> =
                account.changed_storage_slots().map(|(key, slot)| (*key, slot.present_value)).collect();
            if !slots.is_empty() {
                self.slots.entry(address).or_default().extend(slots);
                if let Some(id) = account.info.account_id {
                    self.ids.insert(address, id);
                }
            }
            if account.is_changed() {
                self.set(address, account.info);
            }
        }
    }

    /// Sets an account's balance, nonce and code.
    pub(crate) fn set(&mut self, address: Address, mut info: AccountInfo) {
        // An account deleted and created again within the block still has its row.
        info.account_id = info.account_id.or_else(|| self.ids.get(&address).copied());
        if let Some(code) = info.code.take().filter(|code| !code.is_empty()) {
            self.codes.insert(info.code_hash, code);
        }
        self.accounts.insert(address, Some(info));
    }

    fn remove(&mut self, address: Address, account: &Account) {
        self.slots.remove(&address);
        if let Some(id) = account.original_info().account_id {
            self.ids.insert(address, id);
            self.accounts.insert(address, None);
        } else if !self.ids.contains_key(&address) {
            // Created and deleted within the block.
            self.accounts.remove(&address);
        }
    }

    /// The id of a changed account, once it has one.
    pub(crate) fn account_id(&self, address: &Address) -> Option<AccountId> {
        match self.accounts.get(address) {
            Some(info) => info.as_ref()?.account_id,
            None => self.ids.get(address).copied(),
        }
    }

    /// The changed slots, once their accounts have ids.
    pub(crate) fn changed_slots(&self) -> impl Iterator<Item = (SlotKey, U256)> {
        self.slots.iter().flat_map(|(address, slots)| {
            let account = self.account_id(address);
            slots.iter().filter_map(move |(key, value)| Some(((account?, *key), *value)))
        })
    }

    /// The commitment to the state after these changes; the crate's documentation defines it.
    pub(crate) fn commitment(&self, before: B256) -> B256 {
        let mut hash = Keccak256::new();
        hash.update(before);
        for (address, account) in &self.accounts {
            let deleted = AccountInfo::default();
            let info = account.as_ref().unwrap_or(&deleted);
            hash.update([1]);
            hash.update(address);
            hash.update(info.nonce.to_be_bytes());
            hash.update(info.balance.to_be_bytes::<32>());
            hash.update(info.code_hash);
        }
        for (address, slots) in &self.slots {
            for (key, value) in slots {
                hash.update([2]);
                hash.update(address);
                hash.update(key.to_be_bytes::<32>());
                hash.update(value.to_be_bytes::<32>());
            }
        }
        hash.finalize()
    }
}
