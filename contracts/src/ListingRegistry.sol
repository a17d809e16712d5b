// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IListingRegistry} from "./IListingRegistry.sol";
import {Versioned} from "./Versioned.sol";

/// @title ListingRegistry
/// @notice See {IListingRegistry}.
contract ListingRegistry is IListingRegistry, Versioned {
    uint16 private constant MAX_CREDIT = 1000;

    /// @dev Two slots each: all but the digest share the first.
    mapping(bytes32 key => Record) private _records;

    constructor(address owner, address[] memory recorders) Versioned(owner, recorders) {}

    /// @inheritdoc IListingRegistry
    function record(Item[] calldata items) external onlyRole(RECORDER_ROLE) {
        for (uint256 i = 0; i < items.length; ++i) {
            Item memory item = items[i];
            Record storage stored = _records[item.key];
            if (!_admit(item.key, item.version, stored.version, _faultOf(item))) continue;
            if (item.retired) {
                _records[item.key] = Record(item.version, true, 0, 0, 0, 0, 0);
                emit Retired(item.key, item.version);
            } else {
                stored.version = item.version;
                stored.retired = false;
                stored.minCredit = item.minCredit;
                stored.prefCredit = item.prefCredit;
                stored.minIncome = item.minIncome;
                stored.prefIncome = item.prefIncome;
                stored.digest = item.digest;
                emit Recorded(item.key, item.version, item.digest);
            }
        }
    }

    /// @inheritdoc IListingRegistry
    function requirementsOf(bytes32 key)
        external
        view
        returns (uint16 minCredit, uint16 prefCredit, uint64 minIncome, uint64 prefIncome)
    {
        Record storage stored = _records[key];
        if (stored.version == 0 || stored.retired) revert UnknownListing(key);
        return (stored.minCredit, stored.prefCredit, stored.minIncome, stored.prefIncome);
    }

    /// @inheritdoc IListingRegistry
    function recordOf(bytes32 key) external view returns (Record memory) {
        return _records[key];
    }

    /// @inheritdoc IListingRegistry
    function recordsOf(bytes32[] calldata keys) external view returns (Record[] memory records) {
        records = new Record[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            records[i] = _records[keys[i]];
        }
    }

    /// @dev Pure, so that the verdict cannot depend on what is stored.
    function _faultOf(Item memory item) private pure returns (Reason) {
        if (item.key == 0) return Reason.KeyMissing;
        if (item.version == 0) return Reason.VersionMissing;
        if (item.retired) return Reason.None;
        if (item.minCredit > MAX_CREDIT || item.prefCredit > MAX_CREDIT) return Reason.CreditTooHigh;
        if (item.prefCredit < item.minCredit || item.prefIncome < item.minIncome) return Reason.PreferredBelowMinimum;
        if (item.digest == 0) return Reason.DigestMissing;
        return Reason.None;
    }
}
