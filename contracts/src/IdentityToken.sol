// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {IERC5192} from "./IERC5192.sol";
import {IIdentityToken} from "./IIdentityToken.sol";
import {Versioned} from "./Versioned.sol";

/// @title IdentityToken
/// @notice See {IIdentityToken}.
contract IdentityToken is IIdentityToken, ERC721, Versioned {
    /// @dev The holder is kept by ERC721.
    struct Entry {
        uint64 version;
        bool revoked;
        bytes32 commitment;
    }

    mapping(uint256 tokenId => Entry) private _entries;

    constructor(address owner, address[] memory recorders)
        ERC721("Portico Identity", "PID")
        Versioned(owner, recorders)
    {}

    /// @inheritdoc IIdentityToken
    function record(Item[] calldata items) external onlyRole(RECORDER_ROLE) {
        for (uint256 i = 0; i < items.length; ++i) {
            Item memory item = items[i];
            Entry storage stored = _entries[item.tokenId];
            if (!_admit(bytes32(item.tokenId), item.version, stored.version, _faultOf(item))) continue;
            stored.version = item.version;
            stored.revoked = item.revoked;
            if (item.revoked) {
                stored.commitment = 0;
                _place(item.tokenId, address(0));
                emit Revoked(item.tokenId, item.version);
            } else {
                stored.commitment = item.commitment;
                _place(item.tokenId, item.holder);
                emit Recorded(item.tokenId, item.version, item.holder, item.commitment);
            }
        }
    }

    /// @inheritdoc IIdentityToken
    function identityOf(uint256 tokenId) external view returns (Identity memory) {
        return _identityOf(tokenId);
    }

    /// @inheritdoc IIdentityToken
    function identitiesOf(uint256[] calldata tokenIds) external view returns (Identity[] memory identities) {
        identities = new Identity[](tokenIds.length);
        for (uint256 i = 0; i < tokenIds.length; ++i) {
            identities[i] = _identityOf(tokenIds[i]);
        }
    }

    /// @inheritdoc IERC5192
    function locked(uint256 tokenId) external view returns (bool) {
        _requireOwned(tokenId);
        return true;
    }

    /// @notice Always reverts, and so do both forms of `safeTransferFrom`, which come through here.
    function transferFrom(address, address, uint256) public pure override {
        revert Soulbound();
    }

    /// @notice Always reverts.
    function approve(address, uint256) public pure override {
        revert Soulbound();
    }

    /// @notice Always reverts.
    function setApprovalForAll(address, bool) public pure override {
        revert Soulbound();
    }

    /// @notice ERC-165, ERC-721 with its metadata, ERC-5192 and access control.
    function supportsInterface(bytes4 interfaceId) public view override(ERC721, AccessControl) returns (bool) {
        return interfaceId == type(IERC5192).interfaceId || super.supportsInterface(interfaceId);
    }

    /// @dev Mints, moves or burns, whichever brings the token to `holder` (zero: nobody). `_update` without an
    /// authority asks nothing and calls nobody, so it cannot revert; `_mint` and `_burn` could.
    function _place(uint256 tokenId, address holder) private {
        address previous = _ownerOf(tokenId);
        if (previous == holder) return;
        _update(holder, tokenId, address(0));
        if (previous == address(0)) emit Locked(tokenId);
    }

    function _identityOf(uint256 tokenId) private view returns (Identity memory) {
        Entry storage stored = _entries[tokenId];
        return Identity(stored.version, stored.revoked, _ownerOf(tokenId), stored.commitment);
    }

    /// @dev Pure, so that the verdict cannot depend on what is stored.
    function _faultOf(Item memory item) private pure returns (Reason) {
        if (item.tokenId == 0) return Reason.KeyMissing;
        if (item.version == 0) return Reason.VersionMissing;
        if (item.tokenId > type(uint128).max) return Reason.KeyTooLarge;
        if (!item.revoked && item.holder == address(0)) return Reason.HolderMissing;
        return Reason.None;
    }
}
