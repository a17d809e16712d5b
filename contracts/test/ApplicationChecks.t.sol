// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ApplicationChecks} from "../src/ApplicationChecks.sol";
import {IApplicationChecks} from "../src/IApplicationChecks.sol";
import {IVersioned} from "../src/IVersioned.sol";
import {Actors} from "./Actors.sol";
import {Vm, vm} from "./Vm.sol";

contract ApplicationChecksTest is Actors {
    bytes32 private constant KEY = "an application";
    bytes32 private constant SALT = "a salt";
    uint32 private constant DAY = 20_800;

    ApplicationChecks private checks;

    function setUp() public {
        checks = new ApplicationChecks(OWNER, _recorders());
    }

    function test_flags_are_attested_by_their_salt() public {
        IApplicationChecks.Item memory item = _item(1, 7);
        vm.expectEmit(address(checks));
        emit IApplicationChecks.Recorded(KEY, 1, item.commitment, DAY);
        _record(item);
        _assertStored(IApplicationChecks.Record(1, item.commitment, DAY));
        vm.assertTrue(checks.isAttested(KEY, 7, DAY, SALT));
    }

    function testFuzz_nothing_but_what_was_recorded_is_attested(
        bytes32 key,
        uint8 flags,
        uint32 day,
        bytes32 salt,
        uint8 change
    ) public {
        _record(_item(1, 7));
        if (change & 1 == 0) key = KEY;
        if (change & 2 == 0) flags = 7;
        if (change & 4 == 0) day = DAY;
        if (change & 8 == 0) salt = SALT;
        bool same = key == KEY && flags == 7 && day == DAY && salt == SALT;
        vm.assertTrue(checks.isAttested(key, flags, day, salt) == same);
    }

    function test_a_later_record_replaces_flags_and_salt() public {
        _record(_item(1, 7));
        _record(IApplicationChecks.Item(KEY, 2, checks.commitmentOf(KEY, 5, DAY, "another salt"), DAY));
        vm.assertTrue(!checks.isAttested(KEY, 7, DAY, SALT));
        vm.assertTrue(checks.isAttested(KEY, 5, DAY, "another salt"));
    }

    function test_meeting_nothing_is_attested_too() public {
        _record(_item(1, 0));
        vm.assertTrue(checks.isAttested(KEY, 0, DAY, SALT));
    }

    function test_of_an_unknown_application_nothing_is_attested() public view {
        _assertStored(IApplicationChecks.Record(0, 0, 0));
        vm.assertTrue(!checks.isAttested(KEY, 0, 0, 0));
    }

    function test_a_cleared_record_attests_nothing() public {
        _record(_item(1, 15));
        vm.expectEmit(address(checks));
        emit IApplicationChecks.Cleared(KEY, 2);
        _record(_tombstone(2));
        _assertStored(IApplicationChecks.Record(2, 0, 0));
        vm.assertTrue(!checks.isAttested(KEY, 15, DAY, SALT));
    }

    function test_a_tombstone_may_carry_an_expiry() public {
        _record(IApplicationChecks.Item(KEY, 1, 0, DAY));
        _assertStored(IApplicationChecks.Record(1, 0, 0));
    }

    function test_an_unknown_application_can_be_cleared_and_then_does_not_come_late() public {
        _record(_tombstone(2));
        _expectStale(address(checks), KEY, 1, 2);
        _record(_item(1, 15));
        _assertStored(IApplicationChecks.Record(2, 0, 0));
    }

    function test_a_greater_version_revives_a_cleared_record() public {
        _record(_tombstone(2));
        _record(_item(3, 5));
        vm.assertTrue(checks.isAttested(KEY, 5, DAY, SALT));
    }

    function test_an_equal_or_smaller_version_is_stale() public {
        IApplicationChecks.Item memory item = _item(5, 15);
        _record(item);
        _expectStale(address(checks), KEY, 5, 5);
        _record(_item(5, 0));
        _expectStale(address(checks), KEY, 4, 5);
        _record(_tombstone(4));
        _assertStored(IApplicationChecks.Record(5, item.commitment, DAY));
    }

    function test_a_record_needs_a_key_a_version_and_an_expiry() public {
        bytes20 some = "commitment";
        _assertRejected(IApplicationChecks.Item(0, 1, some, DAY), IVersioned.Reason.KeyMissing);
        _assertRejected(IApplicationChecks.Item(0, 1, 0, 0), IVersioned.Reason.KeyMissing);
        _assertRejected(IApplicationChecks.Item(KEY, 0, some, DAY), IVersioned.Reason.VersionMissing);
        _assertRejected(_tombstone(0), IVersioned.Reason.VersionMissing);
        _assertRejected(IApplicationChecks.Item(KEY, 1, some, 0), IVersioned.Reason.ExpiryMissing);
    }

    function test_from_its_expiry_day_on_nothing_is_attested() public {
        _record(_item(1, 15));
        vm.warp(uint256(DAY) * 1 days - 1);
        vm.assertTrue(checks.isAttested(KEY, 15, DAY, SALT));
        vm.warp(uint256(DAY) * 1 days);
        vm.assertTrue(!checks.isAttested(KEY, 15, DAY, SALT));
        vm.warp(type(uint64).max);
        vm.assertTrue(!checks.isAttested(KEY, 15, DAY, SALT));
    }

    function testFuzz_flags_are_attested_before_their_expiry_only(uint32 day, uint64 time) public {
        _record(IApplicationChecks.Item(KEY, 1, checks.commitmentOf(KEY, 15, day, SALT), day));
        vm.warp(time);
        vm.assertTrue(checks.isAttested(KEY, 15, day, SALT) == (time < uint256(day) * 1 days));
    }

    function test_bad_and_stale_items_do_not_stop_their_neighbours() public {
        IApplicationChecks.Item[] memory items = new IApplicationChecks.Item[](4);
        items[0] = IApplicationChecks.Item(KEY, 1, "commitment", 0);
        items[1] = _item(2, 3);
        items[2] = _item(1, 1);
        items[3] = IApplicationChecks.Item("another application", 1, "commitment", DAY);
        _expectRejected(address(checks), KEY, 1, IVersioned.Reason.ExpiryMissing);
        vm.expectEmit(address(checks));
        emit IApplicationChecks.Recorded(KEY, 2, items[1].commitment, DAY);
        _expectStale(address(checks), KEY, 1, 2);
        vm.expectEmit(address(checks));
        emit IApplicationChecks.Recorded("another application", 1, "commitment", DAY);
        checks.record(items);
    }

    function test_many_records_are_read_in_the_order_asked() public {
        _record(_item(7, 15));
        bytes32[] memory keys = new bytes32[](3);
        (keys[0], keys[1], keys[2]) = ("another application", KEY, KEY);
        IApplicationChecks.Record[] memory records = checks.recordsOf(keys);
        vm.assertEq(records.length, 3);
        vm.assertEq(records[0].version, 0);
        vm.assertEq(records[1].version, 7);
        vm.assertEq(abi.encode(records[2]), abi.encode(checks.recordOf(KEY)));
        vm.assertEq(checks.recordsOf(new bytes32[](0)).length, 0);
    }

    function testFuzz_the_commitment_is_the_start_of_a_hash(bytes32 key, uint8 flags, uint32 day, bytes32 salt)
        public
        view
    {
        bytes memory text = bytes.concat(key, bytes32(uint256(flags)), bytes32(uint256(day)), salt);
        vm.assertTrue(checks.commitmentOf(key, flags, day, salt) == bytes20(keccak256(text)));
    }

    function testFuzz_any_item_gets_exactly_one_verdict(IApplicationChecks.Item[12] memory any) public {
        IApplicationChecks.Item[] memory items = new IApplicationChecks.Item[](any.length);
        for (uint256 i = 0; i < any.length; ++i) {
            items[i] = any[i];
        }
        vm.assertEq(_logsOf(items).length, items.length);
    }

    function testFuzz_what_is_stored_rejects_only_what_is_too_far(
        IApplicationChecks.Item memory item,
        bool near,
        bool cleared,
        uint64 stored
    ) public {
        stored %= STEP + 1;
        if (near) item.version %= STEP + 1;
        bool bad = item.key == 0 || item.version == 0 || (item.commitment != 0 && item.expiryDay == 0);
        _record(IApplicationChecks.Item(item.key, stored, cleared ? bytes20(0) : bytes20("commitment"), 1));
        vm.assertTrue(_isRejected(item) == (bad || _isTooFar(item.version, stored)));
    }

    function _item(uint64 version, uint8 flags) private view returns (IApplicationChecks.Item memory) {
        return IApplicationChecks.Item(KEY, version, checks.commitmentOf(KEY, flags, DAY, SALT), DAY);
    }

    function _tombstone(uint64 version) private pure returns (IApplicationChecks.Item memory) {
        return IApplicationChecks.Item(KEY, version, 0, 0);
    }

    function _record(IApplicationChecks.Item memory item) private {
        checks.record(_only(item));
    }

    function _only(IApplicationChecks.Item memory item) private pure returns (IApplicationChecks.Item[] memory items) {
        items = new IApplicationChecks.Item[](1);
        items[0] = item;
    }

    function _logsOf(IApplicationChecks.Item[] memory items) private returns (Vm.Log[] memory) {
        vm.recordLogs();
        checks.record(items);
        return vm.getRecordedLogs();
    }

    function _isRejected(IApplicationChecks.Item memory item) private returns (bool) {
        return _logsOf(_only(item))[0].topics[0] == IVersioned.Rejected.selector;
    }

    function _assertRejected(IApplicationChecks.Item memory item, IVersioned.Reason reason) private {
        _expectRejected(address(checks), item.key, item.version, reason);
        _record(item);
        vm.assertEq(checks.recordOf(item.key).version, 0);
    }

    function _assertStored(IApplicationChecks.Record memory wanted) private view {
        vm.assertEq(abi.encode(checks.recordOf(KEY)), abi.encode(wanted));
    }
}
