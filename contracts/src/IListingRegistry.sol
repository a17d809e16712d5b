// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IVersioned} from "./IVersioned.sol";

/// @title The listings, and what each asks of an applicant
/// @notice Anyone can read a listing's requirements here, and whoever was given a listing with its salt can prove by
/// the digest that it was not altered since. A listing that is deleted is retired; created again under the same id it
/// is simply the next version of the same key.
interface IListingRegistry is IVersioned {
    /// @notice One version of one listing. Of a retired one only `key` and `version` count.
    /// @param key the listing's reference
    /// @param version counts from 1
    /// @param retired whether the listing is gone
    /// @param minCredit the least credit score, in points, at most 1000
    /// @param prefCredit the preferred credit score, not below the least
    /// @param minIncome the least income, in cents
    /// @param prefIncome the preferred income, not below the least
    /// @param digest keccak256 of a random salt and the listing's public content
    struct Item {
        bytes32 key;
        uint64 version;
        bool retired;
        uint16 minCredit;
        uint16 prefCredit;
        uint64 minIncome;
        uint64 prefIncome;
        bytes32 digest;
    }

    /// @notice What is stored of a listing: all zero if it was never seen, only version and flag if it is retired.
    struct Record {
        uint64 version;
        bool retired;
        uint16 minCredit;
        uint16 prefCredit;
        uint64 minIncome;
        uint64 prefIncome;
        bytes32 digest;
    }

    /// @notice A listing was recorded, for the first time or anew.
    event Recorded(bytes32 indexed key, uint64 version, bytes32 digest);

    /// @notice A listing was retired.
    event Retired(bytes32 indexed key, uint64 version);

    /// @notice There is no such listing, or it is retired.
    error UnknownListing(bytes32 key);

    /// @notice Records listings, each by the rules of {IVersioned}.
    function record(Item[] calldata items) external;

    /// @notice What a listing asks of an applicant; reverts with {UnknownListing} unless it is there.
    function requirementsOf(bytes32 key)
        external
        view
        returns (uint16 minCredit, uint16 prefCredit, uint64 minIncome, uint64 prefIncome);

    /// @notice All that is stored of a listing; never reverts.
    function recordOf(bytes32 key) external view returns (Record memory);

    /// @notice The same for many listings, in the order asked.
    function recordsOf(bytes32[] calldata keys) external view returns (Record[] memory records);
}
