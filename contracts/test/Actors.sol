// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {IVersioned} from "../src/IVersioned.sol";
import {Vm, vm} from "./Vm.sol";

/// @title Who acts in the tests, and how they read what a contract said
abstract contract Actors {
    address internal constant OWNER = address(0xB055);
    address internal constant STRANGER = address(0x57A96E);
    address internal constant ALICE = address(0xA11CE);
    address internal constant BOB = address(0xB0B);
    /// @dev How far a version may lie above the stored one, or above zero.
    uint64 internal constant STEP = 1 << 20;

    /// @dev The test itself records.
    function _recorders() internal view returns (address[] memory recorders) {
        recorders = new address[](1);
        recorders[0] = address(this);
    }

    /// @dev Whether a version lies too far above the stored one.
    function _isTooFar(uint64 version, uint64 stored) internal pure returns (bool) {
        return uint256(version) > uint256(stored) + STEP;
    }

    function _expectMissingRole(address account, bytes32 role) internal {
        vm.expectRevert(abi.encodeWithSelector(IAccessControl.AccessControlUnauthorizedAccount.selector, account, role));
    }

    function _expectRejected(address target, bytes32 key, uint64 version, IVersioned.Reason reason) internal {
        vm.expectEmit(target);
        emit IVersioned.Rejected(key, version, reason);
    }

    function _expectStale(address target, bytes32 key, uint64 version, uint64 current) internal {
        vm.expectEmit(target);
        emit IVersioned.Stale(key, version, current);
    }

    /// @dev How many of the logs are of the event.
    function _count(Vm.Log[] memory logs, bytes32 topic) internal pure returns (uint256 count) {
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] == topic) ++count;
        }
    }
}
