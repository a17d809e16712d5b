// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IAuditAnchor} from "./IAuditAnchor.sol";
import {Versioned} from "./Versioned.sol";

/// @title AuditAnchor
/// @notice See {IAuditAnchor}.
contract AuditAnchor is IAuditAnchor, Versioned {
    mapping(bytes32 log => Anchor) private _anchors;

    constructor(address owner, address[] memory recorders) Versioned(owner, recorders) {}

    /// @inheritdoc IAuditAnchor
    function record(Item[] calldata items) external onlyRole(RECORDER_ROLE) {
        for (uint256 i = 0; i < items.length; ++i) {
            Item memory item = items[i];
            Anchor storage stored = _anchors[item.log];
            if (!_admitAnyStep(item.log, item.version, stored.version, _faultOf(item))) continue;
            stored.version = item.version;
            stored.head = item.head;
            emit Recorded(item.log, item.version, item.head);
        }
    }

    /// @inheritdoc IAuditAnchor
    function anchorOf(bytes32 log) external view returns (Anchor memory) {
        return _anchors[log];
    }

    /// @inheritdoc IAuditAnchor
    function anchorsOf(bytes32[] calldata logs) external view returns (Anchor[] memory anchors) {
        anchors = new Anchor[](logs.length);
        for (uint256 i = 0; i < logs.length; ++i) {
            anchors[i] = _anchors[logs[i]];
        }
    }

    /// @dev Pure, so that the verdict cannot depend on what is stored.
    function _faultOf(Item memory item) private pure returns (Reason) {
        if (item.log == 0) return Reason.KeyMissing;
        if (item.version == 0) return Reason.VersionMissing;
        if (item.head == 0) return Reason.DigestMissing;
        return Reason.None;
    }
}
