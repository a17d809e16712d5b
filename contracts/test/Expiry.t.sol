// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ApplicationChecks} from "../src/ApplicationChecks.sol";
import {IApplicationChecks} from "../src/IApplicationChecks.sol";
import {Actors} from "./Actors.sol";
import {vm} from "./Vm.sol";

/// @title Checks that are recorded, cleared and renewed while time passes
contract PassingTime is Actors {
    uint64 public constant KEYS = 4;
    bytes32 public constant SALT = "a salt";

    ApplicationChecks public checks = new ApplicationChecks(OWNER, _recorders());
    uint64 public time = 1;
    mapping(uint64 key => IApplicationChecks.Item) private _latest;

    /// @notice Records the next version of a key that expires within the next 255 days, or cleared.
    function attest(uint64 key, uint8 lasts, bool cleared) external {
        key %= KEYS;
        IApplicationChecks.Item[] memory items = new IApplicationChecks.Item[](1);
        uint64 version = _latest[key].version + 1;
        bytes32 name = bytes32(uint256(key) + 1);
        uint32 day = uint32(time / 1 days) + 1 + lasts;
        items[0] = IApplicationChecks.Item(name, version, checks.commitmentOf(name, 15, day, SALT), day);
        if (cleared) items[0].commitment = 0;
        checks.record(items);
        _latest[key] = items[0];
    }

    function wait(uint24 duration) external {
        time += duration;
        vm.warp(time);
    }

    function latest(uint64 key) external view returns (IApplicationChecks.Item memory) {
        return _latest[key];
    }
}

contract ExpiryTest is Actors {
    PassingTime private world;

    function setUp() public {
        world = new PassingTime();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(world);
    }

    /// @dev What is attested follows from the latest version and from the time, and from nothing else.
    function invariant_nothing_is_attested_from_its_expiry_on() public {
        vm.warp(world.time());
        for (uint64 key = 0; key < world.KEYS(); ++key) {
            IApplicationChecks.Item memory item = world.latest(key);
            bool attested = item.commitment != 0 && world.time() < item.expiryDay * 1 days;
            bytes32 name = bytes32(uint256(key) + 1);
            vm.assertTrue(world.checks().isAttested(name, 15, item.expiryDay, world.SALT()) == attested);
        }
    }
}
