// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ApplicationChecks} from "../src/ApplicationChecks.sol";
import {AuditAnchor} from "../src/AuditAnchor.sol";
import {IApplicationChecks} from "../src/IApplicationChecks.sol";
import {IAuditAnchor} from "../src/IAuditAnchor.sol";
import {IIdentityToken} from "../src/IIdentityToken.sol";
import {IListingRegistry} from "../src/IListingRegistry.sol";
import {IVersioned} from "../src/IVersioned.sol";
import {IdentityToken} from "../src/IdentityToken.sol";
import {ListingRegistry} from "../src/ListingRegistry.sol";
import {Actors} from "./Actors.sol";
import {vm} from "./Vm.sol";

/// @title One record of each kind, whose version the holder of a stolen key raises as far as it can
contract Thief is Actors {
    ListingRegistry public registry = new ListingRegistry(OWNER, _recorders());
    IdentityToken public token = new IdentityToken(OWNER, _recorders());
    ApplicationChecks public checks = new ApplicationChecks(OWNER, _recorders());
    AuditAnchor public anchor = new AuditAnchor(OWNER, _recorders());
    /// @notice How many items were recorded after the first.
    uint64 public items;

    constructor() {
        record(1);
        items = 0;
    }

    function record(uint64 version) public {
        IListingRegistry.Item[] memory listing = new IListingRegistry.Item[](1);
        listing[0] = IListingRegistry.Item("key", version, false, 0, 0, 0, 0, "digest");
        registry.record(listing);
        IIdentityToken.Item[] memory identity = new IIdentityToken.Item[](1);
        identity[0] = IIdentityToken.Item(1, version, false, ALICE, 0);
        token.record(identity);
        IApplicationChecks.Item[] memory check = new IApplicationChecks.Item[](1);
        check[0] = IApplicationChecks.Item("key", version, "commitment", 1);
        checks.record(check);
        IAuditAnchor.Item[] memory head = new IAuditAnchor.Item[](1);
        head[0] = IAuditAnchor.Item("key", version, "head");
        anchor.record(head);
        ++items;
    }

    /// @notice The most that one item can do.
    function recordFarthest(uint64 nearly) external {
        record(versionOfListing() + STEP - nearly % 3);
    }

    function versionOfListing() public view returns (uint64) {
        return registry.recordOf("key").version;
    }

    function versionOfToken() public view returns (uint64) {
        return token.identityOf(1).version;
    }

    function versionOfChecks() public view returns (uint64) {
        return checks.recordOf("key").version;
    }

    function versionOfAnchor() public view returns (uint64) {
        return anchor.anchorOf("key").version;
    }
}

/// @title How far above the stored version the next one may be
contract VersionStepTest is Actors {
    Thief private thief;

    function setUp() public {
        thief = new Thief();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(thief);
    }

    function invariant_each_item_raises_a_version_by_at_most_the_step() public view {
        uint256 most = 1 + uint256(thief.items()) * STEP;
        vm.assertLe(thief.versionOfListing(), most);
        vm.assertLe(thief.versionOfToken(), most);
        vm.assertLe(thief.versionOfChecks(), most);
    }

    function test_a_version_may_grow_by_the_step_and_no_further() public {
        thief.record(1 + STEP);
        _assertVersions(1 + STEP);
        uint64 far = 2 + 2 * STEP;
        address[3] memory bounded = [address(thief.registry()), address(thief.token()), address(thief.checks())];
        bytes32[3] memory keys = [bytes32("key"), bytes32(uint256(1)), "key"];
        for (uint256 i = 0; i < bounded.length; ++i) {
            _expectRejected(bounded[i], keys[i], far, IVersioned.Reason.VersionTooFar);
        }
        thief.record(far);
        _assertVersions(1 + STEP);
    }

    function test_a_log_may_grow_by_any_number() public {
        thief.record(type(uint64).max);
        vm.assertEq(thief.versionOfAnchor(), type(uint64).max);
        _assertVersions(1);
    }

    function test_the_first_version_is_bounded_too() public {
        _assertStep(0, STEP);
        _assertStep(0, STEP + 1);
    }

    function testFuzz_the_next_version_is_greater_by_at_most_the_step(uint64 first, uint64 version) public {
        _assertStep(first % (STEP + 1), version);
    }

    function testFuzz_the_step_is_exact(uint64 first, uint64 near) public {
        first %= STEP + 1;
        _assertStep(first, first + STEP - 2 + near % 5);
    }

    /// @dev With new contracts; without a first version, the key was never seen.
    function _assertStep(uint64 first, uint64 version) private {
        AuditAnchor anchor = new AuditAnchor(OWNER, _recorders());
        ListingRegistry registry = new ListingRegistry(OWNER, _recorders());
        IAuditAnchor.Item[] memory heads = new IAuditAnchor.Item[](1);
        IListingRegistry.Item[] memory listings = new IListingRegistry.Item[](1);
        heads[0] = IAuditAnchor.Item("key", first, "head");
        listings[0] = IListingRegistry.Item("key", first, false, 0, 0, 0, 0, "digest");
        anchor.record(heads);
        registry.record(listings);
        vm.assertEq(registry.recordOf("key").version, first);
        heads[0].version = version;
        listings[0].version = version;
        anchor.record(heads);
        registry.record(listings);
        uint64 greater = version > first ? version : first;
        vm.assertEq(anchor.anchorOf("key").version, greater);
        vm.assertEq(registry.recordOf("key").version, _isTooFar(version, first) ? first : greater);
    }

    function _assertVersions(uint64 version) private view {
        vm.assertEq(thief.versionOfListing(), version);
        vm.assertEq(thief.versionOfToken(), version);
        vm.assertEq(thief.versionOfChecks(), version);
    }
}
