// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IVersioned} from "./IVersioned.sol";

/// @title Commitments to the requirements of a listing that an applicant meets
/// @notice The service attests four flags for an application, and the chain shows none of them: a record is a commitment
/// under random bytes that belong to one application alone. It names no listing, no applicant and no flag. Whoever was
/// given flags and salt by the applicant proves them to anyone with {isAttested}, from other contracts too. Without the
/// salt a record means nothing, also to the service. An attestation that no longer holds is replaced by a greater
/// version, or cleared; and it ends by itself with the findings that it rests on.
interface IApplicationChecks is IVersioned {
    /// @notice One version of the record of one application.
    /// @param key 32 random bytes
    /// @param version counts from 1
    /// @param commitment {commitmentOf} what is attested; zero: the record is cleared, and the expiry does not count
    /// @param expiryDay the UTC day from whose beginning on nothing is attested any more, in days since 1970
    struct Item {
        bytes32 key;
        uint64 version;
        bytes20 commitment;
        uint32 expiryDay;
    }

    /// @notice What is stored of an application, expired or not: all zero if it was never seen, and all but the version
    /// if it is cleared.
    struct Record {
        uint64 version;
        bytes20 commitment;
        uint32 expiryDay;
    }

    /// @notice Flags were attested, for the first time or anew.
    event Recorded(bytes32 indexed key, uint64 version, bytes20 commitment, uint32 expiryDay);

    /// @notice A record was cleared.
    event Cleared(bytes32 indexed key, uint64 version);

    /// @notice Records commitments, each by the rules of {IVersioned}.
    function record(Item[] calldata items) external;

    /// @notice Whether these flags are attested at the time of the block. Never reverts.
    /// @param flags 1: minimum credit, 2: preferred credit, 4: minimum income, 8: preferred income
    function isAttested(bytes32 key, uint8 flags, uint32 expiryDay, bytes32 salt) external view returns (bool);

    /// @notice The first 20 bytes of keccak256 of the ABI encoding. Every record has a new salt.
    /// @dev Without the version: the service can record a commitment again, as a later version, without opening it.
    function commitmentOf(bytes32 key, uint8 flags, uint32 expiryDay, bytes32 salt) external pure returns (bytes20);

    /// @notice All that is stored of an application; never reverts.
    function recordOf(bytes32 key) external view returns (Record memory);

    /// @notice The same for many applications, in the order asked.
    function recordsOf(bytes32[] calldata keys) external view returns (Record[] memory records);
}
