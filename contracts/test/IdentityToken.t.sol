// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {IERC721Metadata} from "@openzeppelin/contracts/token/ERC721/extensions/IERC721Metadata.sol";
import {IERC5192} from "../src/IERC5192.sol";
import {IIdentityToken} from "../src/IIdentityToken.sol";
import {IVersioned} from "../src/IVersioned.sol";
import {IdentityToken} from "../src/IdentityToken.sol";
import {Actors} from "./Actors.sol";
import {Vm, vm} from "./Vm.sol";

contract IdentityTokenTest is Actors {
    uint256 private constant ID = 0x1d;
    uint256 private constant LARGEST = type(uint128).max;
    bytes32 private constant COMMITMENT = "a commitment";

    IdentityToken private token;

    function setUp() public {
        token = new IdentityToken(OWNER, _recorders());
    }

    function test_it_has_a_name_and_a_symbol() public view {
        vm.assertEq(token.name(), "Portico Identity");
        vm.assertEq(token.symbol(), "PID");
    }

    function test_it_announces_what_it_is() public view {
        vm.assertTrue(token.supportsInterface(type(IERC721).interfaceId));
        vm.assertTrue(token.supportsInterface(type(IERC721Metadata).interfaceId));
        vm.assertTrue(token.supportsInterface(0xb45a3c0e));
        vm.assertTrue(type(IERC5192).interfaceId == 0xb45a3c0e);
    }

    function test_a_token_is_issued_and_locked() public {
        vm.expectEmit(address(token));
        emit IERC721.Transfer(address(0), ALICE, ID);
        vm.expectEmit(address(token));
        emit IERC5192.Locked(ID);
        vm.expectEmit(address(token));
        emit IIdentityToken.Recorded(ID, 1, ALICE, COMMITMENT);
        _record(_item(1, ALICE));
        _assertStored(ID, IIdentityToken.Identity(1, false, ALICE, COMMITMENT));
        vm.assertEq(token.ownerOf(ID), ALICE);
        vm.assertEq(token.balanceOf(ALICE), 1);
        vm.assertEq(token.tokenURI(ID), "");
        vm.assertTrue(token.locked(ID));
    }

    function test_an_id_may_have_128_bits_and_the_commitment_may_be_empty() public {
        _record(IIdentityToken.Item(LARGEST, STEP, false, ALICE, 0));
        _assertStored(LARGEST, IIdentityToken.Identity(STEP, false, ALICE, 0));
    }

    function test_a_holder_that_is_a_contract_is_not_asked() public {
        _record(_item(1, address(this)));
        vm.assertEq(token.ownerOf(ID), address(this));
        _record(_item(2, address(token)));
        vm.assertEq(token.ownerOf(ID), address(token));
    }

    function test_a_greater_version_changes_the_commitment_and_the_token_stays() public {
        _record(_item(1, ALICE));
        IIdentityToken.Item memory item = _item(2, ALICE);
        item.commitment = "another";
        Vm.Log[] memory logs = _logsOf(_only(item));
        vm.assertEq(logs.length, 1);
        vm.assertEq(logs[0].topics[0], IIdentityToken.Recorded.selector);
        _assertStored(ID, IIdentityToken.Identity(2, false, ALICE, "another"));
        vm.assertEq(token.balanceOf(ALICE), 1);
    }

    function test_a_greater_version_changes_the_holder() public {
        _record(_item(1, ALICE));
        vm.expectEmit(address(token));
        emit IERC721.Transfer(ALICE, BOB, ID);
        _record(_item(2, BOB));
        _assertStored(ID, IIdentityToken.Identity(2, false, BOB, COMMITMENT));
        vm.assertEq(token.balanceOf(ALICE), 0);
        vm.assertEq(token.balanceOf(BOB), 1);
    }

    function test_revoking_burns() public {
        _record(_item(1, ALICE));
        vm.expectEmit(address(token));
        emit IERC721.Transfer(ALICE, address(0), ID);
        vm.expectEmit(address(token));
        emit IIdentityToken.Revoked(ID, 2);
        _record(_tombstone(2));
        _assertStored(ID, IIdentityToken.Identity(2, true, address(0), 0));
        vm.assertEq(token.balanceOf(ALICE), 0);
        _expectNoToken();
        token.ownerOf(ID);
    }

    function test_a_tombstone_may_carry_anything_else() public {
        IIdentityToken.Item memory item = _item(1, ALICE);
        item.revoked = true;
        _record(item);
        _assertStored(ID, IIdentityToken.Identity(1, true, address(0), 0));
        vm.assertEq(token.balanceOf(ALICE), 0);
    }

    function test_an_unknown_token_can_be_revoked_and_then_does_not_come_late() public {
        Vm.Log[] memory logs = _logsOf(_only(_tombstone(2)));
        vm.assertEq(logs.length, 1);
        vm.assertEq(logs[0].topics[0], IIdentityToken.Revoked.selector);
        _expectStale(address(token), bytes32(ID), 1, 2);
        _record(_item(1, ALICE));
        _assertStored(ID, IIdentityToken.Identity(2, true, address(0), 0));
    }

    function test_a_revoked_token_can_be_revoked_again() public {
        _record(_tombstone(1));
        _record(_tombstone(2));
        _assertStored(ID, IIdentityToken.Identity(2, true, address(0), 0));
    }

    function test_a_greater_version_revives_a_revoked_token() public {
        _record(_item(1, ALICE));
        _record(_tombstone(2));
        vm.expectEmit(address(token));
        emit IERC5192.Locked(ID);
        _record(_item(3, BOB));
        _assertStored(ID, IIdentityToken.Identity(3, false, BOB, COMMITMENT));
        vm.assertTrue(token.locked(ID));
    }

    function test_an_equal_or_smaller_version_is_stale() public {
        _record(_item(5, ALICE));
        _expectStale(address(token), bytes32(ID), 5, 5);
        _record(_item(5, BOB));
        _expectStale(address(token), bytes32(ID), 4, 5);
        _record(_tombstone(4));
        _assertStored(ID, IIdentityToken.Identity(5, false, ALICE, COMMITMENT));
    }

    function test_a_token_needs_an_id() public {
        IIdentityToken.Item memory item = _item(1, ALICE);
        item.tokenId = 0;
        _assertRejected(item, IVersioned.Reason.KeyMissing);
        item.revoked = true;
        _assertRejected(item, IVersioned.Reason.KeyMissing);
    }

    function test_an_id_has_at_most_128_bits() public {
        IIdentityToken.Item memory item = _item(1, ALICE);
        item.tokenId = LARGEST + 1;
        _assertRejected(item, IVersioned.Reason.KeyTooLarge);
        item.revoked = true;
        _assertRejected(item, IVersioned.Reason.KeyTooLarge);
    }

    function test_a_token_needs_a_version() public {
        _assertRejected(_item(0, ALICE), IVersioned.Reason.VersionMissing);
        _assertRejected(_tombstone(0), IVersioned.Reason.VersionMissing);
    }

    function test_a_token_needs_a_holder() public {
        _assertRejected(_item(1, address(0)), IVersioned.Reason.HolderMissing);
    }

    function test_bad_and_stale_items_do_not_stop_their_neighbours() public {
        IIdentityToken.Item[] memory items = new IIdentityToken.Item[](4);
        items[0] = _item(1, address(0));
        items[1] = _item(2, ALICE);
        items[2] = _item(1, BOB);
        items[3] = _item(1, BOB);
        items[3].tokenId = LARGEST;
        _expectRejected(address(token), bytes32(ID), 1, IVersioned.Reason.HolderMissing);
        vm.expectEmit(address(token));
        emit IIdentityToken.Recorded(ID, 2, ALICE, COMMITMENT);
        _expectStale(address(token), bytes32(ID), 1, 2);
        vm.expectEmit(address(token));
        emit IIdentityToken.Recorded(LARGEST, 1, BOB, COMMITMENT);
        token.record(items);
    }

    function test_a_holder_cannot_move_the_token() public {
        _record(_item(1, ALICE));
        _expectSoulbound(ALICE);
        token.transferFrom(ALICE, BOB, ID);
        _expectSoulbound(ALICE);
        token.safeTransferFrom(ALICE, BOB, ID);
        _expectSoulbound(ALICE);
        token.safeTransferFrom(ALICE, BOB, ID, "");
        vm.assertEq(token.ownerOf(ID), ALICE);
    }

    function test_a_holder_cannot_let_others_move_the_token() public {
        _record(_item(1, ALICE));
        _expectSoulbound(ALICE);
        token.approve(BOB, ID);
        _expectSoulbound(ALICE);
        token.setApprovalForAll(BOB, true);
        vm.assertEq(token.getApproved(ID), address(0));
        vm.assertFalse(token.isApprovedForAll(ALICE, BOB));
    }

    function test_neither_the_owner_nor_a_recorder_can_move_the_token_by_transfer() public {
        _record(_item(1, ALICE));
        _expectSoulbound(OWNER);
        token.transferFrom(ALICE, BOB, ID);
        _expectSoulbound(address(this));
        token.transferFrom(ALICE, BOB, ID);
    }

    function test_a_token_that_is_not_there_is_neither_locked_nor_unlocked() public {
        _expectNoToken();
        token.locked(ID);
    }

    function test_many_identities_are_read_in_the_order_asked() public {
        _record(_item(7, ALICE));
        uint256[] memory ids = new uint256[](3);
        (ids[0], ids[1], ids[2]) = (LARGEST, ID, ID);
        IIdentityToken.Identity[] memory identities = token.identitiesOf(ids);
        vm.assertEq(identities.length, 3);
        vm.assertEq(identities[0].version, 0);
        vm.assertEq(identities[1].holder, ALICE);
        vm.assertEq(abi.encode(identities[2]), abi.encode(token.identityOf(ID)));
        vm.assertEq(token.identitiesOf(new uint256[](0)).length, 0);
    }

    function testFuzz_any_item_gets_exactly_one_verdict(IIdentityToken.Item[12] memory any, bool small) public {
        IIdentityToken.Item[] memory items = new IIdentityToken.Item[](any.length);
        for (uint256 i = 0; i < any.length; ++i) {
            items[i] = any[i];
            if (small) items[i].tokenId %= 4;
        }
        Vm.Log[] memory logs = _logsOf(items);
        uint256 verdicts = _count(logs, IVersioned.Rejected.selector) + _count(logs, IVersioned.Stale.selector)
            + _count(logs, IIdentityToken.Recorded.selector) + _count(logs, IIdentityToken.Revoked.selector);
        vm.assertEq(verdicts, items.length);
    }

    function testFuzz_what_is_stored_rejects_only_what_is_too_far(
        IIdentityToken.Item memory item,
        bool mended,
        bool revoked,
        uint64 stored
    ) public {
        stored %= STEP + 1;
        if (mended) item.tokenId = uint128(item.tokenId);
        uint64 version = item.version;
        // No version but zero is bad by itself.
        item.version = version == 0 ? 0 : 1;
        bool bad = _isRejected(item);
        item.version = version;
        token = new IdentityToken(OWNER, _recorders());
        IIdentityToken.Item memory before = revoked ? _tombstone(stored) : _item(stored, ALICE);
        before.tokenId = item.tokenId;
        _record(before);
        vm.assertTrue(_isRejected(item) == (bad || _isTooFar(item.version, stored)));
    }

    function testFuzz_a_good_item_is_stored_as_given(IIdentityToken.Item memory item) public {
        if (item.holder == address(0)) item.holder = ALICE;
        item.version = item.version % STEP + 1;
        item.tokenId = item.tokenId % LARGEST + 1;
        item.revoked = false;
        _record(item);
        _assertStored(item.tokenId, IIdentityToken.Identity(item.version, false, item.holder, item.commitment));
        vm.assertEq(token.balanceOf(item.holder), 1);
    }

    function testFuzz_nobody_can_move_a_token(address caller, address to) public {
        _record(_item(1, ALICE));
        _expectSoulbound(caller);
        token.transferFrom(ALICE, to, ID);
        _expectSoulbound(caller);
        token.approve(to, ID);
        _expectSoulbound(caller);
        token.setApprovalForAll(to, true);
    }

    function _item(uint64 version, address holder) private pure returns (IIdentityToken.Item memory) {
        return IIdentityToken.Item(ID, version, false, holder, COMMITMENT);
    }

    function _tombstone(uint64 version) private pure returns (IIdentityToken.Item memory) {
        return IIdentityToken.Item(ID, version, true, address(0), 0);
    }

    function _record(IIdentityToken.Item memory item) private {
        token.record(_only(item));
    }

    function _only(IIdentityToken.Item memory item) private pure returns (IIdentityToken.Item[] memory items) {
        items = new IIdentityToken.Item[](1);
        items[0] = item;
    }

    function _logsOf(IIdentityToken.Item[] memory items) private returns (Vm.Log[] memory) {
        vm.recordLogs();
        token.record(items);
        return vm.getRecordedLogs();
    }

    function _isRejected(IIdentityToken.Item memory item) private returns (bool) {
        return _logsOf(_only(item))[0].topics[0] == IVersioned.Rejected.selector;
    }

    function _expectSoulbound(address caller) private {
        vm.expectRevert(abi.encodeWithSelector(IIdentityToken.Soulbound.selector));
        vm.prank(caller);
    }

    function _expectNoToken() private {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, ID));
    }

    function _assertRejected(IIdentityToken.Item memory item, IVersioned.Reason reason) private {
        _expectRejected(address(token), bytes32(item.tokenId), item.version, reason);
        _record(item);
        _assertStored(item.tokenId, IIdentityToken.Identity(0, false, address(0), 0));
    }

    function _assertStored(uint256 tokenId, IIdentityToken.Identity memory wanted) private view {
        vm.assertEq(abi.encode(token.identityOf(tokenId)), abi.encode(wanted));
    }
}
