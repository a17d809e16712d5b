//! The slots that the newest blocks have changed.
//!
//! In the file a slot stands at the place of its key, and keys are hashes: every slot that a block changes is on
//! another page, and to write all those pages would be most of a block's work. So a block keeps its slots beside
//! itself, in one piece, and puts in their places only those whose turn it is, of all the blocks before it: with
//! every block another part of the keys, neighbours together. Until their turn they are here as well.

use std::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use alloy_primitives::U256;
use alloy_primitives::map::HashMap;
use revm::state::AccountId;

/// Where a slot is: the number of its account, and its key.
pub(crate) type SlotKey = (AccountId, U256);

/// Parts of the keys, by their first byte. After so many blocks each of them had its turn.
pub(crate) const PARTS: u64 = 256;

/// Slots of the latest block's state that may not be in their places in the file yet.
pub(crate) struct SlotWriteback(Box<[RwLock<Part>]>);

type Part = HashMap<SlotKey, U256>;

impl fmt::Debug for SlotWriteback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fresh")
    }
}

impl Default for SlotWriteback {
    fn default() -> Self {
        Self((0..PARTS).map(|_| RwLock::default()).collect())
    }
}

impl SlotWriteback {
    pub(crate) fn get(&self, slot: &SlotKey) -> Option<U256> {
        self.part(first_byte(slot.1)).get(slot).copied()
    }

    /// What a block is to put in its places, in the order of the file. What the block itself changes is not among
    /// it: that has its turn later.
    pub(crate) fn due(&self, block: u64) -> Vec<(SlotKey, U256)> {
        let mut due: Vec<_> = self.part(turn(block)).iter().map(|(slot, value)| (*slot, *value)).collect();
        due.sort_unstable();
        due
    }

    /// Takes over what a block has changed. What was due with it is in its places.
    pub(crate) fn add(&self, block: u64, changed: impl IntoIterator<Item = (SlotKey, U256)>) {
        self.part_mut(turn(block)).clear();
        for (slot, value) in changed {
            self.part_mut(first_byte(slot.1)).insert(slot, value);
        }
    }

    fn part(&self, which: usize) -> RwLockReadGuard<'_, Part> {
        self.0[which].read().unwrap_or_else(PoisonError::into_inner)
    }

    fn part_mut(&self, which: usize) -> RwLockWriteGuard<'_, Part> {
        self.0[which].write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn first_byte(key: U256) -> usize {
    usize::from(key.byte(31))
}

/// The part whose turn it is with this block.
fn turn(block: u64) -> usize {
    usize::try_from(block % PARTS).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(first_byte: u64, rest: u64) -> SlotKey {
        (AccountId::new(1).unwrap(), (U256::from(first_byte) << 248) | U256::from(rest))
    }

    #[test]
    fn a_slot_is_there_until_its_part_had_its_turn() {
        let slot_writeback = SlotWriteback::default();
        let (early, late) = (slot(4, 1), slot(200, 1));
        slot_writeback.add(3, [(early, U256::from(1)), (late, U256::from(2))]);
        assert_eq!(slot_writeback.due(4), [(early, U256::from(1))]);
        slot_writeback.add(4, []);
        assert_eq!((slot_writeback.get(&early), slot_writeback.get(&late)), (None, Some(U256::from(2))));
        assert_eq!(slot_writeback.due(200 + PARTS), [(late, U256::from(2))]);
    }

    #[test]
    fn what_a_block_changes_when_its_part_has_its_turn_stays_for_the_next_one() {
        let slot_writeback = SlotWriteback::default();
        let kept = slot(5, 1);
        slot_writeback.add(4, [(kept, U256::from(1))]);
        slot_writeback.add(5, [(kept, U256::from(2))]);
        assert_eq!(slot_writeback.get(&kept), Some(U256::from(2)));
        assert_eq!(slot_writeback.due(5 + PARTS), [(kept, U256::from(2))]);
    }

    #[test]
    fn what_is_due_comes_in_the_order_of_the_file() {
        let slot_writeback = SlotWriteback::default();
        let slots = [slot(9, 1), slot(9, 2), slot(9, u64::MAX)];
        slot_writeback.add(1, slots.iter().rev().map(|slot| (*slot, U256::ZERO)));
        assert_eq!(slot_writeback.due(9).into_iter().map(|(slot, _)| slot).collect::<Vec<_>>(), slots);
    }
}
