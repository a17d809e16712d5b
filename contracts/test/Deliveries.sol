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

/// @title Items delivered at random, and the model of what must come of them
/// @notice In a world, a key and a version name one item: whether it is good, bad or a tombstone, and all it holds, is
/// drawn from the hash of the three. The model knows only which names were delivered, not in what order or how often;
/// and which items are bad it knows from how they were made, not from the contract's rules.
abstract contract Deliveries is Actors {
    enum Kind {
        Good,
        Tombstone,
        Bad
    }

    struct Name {
        uint64 key;
        uint64 version;
    }

    uint64 public constant KEYS = 4;
    uint64 public constant VERSIONS = 16;

    uint256 internal world;
    address public target;
    address private untouched;
    /// @dev A bit for each version that was delivered and is not bad.
    mapping(uint64 key => uint256 versions) private delivered;

    constructor() {
        target = deploy();
        untouched = deploy();
    }

    function deploy() public virtual returns (address);

    /// @dev Records the named items as one batch.
    function record(address to, Name[] memory names) public virtual;

    /// @dev All that can be read of a key.
    function stateOf(address where, uint64 key) public view virtual returns (bytes memory);

    /// @dev The same, once the named item is the last that counts.
    function stateAfter(Name memory name) public view virtual returns (bytes memory);

    function enter(uint256 newWorld) external {
        world = newWorld;
    }

    /// @notice A batch, as the fuzzer likes it.
    function deliver(uint256 seed, uint256 size) external {
        Name[] memory names = draw(seed, size % 6);
        record(target, names);
        remember(names);
    }

    function remember(Name[] memory names) public {
        for (uint256 i = 0; i < names.length; ++i) {
            if (kindOf(names[i]) != Kind.Bad) delivered[names[i].key] |= 1 << names[i].version;
        }
    }

    /// @notice Whether the contract stores what the model says, for every key.
    function agrees(address with) external view returns (bool) {
        for (uint64 key = 0; key < KEYS; ++key) {
            if (keccak256(stateOf(with, key)) != keccak256(wanted(key))) return false;
        }
        return true;
    }

    function wanted(uint64 key) public view returns (bytes memory) {
        uint64 version = lastOf(key);
        return version == 0 ? stateOf(untouched, key) : stateAfter(Name(key, version));
    }

    /// @notice The greatest version of the key that was delivered and is not bad; zero if there is none.
    function lastOf(uint64 key) public view returns (uint64 version) {
        uint256 versions = delivered[key];
        for (version = VERSIONS - 1; version > 0; --version) {
            if (versions & 1 << version != 0) break;
        }
    }

    function draw(uint256 seed, uint256 size) public pure returns (Name[] memory names) {
        names = new Name[](size);
        for (uint256 i = 0; i < size; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            names[i] = Name(uint64(random % KEYS), uint64((random >> 64) % VERSIONS));
        }
    }

    function kindOf(Name memory name) public view virtual returns (Kind) {
        if (name.key == 0 || name.version == 0) return Kind.Bad;
        uint256 die = _random(name) % 8;
        return die < 4 ? Kind.Good : die < 6 ? Kind.Tombstone : Kind.Bad;
    }

    function _random(Name memory name) internal view returns (uint256) {
        return uint256(keccak256(abi.encode(world, name.key, name.version)));
    }

    /// @dev Key 0 is the zero key.
    function _reference(uint64 key) internal view returns (bytes32) {
        return key == 0 ? bytes32(0) : keccak256(abi.encode(world, key));
    }
}

contract ListingDeliveries is Deliveries {
    function deploy() public override returns (address) {
        return address(new ListingRegistry(OWNER, _recorders()));
    }

    function record(address to, Name[] memory names) public override {
        IListingRegistry.Item[] memory items = new IListingRegistry.Item[](names.length);
        for (uint256 i = 0; i < names.length; ++i) {
            items[i] = _item(names[i]);
        }
        ListingRegistry(to).record(items);
    }

    function stateOf(address where, uint64 key) public view override returns (bytes memory) {
        return abi.encode(ListingRegistry(where).recordOf(_reference(key)));
    }

    function stateAfter(Name memory name) public view override returns (bytes memory) {
        IListingRegistry.Item memory item = _item(name);
        if (item.retired) return abi.encode(IListingRegistry.Record(name.version, true, 0, 0, 0, 0, 0));
        return abi.encode(
            IListingRegistry.Record(
                name.version, false, item.minCredit, item.prefCredit, item.minIncome, item.prefIncome, item.digest
            )
        );
    }

    function _item(Name memory name) private view returns (IListingRegistry.Item memory item) {
        uint256 random = _random(name);
        Kind kind = kindOf(name);
        item.key = _reference(name.key);
        item.version = name.version;
        item.minCredit = uint16((random >> 16) % 1001);
        item.prefCredit = uint16(item.minCredit + (random >> 32) % (1001 - item.minCredit));
        item.minIncome = uint64(random >> 65);
        item.prefIncome = uint64(item.minIncome + (random >> 128) % (uint256(type(uint64).max) + 1 - item.minIncome));
        item.digest = bytes32(random);
        if (kind == Kind.Tombstone) (item.retired, item.minCredit) = (true, uint16(random));
        if (kind == Kind.Bad) _spoil(item, (random >> 192) % 4);
    }

    function _spoil(IListingRegistry.Item memory item, uint256 rule) private pure {
        if (rule == 0) item.digest = 0;
        if (rule == 1) item.prefCredit += 1001;
        if (rule == 2) (item.minCredit, item.prefCredit) = (item.minCredit | 1, 0);
        if (rule == 3) (item.minIncome, item.prefIncome) = (item.minIncome | 1, 0);
    }
}

contract IdentityDeliveries is Deliveries {
    uint160 public constant HOLDERS = 3;

    function deploy() public override returns (address) {
        return address(new IdentityToken(OWNER, _recorders()));
    }

    function record(address to, Name[] memory names) public override {
        IIdentityToken.Item[] memory items = new IIdentityToken.Item[](names.length);
        for (uint256 i = 0; i < names.length; ++i) {
            items[i] = _item(names[i]);
        }
        IdentityToken(to).record(items);
    }

    function stateOf(address where, uint64 key) public view override returns (bytes memory) {
        return abi.encode(IdentityToken(where).identityOf(_tokenId(key)));
    }

    function stateAfter(Name memory name) public view override returns (bytes memory) {
        IIdentityToken.Item memory item = _item(name);
        if (item.revoked) return abi.encode(IIdentityToken.Identity(name.version, true, address(0), 0));
        return abi.encode(IIdentityToken.Identity(name.version, false, item.holder, item.commitment));
    }

    /// @notice How many tokens the holder of that number has by the model.
    function holdingsOf(address holder) external view returns (uint256 count) {
        for (uint64 key = 1; key < KEYS; ++key) {
            IIdentityToken.Identity memory identity = abi.decode(wanted(key), (IIdentityToken.Identity));
            if (identity.holder == holder) ++count;
        }
    }

    function _item(Name memory name) private view returns (IIdentityToken.Item memory item) {
        uint256 random = _random(name);
        Kind kind = kindOf(name);
        item.tokenId = _tokenId(name.key);
        item.version = name.version;
        item.holder = address(uint160((random >> 16) % HOLDERS + 1));
        item.commitment = bytes32(random);
        item.revoked = kind == Kind.Tombstone;
        if (kind == Kind.Bad) item.holder = address(0);
    }

    function _tokenId(uint64 key) private view returns (uint256) {
        return uint128(uint256(_reference(key)));
    }
}

contract ChecksDeliveries is Deliveries {
    function deploy() public override returns (address) {
        return address(new ApplicationChecks(OWNER, _recorders()));
    }

    function record(address to, Name[] memory names) public override {
        IApplicationChecks.Item[] memory items = new IApplicationChecks.Item[](names.length);
        for (uint256 i = 0; i < names.length; ++i) {
            items[i] = _item(names[i]);
        }
        ApplicationChecks(to).record(items);
    }

    function stateOf(address where, uint64 key) public view override returns (bytes memory) {
        return abi.encode(ApplicationChecks(where).recordOf(_reference(key)));
    }

    function stateAfter(Name memory name) public view override returns (bytes memory) {
        IApplicationChecks.Item memory item = _item(name);
        if (item.commitment == 0) return abi.encode(IApplicationChecks.Record(name.version, 0, 0));
        return abi.encode(IApplicationChecks.Record(name.version, item.commitment, item.expiryDay));
    }

    function _item(Name memory name) private view returns (IApplicationChecks.Item memory item) {
        uint256 random = _random(name);
        Kind kind = kindOf(name);
        item.key = _reference(name.key);
        item.version = name.version;
        item.commitment = bytes20(uint160(random) | 1);
        item.expiryDay = uint32(random >> 192) | 1;
        if (kind == Kind.Tombstone) (item.commitment, item.expiryDay) = (0, item.expiryDay % 2);
        if (kind == Kind.Bad) item.expiryDay = 0;
    }
}

contract AnchorDeliveries is Deliveries {
    function deploy() public override returns (address) {
        return address(new AuditAnchor(OWNER, _recorders()));
    }

    function record(address to, Name[] memory names) public override {
        IAuditAnchor.Item[] memory items = new IAuditAnchor.Item[](names.length);
        for (uint256 i = 0; i < names.length; ++i) {
            items[i] = IAuditAnchor.Item(_reference(names[i].key), names[i].version, _head(names[i]));
        }
        AuditAnchor(to).record(items);
    }

    function stateOf(address where, uint64 key) public view override returns (bytes memory) {
        return abi.encode(AuditAnchor(where).anchorOf(_reference(key)));
    }

    function stateAfter(Name memory name) public view override returns (bytes memory) {
        return abi.encode(IAuditAnchor.Anchor(name.version, _head(name)));
    }

    /// @dev A log has no tombstones.
    function kindOf(Name memory name) public view override returns (Kind) {
        Kind kind = super.kindOf(name);
        return kind == Kind.Tombstone ? Kind.Good : kind;
    }

    function _head(Name memory name) private view returns (bytes32) {
        return kindOf(name) == Kind.Bad ? bytes32(0) : bytes32(_random(name));
    }
}
