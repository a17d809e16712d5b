// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ApplicationChecks} from "../src/ApplicationChecks.sol";
import {IApplicationChecks} from "../src/IApplicationChecks.sol";
import {IVersioned} from "../src/IVersioned.sol";
import {Actors} from "./Actors.sol";
import {Vm, vm} from "./Vm.sol";

contract ApplicationChecksTest is Actors {
    bytes32 private constant LISTING = "a listing";
    bytes32 private constant APPLICANT = "an applicant";
    uint64 private constant EXPIRY = 1_800_000_000;
    bytes32 private constant KEY = keccak256(abi.encode(LISTING, APPLICANT));

    ApplicationChecks private checks;

    function setUp() public {
        checks = new ApplicationChecks(OWNER, _recorders());
    }

    function test_checks_are_attested() public {
        vm.expectEmit(address(checks));
        emit IApplicationChecks.Recorded(LISTING, APPLICANT, 1, 7, EXPIRY);
        _record(_item(1, 7));
        _assertStored(IApplicationChecks.Record(1, false, 7, EXPIRY));
        _assertChecks(true, true, true, true, false);
    }

    function test_each_flag_is_read_from_its_bit() public {
        _record(_item(1, 1));
        _assertChecks(true, true, false, false, false);
        _record(_item(2, 3));
        _assertChecks(true, true, true, false, false);
        _record(_item(3, 4));
        _assertChecks(true, false, false, true, false);
        _record(_item(4, 12));
        _assertChecks(true, false, false, true, true);
        _record(_item(5, 15));
        _assertChecks(true, true, true, true, true);
    }

    function test_meeting_nothing_is_attested_too() public {
        _record(_item(1, 0));
        _assertChecks(true, false, false, false, false);
    }

    function test_of_an_unknown_application_nothing_is_attested() public view {
        _assertStored(IApplicationChecks.Record(0, false, 0, 0));
        _assertChecks(false, false, false, false, false);
    }

    function test_cleared_checks_are_not_attested() public {
        _record(_item(1, 15));
        vm.expectEmit(address(checks));
        emit IApplicationChecks.Cleared(LISTING, APPLICANT, 2);
        _record(_tombstone(2));
        _assertStored(IApplicationChecks.Record(2, true, 0, 0));
        _assertChecks(false, false, false, false, false);
    }

    function test_a_tombstone_may_carry_anything_else() public {
        _record(IApplicationChecks.Item(LISTING, APPLICANT, 1, true, 255, EXPIRY));
        _assertStored(IApplicationChecks.Record(1, true, 0, 0));
        _assertChecks(false, false, false, false, false);
    }

    function test_an_unknown_application_can_be_cleared_and_then_does_not_come_late() public {
        _record(_tombstone(2));
        _expectStale(address(checks), KEY, 1, 2);
        _record(_item(1, 15));
        _assertStored(IApplicationChecks.Record(2, true, 0, 0));
    }

    function test_a_greater_version_revives_cleared_checks() public {
        _record(_tombstone(2));
        _record(_item(3, 5));
        _assertChecks(true, true, false, true, false);
    }

    function test_an_equal_or_smaller_version_is_stale() public {
        _record(_item(5, 15));
        _expectStale(address(checks), KEY, 5, 5);
        _record(_item(5, 0));
        _expectStale(address(checks), KEY, 4, 5);
        _record(_tombstone(4));
        _assertStored(IApplicationChecks.Record(5, false, 15, EXPIRY));
    }

    function test_checks_need_both_references() public {
        _assertRejected(IApplicationChecks.Item(0, APPLICANT, 1, false, 15, EXPIRY), IVersioned.Reason.KeyMissing);
        _assertRejected(IApplicationChecks.Item(LISTING, 0, 1, false, 15, EXPIRY), IVersioned.Reason.KeyMissing);
        _assertRejected(IApplicationChecks.Item(0, APPLICANT, 1, true, 0, 0), IVersioned.Reason.KeyMissing);
    }

    function test_checks_need_a_version() public {
        _assertRejected(_item(0, 15), IVersioned.Reason.VersionMissing);
        _assertRejected(_tombstone(0), IVersioned.Reason.VersionMissing);
    }

    function test_there_are_four_flags() public {
        _assertRejected(_item(1, 16), IVersioned.Reason.FlagUnknown);
        _assertRejected(_item(1, 255), IVersioned.Reason.FlagUnknown);
    }

    function test_what_is_preferred_comes_with_its_minimum() public {
        uint8[7] memory lacking = [2, 6, 8, 9, 10, 11, 14];
        for (uint256 i = 0; i < lacking.length; ++i) {
            _assertRejected(_item(1, lacking[i]), IVersioned.Reason.PreferredWithoutMinimum);
        }
    }

    function test_checks_need_an_expiry() public {
        IApplicationChecks.Item memory item = _item(1, 15);
        item.expiresAt = 0;
        _assertRejected(item, IVersioned.Reason.ExpiryMissing);
    }

    function test_from_its_expiry_on_nothing_is_attested() public {
        _record(_item(1, 15));
        vm.warp(EXPIRY - 1);
        _assertChecks(true, true, true, true, true);
        vm.warp(EXPIRY);
        _assertChecks(false, false, false, false, false);
        vm.warp(type(uint64).max);
        _assertChecks(false, false, false, false, false);
        _assertStored(IApplicationChecks.Record(1, false, 15, EXPIRY));
    }

    function test_a_greater_version_renews_expired_checks() public {
        _record(_item(1, 15));
        vm.warp(EXPIRY);
        IApplicationChecks.Item memory item = _item(2, 4);
        item.expiresAt = EXPIRY + 1;
        _record(item);
        _assertChecks(true, false, false, true, false);
        vm.warp(EXPIRY + 1);
        _assertChecks(false, false, false, false, false);
    }

    function test_checks_may_be_recorded_after_their_expiry() public {
        vm.warp(EXPIRY + 1);
        _record(_item(1, 15));
        _assertStored(IApplicationChecks.Record(1, false, 15, EXPIRY));
        _assertChecks(false, false, false, false, false);
    }

    function testFuzz_checks_are_attested_before_their_expiry_only(uint64 expiresAt, uint64 time, bool cleared) public {
        IApplicationChecks.Item memory item = _item(1, 15);
        (item.expiresAt, item.cleared) = (expiresAt, cleared);
        _record(item);
        vm.warp(time);
        bool attested = !cleared && time < expiresAt;
        _assertChecks(attested, attested, attested, attested, attested);
    }

    function test_bad_and_stale_items_do_not_stop_their_neighbours() public {
        IApplicationChecks.Item[] memory items = new IApplicationChecks.Item[](4);
        items[0] = _item(1, 2);
        items[1] = _item(2, 3);
        items[2] = _item(1, 1);
        items[3] = IApplicationChecks.Item("another listing", APPLICANT, 1, false, 1, EXPIRY);
        _expectRejected(address(checks), KEY, 1, IVersioned.Reason.PreferredWithoutMinimum);
        vm.expectEmit(address(checks));
        emit IApplicationChecks.Recorded(LISTING, APPLICANT, 2, 3, EXPIRY);
        _expectStale(address(checks), KEY, 1, 2);
        vm.expectEmit(address(checks));
        emit IApplicationChecks.Recorded("another listing", APPLICANT, 1, 1, EXPIRY);
        checks.record(items);
    }

    function test_many_records_are_read_in_the_order_asked() public {
        _record(_item(7, 15));
        IApplicationChecks.Pair[] memory pairs = new IApplicationChecks.Pair[](3);
        pairs[0] = IApplicationChecks.Pair(APPLICANT, LISTING);
        pairs[1] = IApplicationChecks.Pair(LISTING, APPLICANT);
        pairs[2] = pairs[1];
        IApplicationChecks.Record[] memory records = checks.recordsOf(pairs);
        vm.assertEq(records.length, 3);
        vm.assertEq(records[0].version, 0);
        vm.assertEq(records[1].version, 7);
        vm.assertEq(abi.encode(records[2]), abi.encode(checks.recordOf(LISTING, APPLICANT)));
        vm.assertEq(checks.recordsOf(new IApplicationChecks.Pair[](0)).length, 0);
    }

    function testFuzz_the_key_is_the_hash_of_both_references(bytes32 listing, bytes32 applicant) public view {
        vm.assertEq(checks.keyOf(listing, applicant), keccak256(bytes.concat(listing, applicant)));
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
        bool mended,
        bool cleared,
        uint64 stored
    ) public {
        if (mended) (item.flags, item.expiresAt) = (item.flags % 16, item.expiresAt | 1);
        bool bad = _isRejected(item);
        checks = new ApplicationChecks(OWNER, _recorders());
        _record(IApplicationChecks.Item(item.listing, item.applicant, stored, cleared, 15, 1));
        vm.assertTrue(_isRejected(item) == (bad || _isTooFar(item.version, stored)));
    }

    function testFuzz_flags_are_good_if_every_preferred_one_has_its_minimum(uint8 flags) public {
        bool credit = flags & 3 != 2;
        bool income = flags & 12 != 8;
        vm.assertTrue(_isRejected(_item(1, flags)) == !(flags < 16 && credit && income));
    }

    function _item(uint64 version, uint8 flags) private pure returns (IApplicationChecks.Item memory) {
        return IApplicationChecks.Item(LISTING, APPLICANT, version, false, flags, EXPIRY);
    }

    function _tombstone(uint64 version) private pure returns (IApplicationChecks.Item memory) {
        return IApplicationChecks.Item(LISTING, APPLICANT, version, true, 0, 0);
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
        bytes32 key = checks.keyOf(item.listing, item.applicant);
        _expectRejected(address(checks), key, item.version, reason);
        _record(item);
        vm.assertEq(checks.recordOf(item.listing, item.applicant).version, 0);
    }

    function _assertStored(IApplicationChecks.Record memory wanted) private view {
        vm.assertEq(abi.encode(checks.recordOf(LISTING, APPLICANT)), abi.encode(wanted));
    }

    function _assertChecks(bool attested, bool minCredit, bool prefCredit, bool minIncome, bool prefIncome)
        private
        view
    {
        (bool a, bool b, bool c, bool d, bool e) = checks.checksOf(LISTING, APPLICANT);
        vm.assertEq(abi.encode(a, b, c, d, e), abi.encode(attested, minCredit, prefCredit, minIncome, prefIncome));
    }
}
