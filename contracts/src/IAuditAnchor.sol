// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IVersioned} from "./IVersioned.sol";

/// @title The heads of append-only logs
/// @notice Each entry of a log is chained to the one before by its hash, so the last hash, the head, stands for the
/// whole log. Once the head at some length is anchored here, no entry up to that length can be altered or taken out
/// unnoticed.
interface IAuditAnchor is IVersioned {
    /// @notice The head of a log at one length.
    /// @param log the log's reference
    /// @param version the number of entries
    /// @param head the hash that the last of them closes with
    struct Item {
        bytes32 log;
        uint64 version;
        bytes32 head;
    }

    /// @notice The longest head that was anchored: all zero if none was.
    struct Anchor {
        uint64 version;
        bytes32 head;
    }

    /// @notice A head was anchored.
    event Recorded(bytes32 indexed log, uint64 version, bytes32 head);

    /// @notice Anchors heads, each by the rules of {IVersioned}; the version may grow by any number. There is no
    /// tombstone.
    function record(Item[] calldata items) external;

    /// @notice The anchor of a log; never reverts.
    function anchorOf(bytes32 log) external view returns (Anchor memory);

    /// @notice The same for many logs, in the order asked.
    function anchorsOf(bytes32[] calldata logs) external view returns (Anchor[] memory anchors);
}
