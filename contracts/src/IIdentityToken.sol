// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC5192} from "./IERC5192.sol";
import {IVersioned} from "./IVersioned.sol";

/// @title The identity tokens: one for each verified case
/// @notice An ERC-721 token, bound to its holder (ERC-5192), that says: the service has verified who this is. Nothing
/// on it is personal: its id is a random number, and the commitment is a keyed hash that only the service can open. The
/// holder can neither move it nor let anyone else do so; the service can revoke it, which burns it, and can issue it
/// anew, also to another holder, with a greater version.
/// @dev The key of {Stale} and {Rejected} is the token id.
interface IIdentityToken is IVersioned, IERC5192 {
    /// @notice One version of one token. Of a revoked one only `tokenId` and `version` count.
    /// @param tokenId a random number of at most 128 bits, not zero
    /// @param version counts from 1
    /// @param revoked whether the token is gone
    /// @param holder whose token it is
    /// @param commitment the keyed hash of the name
    struct Item {
        uint256 tokenId;
        uint64 version;
        bool revoked;
        address holder;
        bytes32 commitment;
    }

    /// @notice What is stored of a token: all zero if it was never seen, only version and flag if it is revoked.
    struct Identity {
        uint64 version;
        bool revoked;
        address holder;
        bytes32 commitment;
    }

    /// @notice A token was issued, or its holder or commitment recorded anew.
    event Recorded(uint256 indexed tokenId, uint64 version, address indexed holder, bytes32 commitment);

    /// @notice A token was revoked.
    event Revoked(uint256 indexed tokenId, uint64 version);

    /// @notice The token is bound to its holder: no transfers, no approvals.
    error Soulbound();

    /// @notice Records tokens, each by the rules of {IVersioned}.
    function record(Item[] calldata items) external;

    /// @notice All that is stored of a token; never reverts.
    function identityOf(uint256 tokenId) external view returns (Identity memory);

    /// @notice The same for many tokens, in the order asked.
    function identitiesOf(uint256[] calldata tokenIds) external view returns (Identity[] memory identities);
}
