// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AuditAnchor} from "../src/AuditAnchor.sol";
import {IAuditAnchor} from "../src/IAuditAnchor.sol";
import {IVersioned} from "../src/IVersioned.sol";
import {Actors} from "./Actors.sol";
import {Vm, vm} from "./Vm.sol";

contract AuditAnchorTest is Actors {
    bytes32 private constant LOG = "a log";
    bytes32 private constant OTHER = "another log";

    AuditAnchor private anchor;

    function setUp() public {
        anchor = new AuditAnchor(OWNER, _recorders());
    }

    function test_a_head_is_anchored() public {
        vm.expectEmit(address(anchor));
        emit IAuditAnchor.Recorded(LOG, 3, "head of 3");
        _record(IAuditAnchor.Item(LOG, 3, "head of 3"));
        _assertStored(LOG, IAuditAnchor.Anchor(3, "head of 3"));
    }

    function test_an_unknown_log_has_no_anchor() public view {
        _assertStored(LOG, IAuditAnchor.Anchor(0, 0));
    }

    function test_a_longer_log_replaces_a_shorter_one() public {
        _record(IAuditAnchor.Item(LOG, 3, "head of 3"));
        _record(IAuditAnchor.Item(LOG, 8, "head of 8"));
        _assertStored(LOG, IAuditAnchor.Anchor(8, "head of 8"));
    }

    function test_a_log_never_gets_shorter_or_another_head() public {
        _record(IAuditAnchor.Item(LOG, 8, "head of 8"));
        _expectStale(address(anchor), LOG, 8, 8);
        _record(IAuditAnchor.Item(LOG, 8, "another head"));
        _expectStale(address(anchor), LOG, 3, 8);
        _record(IAuditAnchor.Item(LOG, 3, "head of 3"));
        _assertStored(LOG, IAuditAnchor.Anchor(8, "head of 8"));
    }

    function test_an_anchor_needs_a_log() public {
        _assertRejected(IAuditAnchor.Item(0, 1, "head"), IVersioned.Reason.KeyMissing);
    }

    function test_an_anchor_needs_a_version() public {
        _assertRejected(IAuditAnchor.Item(LOG, 0, "head"), IVersioned.Reason.VersionMissing);
    }

    function test_an_anchor_needs_a_head() public {
        _assertRejected(IAuditAnchor.Item(LOG, 1, 0), IVersioned.Reason.DigestMissing);
    }

    function test_bad_and_stale_items_do_not_stop_their_neighbours() public {
        IAuditAnchor.Item[] memory items = new IAuditAnchor.Item[](4);
        items[0] = IAuditAnchor.Item(LOG, 0, "head");
        items[1] = IAuditAnchor.Item(LOG, 2, "head of 2");
        items[2] = IAuditAnchor.Item(LOG, 1, "head of 1");
        items[3] = IAuditAnchor.Item(OTHER, 1, "head of 1");
        _expectRejected(address(anchor), LOG, 0, IVersioned.Reason.VersionMissing);
        vm.expectEmit(address(anchor));
        emit IAuditAnchor.Recorded(LOG, 2, "head of 2");
        _expectStale(address(anchor), LOG, 1, 2);
        vm.expectEmit(address(anchor));
        emit IAuditAnchor.Recorded(OTHER, 1, "head of 1");
        anchor.record(items);
    }

    function test_many_anchors_are_read_in_the_order_asked() public {
        _record(IAuditAnchor.Item(LOG, 7, "head of 7"));
        bytes32[] memory logs = new bytes32[](3);
        (logs[0], logs[1], logs[2]) = (OTHER, LOG, LOG);
        IAuditAnchor.Anchor[] memory anchors = anchor.anchorsOf(logs);
        vm.assertEq(anchors.length, 3);
        vm.assertEq(anchors[0].version, 0);
        vm.assertEq(anchors[1].version, 7);
        vm.assertEq(abi.encode(anchors[2]), abi.encode(anchor.anchorOf(LOG)));
        vm.assertEq(anchor.anchorsOf(new bytes32[](0)).length, 0);
    }

    function testFuzz_any_item_gets_exactly_one_verdict(IAuditAnchor.Item[12] memory any) public {
        IAuditAnchor.Item[] memory items = new IAuditAnchor.Item[](any.length);
        for (uint256 i = 0; i < any.length; ++i) {
            items[i] = any[i];
        }
        Vm.Log[] memory logs = _logsOf(items);
        vm.assertEq(logs.length, items.length);
        for (uint256 i = 0; i < items.length; ++i) {
            vm.assertEq(logs[i].topics[1], items[i].log);
        }
    }

    function testFuzz_a_verdict_of_bad_does_not_depend_on_what_is_stored(
        IAuditAnchor.Item memory item,
        uint8 rule,
        uint64 stored
    ) public {
        if (rule % 4 == 0) item.log = 0;
        if (rule % 4 == 1) item.version = 0;
        if (rule % 4 == 2) item.head = 0;
        bool bad = _isRejected(item);
        anchor = new AuditAnchor(OWNER, _recorders());
        _record(IAuditAnchor.Item(item.log, stored, "head"));
        vm.assertTrue(_isRejected(item) == bad);
        vm.assertTrue(bad == (item.log == 0 || item.version == 0 || item.head == 0));
    }

    function _record(IAuditAnchor.Item memory item) private {
        anchor.record(_only(item));
    }

    function _only(IAuditAnchor.Item memory item) private pure returns (IAuditAnchor.Item[] memory items) {
        items = new IAuditAnchor.Item[](1);
        items[0] = item;
    }

    function _logsOf(IAuditAnchor.Item[] memory items) private returns (Vm.Log[] memory) {
        vm.recordLogs();
        anchor.record(items);
        return vm.getRecordedLogs();
    }

    function _isRejected(IAuditAnchor.Item memory item) private returns (bool) {
        return _logsOf(_only(item))[0].topics[0] == IVersioned.Rejected.selector;
    }

    function _assertRejected(IAuditAnchor.Item memory item, IVersioned.Reason reason) private {
        _expectRejected(address(anchor), item.log, item.version, reason);
        _record(item);
        _assertStored(item.log, IAuditAnchor.Anchor(0, 0));
    }

    function _assertStored(bytes32 log, IAuditAnchor.Anchor memory wanted) private view {
        vm.assertEq(abi.encode(anchor.anchorOf(log)), abi.encode(wanted));
    }
}
