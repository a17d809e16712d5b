// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title What all of Portico's contracts have in common
/// @notice Portico keeps its wishes in a database and delivers them at least once: after a crash, a lost reply or a
/// replaced transaction the same item may come twice, and an older one after a newer one. Each contract makes of that
/// exactly once, by four rules for every item of a batch:
///
/// 1. A bad item is reported with {Rejected}. Whether it is bad depends on the item alone, never on what is stored.
/// 2. An item whose version is not greater than the stored one is reported with {Stale}.
/// 3. An item whose version exceeds the stored one, or zero if there is none, by more than 2^20 is reported with
///    {Rejected} too: whoever steals a recorder's key cannot use up a key's versions and so freeze it, seen or not. Logs
///    ({IAuditAnchor}) are excepted: their versions are lengths, and a log may grow by any number of entries.
/// 4. Any other item replaces what is stored. A tombstone (retired, revoked, cleared) is an item like any other: it is
///    written even if its key was never seen, and a greater version revives the key.
///
/// So what is stored is, for each key, the good item of the greatest version: the same for every order, repetition and
/// division into batches of the same items, as long as the versions of a key are at most 2^20. The database
/// counts them up one by one, and sees to it that a key and a version never stand for two different items. No item stops
/// its neighbours; a batch reverts only as a whole, and only if the caller may not record.
interface IVersioned {
    /// @notice What is wrong with a rejected item. The numbers are the same in all contracts and never change.
    enum Reason {
        None,
        /// The key, or a part of it, is zero.
        KeyMissing,
        /// The version is zero, which stands for "never seen".
        VersionMissing,
        /// A token id of more than 128 bits.
        KeyTooLarge,
        /// A credit score above 1000.
        CreditTooHigh,
        /// A preferred credit score or income below the minimum.
        PreferredBelowMinimum,
        /// The digest of a listing, or the head of a log, is zero.
        DigestMissing,
        /// A token for nobody.
        HolderMissing,
        /// A commitment that never expires.
        ExpiryMissing,
        /// The version exceeds the stored one by more than 2^20.
        VersionTooFar
    }

    /// @notice An item came late or again; `current` is the version that stays.
    event Stale(bytes32 indexed key, uint64 version, uint64 current);

    /// @notice A bad item was left out.
    event Rejected(bytes32 indexed key, uint64 version, Reason reason);
}
