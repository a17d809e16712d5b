// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IVersioned} from "./IVersioned.sol";

/// @title Which of a listing's requirements an applicant meets
/// @notice The service attests four flags for an applicant of a listing, and no score, income or name. Both references
/// are meaningless to others: the applicant's is random and known to the service alone. An attestation that no longer
/// holds is replaced by a greater version, or cleared; and it ends by itself with the findings that it rests on.
/// @dev The key of {Stale} and {Rejected} is {keyOf}.
interface IApplicationChecks is IVersioned {
    /// @notice One version of the checks of one application. Of a cleared one flags and expiry do not count.
    /// @param listing the listing's reference
    /// @param applicant the applicant's reference
    /// @param version counts from 1
    /// @param cleared whether nothing is attested any more
    /// @param flags 1: minimum credit, 2: preferred credit, 4: minimum income, 8: preferred income; a preferred one
    /// comes with its minimum
    /// @param expiresAt from when on nothing is attested any more, in seconds since 1970
    struct Item {
        bytes32 listing;
        bytes32 applicant;
        uint64 version;
        bool cleared;
        uint8 flags;
        uint64 expiresAt;
    }

    /// @notice What is stored of an application, expired or not: all zero if it was never seen.
    struct Record {
        uint64 version;
        bool cleared;
        uint8 flags;
        uint64 expiresAt;
    }

    /// @notice Which application is asked for.
    struct Pair {
        bytes32 listing;
        bytes32 applicant;
    }

    /// @notice The checks of an application were attested, for the first time or anew.
    event Recorded(bytes32 indexed listing, bytes32 indexed applicant, uint64 version, uint8 flags, uint64 expiresAt);

    /// @notice The checks of an application were cleared.
    event Cleared(bytes32 indexed listing, bytes32 indexed applicant, uint64 version);

    /// @notice Records checks, each by the rules of {IVersioned}.
    function record(Item[] calldata items) external;

    /// @notice What is attested of an application at the time of the block; if nothing is, or what was has expired, all
    /// are false. Never reverts.
    function checksOf(bytes32 listing, bytes32 applicant)
        external
        view
        returns (bool attested, bool passMinCredit, bool passPrefCredit, bool passMinIncome, bool passPrefIncome);

    /// @notice All that is stored of an application; never reverts.
    function recordOf(bytes32 listing, bytes32 applicant) external view returns (Record memory);

    /// @notice The same for many applications, in the order asked.
    function recordsOf(Pair[] calldata pairs) external view returns (Record[] memory records);

    /// @notice The key of an application: keccak256 of both references.
    function keyOf(bytes32 listing, bytes32 applicant) external pure returns (bytes32);
}
