// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IApplicationChecks} from "./IApplicationChecks.sol";
import {Versioned} from "./Versioned.sol";

/// @title ApplicationChecks
/// @notice See {IApplicationChecks}.
contract ApplicationChecks is IApplicationChecks, Versioned {
    /// @dev One slot each.
    mapping(bytes32 key => Record) private _records;

    constructor(address owner, address[] memory recorders) Versioned(owner, recorders) {}

    /// @inheritdoc IApplicationChecks
    function record(Item[] calldata items) external onlyRole(RECORDER_ROLE) {
        for (uint256 i = 0; i < items.length; ++i) {
            Item memory item = items[i];
            if (!_admit(item.key, item.version, _records[item.key].version, _faultOf(item))) continue;
            if (item.commitment == 0) {
                _records[item.key] = Record(item.version, 0, 0);
                emit Cleared(item.key, item.version);
            } else {
                _records[item.key] = Record(item.version, item.commitment, item.expiryDay);
                emit Recorded(item.key, item.version, item.commitment, item.expiryDay);
            }
        }
    }

    /// @inheritdoc IApplicationChecks
    function isAttested(bytes32 key, uint8 flags, uint32 expiryDay, bytes32 salt) external view returns (bool) {
        Record memory stored = _records[key];
        // Of what was never seen, or is cleared, the expiry is zero.
        // Expiry is by the day: the seconds that a proposer can shift do not matter.
        // slither-disable-next-line timestamp
        return block.timestamp < uint256(stored.expiryDay) * 1 days && stored.expiryDay == expiryDay
            && stored.commitment == commitmentOf(key, flags, expiryDay, salt);
    }

    /// @inheritdoc IApplicationChecks
    function recordOf(bytes32 key) external view returns (Record memory) {
        return _records[key];
    }

    /// @inheritdoc IApplicationChecks
    function recordsOf(bytes32[] calldata keys) external view returns (Record[] memory records) {
        records = new Record[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            records[i] = _records[keys[i]];
        }
    }

    /// @inheritdoc IApplicationChecks
    function commitmentOf(bytes32 key, uint8 flags, uint32 expiryDay, bytes32 salt) public pure returns (bytes20) {
        return bytes20(keccak256(abi.encode(key, flags, expiryDay, salt)));
    }

    /// @dev Pure, so that the verdict cannot depend on what is stored.
    function _faultOf(Item memory item) private pure returns (Reason) {
        if (item.key == 0) return Reason.KeyMissing;
        if (item.version == 0) return Reason.VersionMissing;
        if (item.commitment != 0 && item.expiryDay == 0) return Reason.ExpiryMissing;
        return Reason.None;
    }
}
