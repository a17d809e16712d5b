// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title ERC-5192: Minimal Soulbound NFTs
/// @notice The interface of the standard; its ERC-165 identifier is 0xb45a3c0e.
interface IERC5192 {
    /// @notice A token became bound to its holder.
    event Locked(uint256 tokenId);

    /// @notice A token became free to move. Part of the standard; a token of Portico never is.
    event Unlocked(uint256 tokenId);

    /// @notice Whether a token is bound to its holder; reverts if there is no such token.
    function locked(uint256 tokenId) external view returns (bool);
}
