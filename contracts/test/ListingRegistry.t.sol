// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IListingRegistry} from "../src/IListingRegistry.sol";
import {IVersioned} from "../src/IVersioned.sol";
import {ListingRegistry} from "../src/ListingRegistry.sol";
import {Actors} from "./Actors.sol";
import {Vm, vm} from "./Vm.sol";

contract ListingRegistryTest is Actors {
    bytes32 private constant KEY = "a listing";
    bytes32 private constant OTHER = "another listing";
    bytes32 private constant DIGEST = "a digest";

    ListingRegistry private registry;

    function setUp() public {
        registry = new ListingRegistry(OWNER, _recorders());
    }

    function test_a_listing_is_stored_as_given() public {
        vm.expectEmit(address(registry));
        emit IListingRegistry.Recorded(KEY, 1, DIGEST);
        _record(_item(1));
        _assertStored(KEY, IListingRegistry.Record(1, false, 620, 700, 3_500_00, 5_000_00, DIGEST));
        (uint16 minCredit, uint16 prefCredit, uint64 minIncome, uint64 prefIncome) = registry.requirementsOf(KEY);
        vm.assertEq(minCredit, 620);
        vm.assertEq(prefCredit, 700);
        vm.assertEq(minIncome, 3_500_00);
        vm.assertEq(prefIncome, 5_000_00);
    }

    function test_requirements_may_be_nothing_and_may_be_the_greatest() public {
        _record(IListingRegistry.Item(KEY, 1, false, 0, 0, 0, 0, DIGEST));
        _assertStored(KEY, IListingRegistry.Record(1, false, 0, 0, 0, 0, DIGEST));
        uint64 most = type(uint64).max;
        _record(IListingRegistry.Item(KEY, 2, false, 1000, 1000, most, most, DIGEST));
        _assertStored(KEY, IListingRegistry.Record(2, false, 1000, 1000, most, most, DIGEST));
    }

    function test_an_unknown_listing_has_no_requirements() public {
        vm.expectRevert(abi.encodeWithSelector(IListingRegistry.UnknownListing.selector, KEY));
        registry.requirementsOf(KEY);
    }

    function test_a_retired_listing_has_no_requirements() public {
        _record(_item(1));
        vm.expectEmit(address(registry));
        emit IListingRegistry.Retired(KEY, 2);
        _record(_tombstone(2));
        vm.expectRevert(abi.encodeWithSelector(IListingRegistry.UnknownListing.selector, KEY));
        registry.requirementsOf(KEY);
    }

    function test_a_tombstone_keeps_only_its_version() public {
        _record(_item(1));
        IListingRegistry.Item memory item = _item(2);
        item.retired = true;
        _record(item);
        _assertStored(KEY, IListingRegistry.Record(2, true, 0, 0, 0, 0, 0));
    }

    function test_a_tombstone_may_carry_anything_else() public {
        _record(IListingRegistry.Item(KEY, 1, true, 9999, 1, 2, 1, 0));
        _assertStored(KEY, IListingRegistry.Record(1, true, 0, 0, 0, 0, 0));
    }

    function test_an_unknown_listing_can_be_retired_and_then_does_not_come_late() public {
        _record(_tombstone(2));
        _expectStale(address(registry), KEY, 1, 2);
        _record(_item(1));
        _assertStored(KEY, IListingRegistry.Record(2, true, 0, 0, 0, 0, 0));
    }

    function test_a_greater_version_revives_a_retired_listing() public {
        _record(_tombstone(2));
        _record(_item(3));
        _assertStored(KEY, IListingRegistry.Record(3, false, 620, 700, 3_500_00, 5_000_00, DIGEST));
    }

    function test_an_equal_or_smaller_version_is_stale() public {
        _record(_item(5));
        _expectStale(address(registry), KEY, 5, 5);
        _record(_tombstone(5));
        _expectStale(address(registry), KEY, 4, 5);
        _record(_tombstone(4));
        _assertStored(KEY, IListingRegistry.Record(5, false, 620, 700, 3_500_00, 5_000_00, DIGEST));
    }

    function test_a_listing_needs_a_key() public {
        IListingRegistry.Item memory item = _item(1);
        item.key = 0;
        _assertRejected(item, IVersioned.Reason.KeyMissing);
        item.retired = true;
        _assertRejected(item, IVersioned.Reason.KeyMissing);
    }

    function test_a_listing_needs_a_version() public {
        _assertRejected(_item(0), IVersioned.Reason.VersionMissing);
        _assertRejected(_tombstone(0), IVersioned.Reason.VersionMissing);
    }

    function test_a_credit_score_is_at_most_1000() public {
        IListingRegistry.Item memory item = _item(1);
        item.prefCredit = 1001;
        _assertRejected(item, IVersioned.Reason.CreditTooHigh);
        item.minCredit = 1001;
        _assertRejected(item, IVersioned.Reason.CreditTooHigh);
        item.prefCredit = 700;
        _assertRejected(item, IVersioned.Reason.CreditTooHigh);
    }

    function test_what_is_preferred_is_not_below_the_minimum() public {
        IListingRegistry.Item memory item = _item(1);
        item.prefCredit = item.minCredit - 1;
        _assertRejected(item, IVersioned.Reason.PreferredBelowMinimum);
        item = _item(1);
        item.prefIncome = item.minIncome - 1;
        _assertRejected(item, IVersioned.Reason.PreferredBelowMinimum);
    }

    function test_a_listing_needs_a_digest() public {
        IListingRegistry.Item memory item = _item(1);
        item.digest = 0;
        _assertRejected(item, IVersioned.Reason.DigestMissing);
    }

    function test_bad_and_stale_items_do_not_stop_their_neighbours() public {
        IListingRegistry.Item[] memory items = new IListingRegistry.Item[](4);
        items[0] = _item(0);
        items[1] = _item(2);
        items[2] = _item(1);
        items[3] = _item(1);
        items[3].key = OTHER;
        _expectRejected(address(registry), KEY, 0, IVersioned.Reason.VersionMissing);
        vm.expectEmit(address(registry));
        emit IListingRegistry.Recorded(KEY, 2, DIGEST);
        _expectStale(address(registry), KEY, 1, 2);
        vm.expectEmit(address(registry));
        emit IListingRegistry.Recorded(OTHER, 1, DIGEST);
        registry.record(items);
    }

    function test_many_records_are_read_in_the_order_asked() public {
        _record(_item(7));
        bytes32[] memory keys = new bytes32[](3);
        (keys[0], keys[1], keys[2]) = (OTHER, KEY, KEY);
        IListingRegistry.Record[] memory records = registry.recordsOf(keys);
        vm.assertEq(records.length, 3);
        vm.assertEq(records[0].version, 0);
        vm.assertEq(records[1].version, 7);
        vm.assertEq(abi.encode(records[2]), abi.encode(registry.recordOf(KEY)));
        vm.assertEq(registry.recordsOf(new bytes32[](0)).length, 0);
    }

    function testFuzz_any_item_gets_exactly_one_verdict(IListingRegistry.Item[12] memory any) public {
        IListingRegistry.Item[] memory items = new IListingRegistry.Item[](any.length);
        for (uint256 i = 0; i < any.length; ++i) {
            items[i] = any[i];
        }
        Vm.Log[] memory logs = _logsOf(items);
        vm.assertEq(logs.length, items.length);
        for (uint256 i = 0; i < items.length; ++i) {
            vm.assertEq(logs[i].topics[1], items[i].key);
        }
    }

    function testFuzz_what_is_stored_rejects_only_what_is_too_far(
        IListingRegistry.Item memory item,
        bool mended,
        bool retired,
        uint64 stored
    ) public {
        stored %= STEP + 1;
        if (mended) _mend(item);
        uint64 version = item.version;
        // No version but zero is bad by itself.
        item.version = version == 0 ? 0 : 1;
        bool bad = _isRejected(item);
        item.version = version;
        registry = new ListingRegistry(OWNER, _recorders());
        IListingRegistry.Item memory before = retired ? _tombstone(stored) : _item(stored);
        before.key = item.key;
        _record(before);
        vm.assertTrue(_isRejected(item) == (bad || _isTooFar(item.version, stored)));
    }

    function testFuzz_a_bad_item_changes_nothing(IListingRegistry.Item memory item, uint8 rule, bool known) public {
        if (known) {
            IListingRegistry.Item memory before = _item(1);
            before.key = item.key;
            _record(before);
        }
        bytes memory stored = abi.encode(registry.recordOf(item.key));
        _spoil(item, rule);
        if (item.key == 0) stored = abi.encode(registry.recordOf(0));
        vm.assertTrue(_isRejected(item));
        vm.assertEq(abi.encode(registry.recordOf(item.key)), stored);
    }

    function testFuzz_a_good_item_is_stored_as_given(IListingRegistry.Item memory item) public {
        _mend(item);
        item.retired = false;
        _record(item);
        _assertStored(
            item.key,
            IListingRegistry.Record(
                item.version, false, item.minCredit, item.prefCredit, item.minIncome, item.prefIncome, item.digest
            )
        );
    }

    function _item(uint64 version) private pure returns (IListingRegistry.Item memory) {
        return IListingRegistry.Item(KEY, version, false, 620, 700, 3_500_00, 5_000_00, DIGEST);
    }

    function _tombstone(uint64 version) private pure returns (IListingRegistry.Item memory) {
        return IListingRegistry.Item(KEY, version, true, 0, 0, 0, 0, 0);
    }

    /// @dev Breaks one of the rules.
    function _spoil(IListingRegistry.Item memory item, uint8 rule) private pure {
        rule %= 7;
        if (rule == 0) item.key = 0;
        if (rule == 1) item.version = 0;
        if (rule > 1) item.retired = false;
        if (rule == 2) item.minCredit = uint16(1001 + uint256(item.minCredit) % 64_535);
        if (rule == 3) item.prefCredit = uint16(1001 + uint256(item.prefCredit) % 64_535);
        if (rule == 4) (item.minCredit, item.prefCredit) = (item.minCredit | 1, 0);
        if (rule == 5) (item.minIncome, item.prefIncome) = (item.minIncome | 1, 0);
        if (rule == 6) item.digest = 0;
    }

    /// @dev Makes a good item of any.
    function _mend(IListingRegistry.Item memory item) private pure {
        if (item.key == 0) item.key = KEY;
        item.version = item.version % STEP + 1;
        if (item.digest == 0) item.digest = DIGEST;
        item.minCredit %= 1001;
        item.prefCredit %= 1001;
        if (item.prefCredit < item.minCredit) {
            (item.minCredit, item.prefCredit) = (item.prefCredit, item.minCredit);
        }
        if (item.prefIncome < item.minIncome) {
            (item.minIncome, item.prefIncome) = (item.prefIncome, item.minIncome);
        }
    }

    function _record(IListingRegistry.Item memory item) private {
        registry.record(_only(item));
    }

    function _only(IListingRegistry.Item memory item) private pure returns (IListingRegistry.Item[] memory items) {
        items = new IListingRegistry.Item[](1);
        items[0] = item;
    }

    function _logsOf(IListingRegistry.Item[] memory items) private returns (Vm.Log[] memory) {
        vm.recordLogs();
        registry.record(items);
        return vm.getRecordedLogs();
    }

    function _isRejected(IListingRegistry.Item memory item) private returns (bool) {
        return _logsOf(_only(item))[0].topics[0] == IVersioned.Rejected.selector;
    }

    function _assertRejected(IListingRegistry.Item memory item, IVersioned.Reason reason) private {
        _expectRejected(address(registry), item.key, item.version, reason);
        _record(item);
        _assertStored(item.key, IListingRegistry.Record(0, false, 0, 0, 0, 0, 0));
    }

    function _assertStored(bytes32 key, IListingRegistry.Record memory wanted) private view {
        vm.assertEq(abi.encode(registry.recordOf(key)), abi.encode(wanted));
    }
}
