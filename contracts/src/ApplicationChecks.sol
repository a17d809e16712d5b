// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IApplicationChecks} from "./IApplicationChecks.sol";
import {Versioned} from "./Versioned.sol";

/// @title ApplicationChecks
/// @notice See {IApplicationChecks}.
contract ApplicationChecks is IApplicationChecks, Versioned {
    uint8 private constant MIN_CREDIT = 1;
    uint8 private constant PREF_CREDIT = 2;
    uint8 private constant MIN_INCOME = 4;
    uint8 private constant PREF_INCOME = 8;
    uint8 private constant ALL = MIN_CREDIT | PREF_CREDIT | MIN_INCOME | PREF_INCOME;

    /// @dev One slot each.
    mapping(bytes32 key => Record) private _records;

    constructor(address owner, address[] memory recorders) Versioned(owner, recorders) {}

    /// @inheritdoc IApplicationChecks
    function record(Item[] calldata items) external onlyRole(RECORDER_ROLE) {
        for (uint256 i = 0; i < items.length; ++i) {
            Item memory item = items[i];
            bytes32 key = keyOf(item.listing, item.applicant);
            Record storage stored = _records[key];
            if (!_admit(key, item.version, stored.version, _faultOf(item))) continue;
            stored.version = item.version;
            stored.cleared = item.cleared;
            stored.flags = item.cleared ? 0 : item.flags;
            stored.expiresAt = item.cleared ? 0 : item.expiresAt;
            if (item.cleared) {
                emit Cleared(item.listing, item.applicant, item.version);
            } else {
                emit Recorded(item.listing, item.applicant, item.version, item.flags, item.expiresAt);
            }
        }
    }

    /// @inheritdoc IApplicationChecks
    function checksOf(bytes32 listing, bytes32 applicant)
        external
        view
        returns (bool attested, bool passMinCredit, bool passPrefCredit, bool passMinIncome, bool passPrefIncome)
    {
        Record memory stored = _records[keyOf(listing, applicant)];
        // Of what was never seen, or is cleared, the expiry is zero.
        // Expiry is by the day: the seconds that a proposer can shift do not matter.
        // slither-disable-next-line timestamp
        attested = block.timestamp < stored.expiresAt;
        if (!attested) return (false, false, false, false, false);
        passMinCredit = stored.flags & MIN_CREDIT != 0;
        passPrefCredit = stored.flags & PREF_CREDIT != 0;
        passMinIncome = stored.flags & MIN_INCOME != 0;
        passPrefIncome = stored.flags & PREF_INCOME != 0;
    }

    /// @inheritdoc IApplicationChecks
    function recordOf(bytes32 listing, bytes32 applicant) external view returns (Record memory) {
        return _records[keyOf(listing, applicant)];
    }

    /// @inheritdoc IApplicationChecks
    function recordsOf(Pair[] calldata pairs) external view returns (Record[] memory records) {
        records = new Record[](pairs.length);
        for (uint256 i = 0; i < pairs.length; ++i) {
            records[i] = _records[keyOf(pairs[i].listing, pairs[i].applicant)];
        }
    }

    /// @inheritdoc IApplicationChecks
    function keyOf(bytes32 listing, bytes32 applicant) public pure returns (bytes32) {
        return keccak256(abi.encode(listing, applicant));
    }

    /// @dev Pure, so that the verdict cannot depend on what is stored.
    function _faultOf(Item memory item) private pure returns (Reason) {
        if (item.listing == 0 || item.applicant == 0) return Reason.KeyMissing;
        if (item.version == 0) return Reason.VersionMissing;
        if (item.cleared) return Reason.None;
        if (item.flags > ALL) return Reason.FlagUnknown;
        if (_lacks(item.flags, PREF_CREDIT, MIN_CREDIT) || _lacks(item.flags, PREF_INCOME, MIN_INCOME)) {
            return Reason.PreferredWithoutMinimum;
        }
        if (item.expiresAt == 0) return Reason.ExpiryMissing;
        return Reason.None;
    }

    function _lacks(uint8 flags, uint8 preferred, uint8 minimum) private pure returns (bool) {
        return flags & preferred != 0 && flags & minimum == 0;
    }
}
