// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ApplicationChecks} from "../src/ApplicationChecks.sol";
import {AuditAnchor} from "../src/AuditAnchor.sol";
import {IdentityToken} from "../src/IdentityToken.sol";
import {ListingRegistry} from "../src/ListingRegistry.sol";
import {Actors} from "./Actors.sol";
import {vm} from "./Vm.sol";

/// @title The artefacts in artifacts/: whoever knows them knows what lies at an address
contract ArtefactsTest is Actors {
    function test_what_is_tested_here_is_what_the_artefacts_hold() public {
        vm.assertEq(
            address(new ListingRegistry(OWNER, _recorders())).code, _read("ListingRegistry", "deployedBytecode")
        );
        vm.assertEq(address(new IdentityToken(OWNER, _recorders())).code, _read("IdentityToken", "deployedBytecode"));
        vm.assertEq(
            address(new ApplicationChecks(OWNER, _recorders())).code, _read("ApplicationChecks", "deployedBytecode")
        );
        vm.assertEq(address(new AuditAnchor(OWNER, _recorders())).code, _read("AuditAnchor", "deployedBytecode"));
    }

    function testFuzz_the_code_at_the_address_does_not_depend_on_owner_or_recorders(
        address owner,
        address[3] memory three,
        uint8 which
    ) public {
        string memory name = ["ListingRegistry", "IdentityToken", "ApplicationChecks", "AuditAnchor"][which % 4];
        address[] memory recorders = new address[](which % 3);
        for (uint256 i = 0; i < recorders.length; ++i) {
            recorders[i] = three[i];
        }
        bytes memory creation = bytes.concat(_read(name, "bytecode"), abi.encode(owner, recorders));
        address deployed;
        assembly {
            deployed := create(0, add(creation, 32), mload(creation))
        }
        vm.assertEq(deployed.code, _read(name, "deployedBytecode"));
    }

    function _read(string memory name, string memory field) private view returns (bytes memory) {
        string memory json = vm.readFile(string.concat("artifacts/", name, ".json"));
        return vm.parseJsonBytes(json, string.concat(".", field));
    }
}
