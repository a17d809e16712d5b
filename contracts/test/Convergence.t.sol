// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IdentityToken} from "../src/IdentityToken.sol";
import {AnchorDeliveries, ChecksDeliveries, Deliveries, IdentityDeliveries, ListingDeliveries} from "./Deliveries.sol";
import {vm} from "./Vm.sol";

/// @title Exactly once, from at least once: what is stored depends on the set of items delivered, and on nothing else
abstract contract ConvergenceTest {
    struct Selectors {
        address addr;
        bytes4[] selectors;
    }

    Deliveries internal deliveries;

    function begin() internal virtual returns (Deliveries);

    function setUp() public {
        deliveries = begin();
    }

    /// @dev Tells the fuzzer what to call between the invariants.
    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(deliveries);
    }

    /// @dev And which function of it.
    function targetSelectors() external view returns (Selectors[] memory targets) {
        targets = new Selectors[](1);
        targets[0] = Selectors(address(deliveries), new bytes4[](1));
        targets[0].selectors[0] = Deliveries.deliver.selector;
    }

    function invariant_what_is_stored_follows_from_what_was_delivered() public view {
        vm.assertTrue(deliveries.agrees(deliveries.target()));
    }

    function testFuzz_order_repetition_and_batches_do_not_matter(uint256 world, uint256 seed, uint256 size) public {
        deliveries.enter(world);
        Deliveries.Name[] memory names = deliveries.draw(seed, size % 16);
        deliveries.remember(names);

        address inOrder = deliveries.target();
        deliveries.record(inOrder, names);
        vm.assertTrue(deliveries.agrees(inOrder));

        address scrambled = deliveries.deploy();
        Deliveries.Name[] memory again = _scramble(names, seed);
        for (uint256 from = 0; from < again.length;) {
            from = _recordSome(scrambled, again, from, 1 + uint256(keccak256(abi.encode(seed, "size", from))) % 8);
        }
        vm.assertTrue(deliveries.agrees(scrambled));
    }

    function testFuzz_a_second_delivery_changes_nothing(uint256 world, uint256 seed, uint256 size) public {
        deliveries.enter(world);
        Deliveries.Name[] memory names = deliveries.draw(seed, size % 16);
        deliveries.record(deliveries.target(), names);
        bytes32 before = _fingerprint();
        deliveries.record(deliveries.target(), names);
        vm.assertEq(_fingerprint(), before);
        deliveries.record(deliveries.target(), _scramble(names, seed));
        vm.assertEq(_fingerprint(), before);
    }

    function _fingerprint() internal view returns (bytes32 print) {
        address target = deliveries.target();
        for (uint64 key = 0; key < deliveries.KEYS(); ++key) {
            print = keccak256(abi.encode(print, deliveries.stateOf(target, key)));
        }
    }

    function _recordSome(address to, Deliveries.Name[] memory names, uint256 from, uint256 size)
        private
        returns (uint256 until)
    {
        until = from + size < names.length ? from + size : names.length;
        Deliveries.Name[] memory batch = new Deliveries.Name[](until - from);
        for (uint256 i = from; i < until; ++i) {
            batch[i - from] = names[i];
        }
        deliveries.record(to, batch);
    }

    /// @dev All of them, some twice or more, in another order.
    function _scramble(Deliveries.Name[] memory names, uint256 seed)
        private
        pure
        returns (Deliveries.Name[] memory more)
    {
        more = new Deliveries.Name[](names.length * 2);
        for (uint256 i = 0; i < more.length; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, "order", i)));
            more[i] = i < names.length ? names[i] : names[random % names.length];
            uint256 place = (random >> 128) % (i + 1);
            (more[i], more[place]) = (more[place], more[i]);
        }
    }
}

contract ListingConvergenceTest is ConvergenceTest {
    function begin() internal override returns (Deliveries) {
        return new ListingDeliveries();
    }
}

contract IdentityConvergenceTest is ConvergenceTest {
    function begin() internal override returns (Deliveries) {
        return new IdentityDeliveries();
    }

    function invariant_a_balance_is_the_number_of_tokens_held() public view {
        IdentityDeliveries identities = IdentityDeliveries(address(deliveries));
        IdentityToken token = IdentityToken(deliveries.target());
        for (uint160 holder = 1; holder <= identities.HOLDERS(); ++holder) {
            vm.assertEq(token.balanceOf(address(holder)), identities.holdingsOf(address(holder)));
        }
    }
}

contract ChecksConvergenceTest is ConvergenceTest {
    function begin() internal override returns (Deliveries) {
        return new ChecksDeliveries();
    }
}

contract AnchorConvergenceTest is ConvergenceTest {
    function begin() internal override returns (Deliveries) {
        return new AnchorDeliveries();
    }
}
