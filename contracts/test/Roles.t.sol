// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";
import {ApplicationChecks} from "../src/ApplicationChecks.sol";
import {AuditAnchor} from "../src/AuditAnchor.sol";
import {IApplicationChecks} from "../src/IApplicationChecks.sol";
import {IAuditAnchor} from "../src/IAuditAnchor.sol";
import {IIdentityToken} from "../src/IIdentityToken.sol";
import {IListingRegistry} from "../src/IListingRegistry.sol";
import {IdentityToken} from "../src/IdentityToken.sol";
import {ListingRegistry} from "../src/ListingRegistry.sol";
import {Versioned} from "../src/Versioned.sol";
import {Actors} from "./Actors.sol";
import {vm} from "./Vm.sol";

/// @title Who may do what: the same for every contract
abstract contract RolesTest is Actors {
    Versioned internal target;

    function deploy(address[] memory recorders) internal virtual returns (Versioned);

    /// @dev Records nothing at all, which takes the role all the same.
    function recordNothing() internal virtual;

    function setUp() public {
        target = deploy(_recorders());
    }

    function test_each_recorder_may_record_and_nobody_else() public {
        address[] memory recorders = new address[](2);
        (recorders[0], recorders[1]) = (ALICE, BOB);
        target = deploy(recorders);
        vm.prank(ALICE);
        recordNothing();
        vm.prank(BOB);
        recordNothing();
        _refuses(STRANGER);
        _refuses(OWNER);
    }

    function testFuzz_a_stranger_may_not_record(address stranger) public {
        if (stranger == address(this)) return;
        _refuses(stranger);
    }

    function test_the_owner_grants_and_revokes_the_recorders_role() public {
        bytes32 role = target.RECORDER_ROLE();
        vm.prank(OWNER);
        target.grantRole(role, ALICE);
        vm.prank(ALICE);
        recordNothing();
        vm.prank(OWNER);
        target.revokeRole(role, ALICE);
        _refuses(ALICE);
    }

    function test_a_recorder_may_not_grant_roles() public {
        bytes32 role = target.RECORDER_ROLE();
        _expectMissingRole(address(this), target.DEFAULT_ADMIN_ROLE());
        target.grantRole(role, ALICE);
    }

    function test_the_owner_may_hand_over_and_leave() public {
        bytes32 admin = target.DEFAULT_ADMIN_ROLE();
        bytes32 role = target.RECORDER_ROLE();
        vm.prank(OWNER);
        target.grantRole(admin, ALICE);
        vm.prank(OWNER);
        target.renounceRole(admin, OWNER);
        _expectMissingRole(OWNER, admin);
        vm.prank(OWNER);
        target.grantRole(role, BOB);
        vm.prank(ALICE);
        target.grantRole(role, BOB);
        vm.assertTrue(target.hasRole(role, BOB));
    }

    function test_the_recorders_role_is_the_hash_of_its_name() public view {
        vm.assertEq(target.RECORDER_ROLE(), keccak256("RECORDER_ROLE"));
    }

    function test_access_control_is_announced() public view {
        vm.assertTrue(target.supportsInterface(type(IERC165).interfaceId));
        vm.assertTrue(target.supportsInterface(type(IAccessControl).interfaceId));
        vm.assertFalse(target.supportsInterface(0xffffffff));
    }

    function _refuses(address account) private {
        _expectMissingRole(account, keccak256("RECORDER_ROLE"));
        vm.prank(account);
        recordNothing();
    }
}

contract ListingRegistryRolesTest is RolesTest {
    function deploy(address[] memory recorders) internal override returns (Versioned) {
        return new ListingRegistry(OWNER, recorders);
    }

    function recordNothing() internal override {
        ListingRegistry(address(target)).record(new IListingRegistry.Item[](0));
    }
}

contract IdentityTokenRolesTest is RolesTest {
    function deploy(address[] memory recorders) internal override returns (Versioned) {
        return new IdentityToken(OWNER, recorders);
    }

    function recordNothing() internal override {
        IdentityToken(address(target)).record(new IIdentityToken.Item[](0));
    }
}

contract ApplicationChecksRolesTest is RolesTest {
    function deploy(address[] memory recorders) internal override returns (Versioned) {
        return new ApplicationChecks(OWNER, recorders);
    }

    function recordNothing() internal override {
        ApplicationChecks(address(target)).record(new IApplicationChecks.Item[](0));
    }
}

contract AuditAnchorRolesTest is RolesTest {
    function deploy(address[] memory recorders) internal override returns (Versioned) {
        return new AuditAnchor(OWNER, recorders);
    }

    function recordNothing() internal override {
        AuditAnchor(address(target)).record(new IAuditAnchor.Item[](0));
    }
}
