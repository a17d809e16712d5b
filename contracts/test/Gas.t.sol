// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ApplicationChecks} from "../src/ApplicationChecks.sol";
import {AuditAnchor} from "../src/AuditAnchor.sol";
import {IApplicationChecks} from "../src/IApplicationChecks.sol";
import {IAuditAnchor} from "../src/IAuditAnchor.sol";
import {IIdentityToken} from "../src/IIdentityToken.sol";
import {IListingRegistry} from "../src/IListingRegistry.sol";
import {IdentityToken} from "../src/IdentityToken.sol";
import {ListingRegistry} from "../src/ListingRegistry.sol";
import {Actors} from "./Actors.sol";
import {vm} from "./Vm.sol";

/// @title What recording costs, as whole transactions: the base fee of 21,000, the calldata and the execution
/// @notice `forge test --match-contract Gas -vv` prints the figures.
/// forge-config: default.isolate = true
/// forge-config: long.isolate = true
contract GasTest is Actors {
    event log_named_uint(string key, uint256 val);

    /// @dev The sender of a batch may count on: this, and for each item the constant of its kind.
    uint256 private constant BATCH = 30_000;
    uint256 private constant LISTING = 53_000;
    uint256 private constant IDENTITY = 105_000;
    uint256 private constant CHECKS = 30_000;
    uint256 private constant ANCHOR = 50_000;

    bytes20 private constant FULL = bytes20(type(uint160).max);
    uint64 private constant LARGE = type(uint64).max;
    uint32 private constant DAY = type(uint32).max;

    uint256[4] private sizes = [1, 16, 64, 256];

    ListingRegistry private registry;
    IdentityToken private token;
    ApplicationChecks private checks;
    AuditAnchor private anchor;

    function setUp() public {
        registry = new ListingRegistry(OWNER, _recorders());
        token = new IdentityToken(OWNER, _recorders());
        checks = new ApplicationChecks(OWNER, _recorders());
        anchor = new AuditAnchor(OWNER, _recorders());
    }

    function test_a_listing_in_a_batch_of_64_costs_at_most_55000() public {
        uint256 gas = _recordListings(64, IListingRegistry.Item(0, 1, false, 620, 700, 42_000_00, 60_000_00, 0));
        vm.assertLe(gas, 64 * 55_000);
    }

    function test_listings_cost_at_most_what_the_sender_counts_on() public {
        for (uint256 i = 0; i < sizes.length; ++i) {
            _within(
                "ListingRegistry, new, usual",
                sizes[i],
                _recordListings(sizes[i], IListingRegistry.Item(0, 1, false, 620, 700, 42_000_00, 60_000_00, 0)),
                LISTING
            );
        }
        _within(
            "ListingRegistry, new, large numbers",
            64,
            _recordListings(64, IListingRegistry.Item(0, STEP, false, 1000, 1000, LARGE, LARGE, 0)),
            LISTING
        );
        _within(
            "ListingRegistry, unknown, retired",
            64,
            _recordListings(64, IListingRegistry.Item(0, STEP, true, 0, 0, 0, 0, 0)),
            LISTING
        );
    }

    function test_later_versions_of_listings_cost_less() public {
        uint256 first = _recordListings(64, IListingRegistry.Item("x", 1, false, 1, 1, 1, 1, 0));
        uint256 second = _recordListings(64, IListingRegistry.Item("x", 2, false, 2, 2, 2, 2, "other"));
        uint256 retired = _recordListings(64, IListingRegistry.Item("x", 3, true, 0, 0, 0, 0, 0));
        uint256 again = _recordListings(64, IListingRegistry.Item("x", 3, true, 0, 0, 0, 0, 0));
        emit log_named_uint("ListingRegistry, later version, batch of 64", second / 64);
        emit log_named_uint("ListingRegistry, retired, batch of 64", retired / 64);
        emit log_named_uint("ListingRegistry, stale, batch of 64", again / 64);
        vm.assertLe(second, first / 2);
        vm.assertLe(retired, first / 2);
        vm.assertLe(again, first / 4);
    }

    function test_identities_cost_at_most_what_the_sender_counts_on() public {
        for (uint256 i = 0; i < sizes.length; ++i) {
            uint256 gas = _recordIdentities(sizes[i], IIdentityToken.Item(i, 1, false, ALICE, "one"));
            _within("IdentityToken, new", sizes[i], gas, IDENTITY);
        }
        IIdentityToken.Item memory item = IIdentityToken.Item(9, STEP - 2, false, ALICE, "one");
        _within("IdentityToken, new, large numbers", 64, _recordIdentities(64, item), IDENTITY);
        (item.version, item.holder, item.commitment) = (STEP - 1, BOB, "two");
        _within("IdentityToken, other holder", 64, _recordIdentities(64, item), IDENTITY);
        (item.version, item.revoked) = (STEP, true);
        _within("IdentityToken, revoked", 64, _recordIdentities(64, item), IDENTITY);
    }

    function test_checks_cost_at_most_what_the_sender_counts_on() public {
        for (uint256 i = 0; i < sizes.length; ++i) {
            uint256 gas = _recordChecks(sizes[i], IApplicationChecks.Item(bytes32(i), 1, FULL, DAY));
            _within("ApplicationChecks, new", sizes[i], gas, CHECKS);
        }
        IApplicationChecks.Item memory item = IApplicationChecks.Item("x", STEP - 1, FULL, DAY);
        _within("ApplicationChecks, new, large numbers", 64, _recordChecks(64, item), CHECKS);
        (item.version, item.commitment) = (STEP, 0);
        _within("ApplicationChecks, cleared", 64, _recordChecks(64, item), CHECKS);
    }

    function test_anchors_cost_at_most_what_the_sender_counts_on() public {
        for (uint256 i = 0; i < sizes.length; ++i) {
            uint256 gas = _recordAnchors(sizes[i], IAuditAnchor.Item(bytes32(i), 1, 0));
            _within("AuditAnchor, new", sizes[i], gas, ANCHOR);
        }
        _within("AuditAnchor, new, large numbers", 64, _recordAnchors(64, IAuditAnchor.Item("x", LARGE, 0)), ANCHOR);
    }

    /// @dev In each of these the given item lends all but the keys and digests, which are drawn from the ones it has.
    function _recordListings(uint256 size, IListingRegistry.Item memory like) private returns (uint256) {
        IListingRegistry.Item[] memory items = new IListingRegistry.Item[](size);
        for (uint256 i = 0; i < size; ++i) {
            items[i] = abi.decode(abi.encode(like), (IListingRegistry.Item));
            items[i].key = like.key == 0 ? _draw(keccak256(abi.encode(like, size)), i) : _draw(like.key, i);
            items[i].digest = _draw(keccak256(abi.encode(like.digest)), i);
        }
        registry.record(items);
        return vm.lastCallGas().gasTotalUsed;
    }

    /// @dev Every token has a holder of its own, drawn from the one given.
    function _recordIdentities(uint256 size, IIdentityToken.Item memory like) private returns (uint256) {
        IIdentityToken.Item[] memory items = new IIdentityToken.Item[](size);
        for (uint256 i = 0; i < size; ++i) {
            items[i] = IIdentityToken.Item(
                uint128(uint256(_draw(bytes32(like.tokenId), i))),
                like.version,
                like.revoked,
                address(bytes20(_draw(keccak256(abi.encode(like.tokenId, like.holder)), i))),
                _draw(like.commitment, i)
            );
        }
        token.record(items);
        return vm.lastCallGas().gasTotalUsed;
    }

    function _recordChecks(uint256 size, IApplicationChecks.Item memory like) private returns (uint256) {
        IApplicationChecks.Item[] memory items = new IApplicationChecks.Item[](size);
        for (uint256 i = 0; i < size; ++i) {
            bytes20 commitment = like.commitment & bytes20(_draw(~like.key, i));
            items[i] = IApplicationChecks.Item(_draw(like.key, i), like.version, commitment, like.expiryDay);
        }
        checks.record(items);
        return vm.lastCallGas().gasTotalUsed;
    }

    function _recordAnchors(uint256 size, IAuditAnchor.Item memory like) private returns (uint256) {
        IAuditAnchor.Item[] memory items = new IAuditAnchor.Item[](size);
        for (uint256 i = 0; i < size; ++i) {
            items[i] = IAuditAnchor.Item(_draw(like.log, i), like.version, _draw(~like.log, i));
        }
        anchor.record(items);
        return vm.lastCallGas().gasTotalUsed;
    }

    function _draw(bytes32 seed, uint256 i) private pure returns (bytes32) {
        return keccak256(abi.encode(seed, i));
    }

    function _within(string memory what, uint256 size, uint256 gas, uint256 each) private {
        emit log_named_uint(string.concat(what, ", batch of ", _decimal(size)), gas / size);
        vm.assertLe(gas, BATCH + size * each);
    }

    function _decimal(uint256 number) private pure returns (string memory text) {
        for (; number > 0; number /= 10) {
            text = string.concat(string(abi.encodePacked(uint8(48 + number % 10))), text);
        }
    }
}
