// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {IVersioned} from "./IVersioned.sol";

/// @title The roles, and the rule that decides about an item
/// @dev No immutable variables here or below: the code at an address is the artefact, byte for byte.
abstract contract Versioned is IVersioned, AccessControl {
    /// @notice The role of those who may record: the service's signers.
    bytes32 public constant RECORDER_ROLE = keccak256("RECORDER_ROLE");

    /// @dev How far an item's version may lie above the stored one, or above zero.
    uint64 internal constant MAX_VERSION_STEP = 1 << 20;

    /// @param owner may grant and revoke roles
    /// @param recorders may record
    constructor(address owner, address[] memory recorders) {
        _grantRole(DEFAULT_ADMIN_ROLE, owner);
        for (uint256 i = 0; i < recorders.length; ++i) {
            _grantRole(RECORDER_ROLE, recorders[i]);
        }
    }

    /// @dev Whether the item is to be applied; if not, says why.
    function _admit(bytes32 key, uint64 version, uint64 current, Reason fault) internal returns (bool) {
        if (fault == Reason.None && version > current && version - current > MAX_VERSION_STEP) {
            fault = Reason.VersionTooFar;
        }
        return _admitAnyStep(key, version, current, fault);
    }

    /// @dev The same for versions that may grow by any number.
    function _admitAnyStep(bytes32 key, uint64 version, uint64 current, Reason fault) internal returns (bool) {
        if (fault != Reason.None) {
            emit Rejected(key, version, fault);
            return false;
        }
        if (version <= current) {
            emit Stale(key, version, current);
            return false;
        }
        return true;
    }
}
