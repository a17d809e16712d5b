//! JSON-RPC: the envelope and its error codes, the methods, and arbitrary bodies.

use alloy_primitives::{Address, U256};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::contract::{data, record, recorded};
use crate::support::{CHAIN_ID, World};

/// The response as JSON; null if it is empty.
fn raw(world: &World, body: impl AsRef<[u8]>) -> Value {
    let answer = world.chain.rpc(body.as_ref());
    if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer).unwrap() }
}

fn ask(world: &World, method: &str, params: &Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let answer = raw(world, body.to_string());
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)));
    answer
}

/// The result of a request that must succeed.
fn result(world: &World, method: &str, params: Value) -> Value {
    let mut answer = ask(world, method, &params);
    assert!(answer.get("error").is_none(), "{method}: {answer}");
    answer["result"].take()
}

/// The error code and message of a request that must fail.
fn error(world: &World, method: &str, params: Value) -> (i64, String) {
    let answer = ask(world, method, &params);
    assert!(answer.get("result").is_none(), "{method} {params}: {answer}");
    (answer["error"]["code"].as_i64().unwrap(), answer["error"]["message"].as_str().unwrap().into())
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}

#[test]
fn invalid_bodies_get_the_specified_error_codes() {
    let world = World::new();
    let many = serde_json::to_string(&vec![json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"}); 101])
        .unwrap();
    let table: [(&str, i64); 15] = [
        ("", -32700),
        ("{", -32700),
        ("nonsense", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"} x"#, -32700),
        ("[]", -32600),
        ("1", -32600),
        ("null", -32600),
        (r#""eth_chainId""#, -32600),
        ("{}", -32600),
        (r#"{"id":1,"method":"eth_chainId"}"#, -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"eth_chainId"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"eth_chainId"}"#, -32600),
        (&many, -32600),
    ];
    for (body, code) in table {
        let answer = raw(&world, body);
        let body = &body[..body.len().min(80)];
        assert_eq!(answer["error"]["code"], json!(code), "{body}: {answer}");
        assert!(answer.get("result").is_none());
        assert!(answer.as_object().unwrap().contains_key("id"));
    }
    assert_eq!(raw(&world, [0xff, 0xfe])["error"]["code"], json!(-32700));
}

#[test]
fn deep_nesting_is_an_error() {
    let world = World::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(raw(&world, &deep)[0]["error"]["code"], -32600);
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"eth_call","params":{deep}}}"#);
    assert_eq!(raw(&world, body)["error"]["code"], -32602);
    let body = format!(r#"{{"jsonrpc":"2.0","id":{deep},"method":"eth_call"}}"#);
    assert_eq!(raw(&world, body)["error"]["code"], -32600);
    assert_eq!(raw(&world, "[".repeat(100_000))["error"]["code"], -32700);
}

#[test]
fn id_is_echoed_unchanged() {
    let world = World::new();
    for id in ["1", r#""a\"b""#, "null", "-5", "1.50", "123456789012345678901234567890"] {
        let body = format!(r#"{{"jsonrpc":"2.0","method":"net_version","id":{id}}}"#);
        let answer = String::from_utf8(world.chain.rpc(body.as_bytes())).unwrap();
        assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"4242"}}"#));
    }
}

#[test]
fn notification_has_no_response() {
    let world = World::new();
    let notification = json!({"jsonrpc": "2.0", "method": "eth_chainId"});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId"});
    assert_eq!(raw(&world, notification.to_string()), Value::Null);
    assert_eq!(raw(&world, json!([notification, notification]).to_string()), Value::Null);
    let answers = raw(&world, json!([notification, request, 5, notification]).to_string());
    assert_eq!(answers.as_array().unwrap().len(), 2);
    assert_eq!(answers[0]["result"], hex(CHAIN_ID));
    assert_eq!(answers[1]["error"]["code"], -32600);
}

#[test]
fn argument_errors_name_the_argument() {
    let world = World::new();
    let address = Address::ZERO.to_string();
    let addresses: Vec<_> = (0..1001_u64).map(|n| Address::left_padding_from(&n.to_be_bytes())).collect();
    let table = [
        ("eth_getBalance", json!([]), "address is missing"),
        ("eth_getBalance", json!(["0x12"]), "address: invalid string length"),
        ("eth_getBalance", json!([5]), "address: invalid type"),
        ("eth_getBalance", json!([address, "newest"]), "block: "),
        ("eth_getBalance", json!([address, 5]), "block: "),
        ("eth_getBalance", json!([address, {}]), "block: "),
        ("eth_getBalance", json!([address, {"blockNumber": "0x1", "blockHash": "0x2"}]), "block: "),
        ("eth_getBalance", json!({ "address": address }), "params must be an array"),
        ("eth_getStorageAt", json!([address, "zero"]), "slot: "),
        ("eth_getBlockByNumber", json!([]), "block is missing"),
        ("eth_getBlockByNumber", json!(["0x10000000000000000"]), "block: number too large"),
        ("eth_getBlockByNumber", json!(["latest", "yes"]), "full transactions: invalid type"),
        ("eth_getBlockByHash", json!([format!("0x{}", "zz".repeat(32))]), "block: "),
        ("eth_getTransactionByHash", json!(["0x00"]), "hash: invalid string length"),
        ("eth_getTransactionByBlockNumberAndIndex", json!(["0x0", "zero"]), "index: "),
        ("eth_call", json!([]), "transaction is missing"),
        ("eth_call", json!(["0x"]), "transaction: invalid type"),
        ("eth_call", json!([{"to": address, "data": "0x123"}]), "transaction: "),
        ("eth_call", json!([{"to": "0x0x11"}]), "transaction: "),
        ("eth_call", json!([{"to": address, "data": "0x12", "input": "0x13"}]), "data and input"),
        (
            "eth_call",
            json!([{"to": address}, "latest", {address.clone(): {}}]),
            "overrides are not supported",
        ),
        ("eth_getLogs", json!([]), "filter is missing"),
        ("eth_getLogs", json!([{"topics": "0x"}]), "filter: invalid type"),
        (
            "eth_getLogs",
            json!([{"topics": [null, null, null, null, null]}]),
            "filter: exceeded maximum topics",
        ),
        ("eth_getLogs", json!([{"topics": [["0x12"]]}]), "filter: "),
        ("eth_getLogs", json!([{"address": addresses}]), "filter names more than 1000"),
        ("eth_getLogs", json!([{"fromBlock": "0x2", "toBlock": "0x1"}]), "begins with block 2"),
        (
            "eth_getLogs",
            json!([{"blockHash": format!("{:#066x}", 1), "fromBlock": "0x1"}]),
            "filter: cannot specify both blockHash",
        ),
        ("eth_feeHistory", json!([1.5, "latest"]), "block count: invalid type"),
        ("eth_feeHistory", json!(["0x1", "latest", [50, 10]]), "percentiles must be"),
        ("eth_feeHistory", json!(["0x1", "latest", [101]]), "percentiles must be"),
    ];
    for (method, params, expected) in table {
        let (code, message) = error(&world, method, params.clone());
        assert_eq!(code, -32602, "{method} {params}");
        assert!(message.contains(expected), "{method} {params}: {message}");
    }
}

#[test]
fn write_methods_are_refused() {
    let (world, contract) = World::with_contract();
    let writes = [
        "eth_sendRawTransaction",
        "eth_sendTransaction",
        "eth_sign",
        "eth_signTransaction",
        "personal_sign",
        "personal_unlockAccount",
    ];
    let signed = world.wallet.call(contract, record([1]));
    for method in writes {
        let (code, message) = error(&world, method, json!([signed]));
        assert_eq!((code, message.contains("only reads")), (-32601, true), "{method}: {message}");
    }
    for method in ["debug_traceTransaction", "admin_peers", "txpool_content", "evm_mine", "eth_getProof", ""]
    {
        let (code, message) = error(&world, method, json!([]));
        assert_eq!((code, message.contains("does not exist")), (-32601, true), "{method}: {message}");
    }
    assert_eq!(world.chain.head().number, 1);
}

#[test]
fn node_information() {
    let world = World::new();
    let get = |method| result(&world, method, json!([]));
    assert_eq!(get("web3_clientVersion"), format!("portico-evm/v{}", env!("CARGO_PKG_VERSION")));
    assert_eq!(get("net_version"), "4242");
    assert_eq!(get("eth_chainId"), "0x1092");
    assert_eq!(get("eth_blockNumber"), "0x0");
    assert_eq!(get("eth_syncing"), false);
    assert_eq!(get("eth_accounts"), json!([]));
    assert_eq!(get("eth_gasPrice"), "0x7");
    assert_eq!(get("eth_maxPriorityFeePerGas"), "0x0");
}

#[test]
fn blocks_transactions_and_receipts_agree() {
    let (world, contract) = World::with_contract();
    let raws = [world.wallet.call(contract, record([1])), world.wallet.call(contract, record([2, 3]))];
    assert!(world.submit(&raws).iter().all(Result::is_ok));
    let block = result(&world, "eth_getBlockByNumber", json!(["latest", false]));
    let hash = &block["hash"];
    assert_eq!(block["number"], "0x2");
    assert_eq!(block["baseFeePerGas"], "0x7");
    assert_eq!(*hash, world.chain.head().hash().to_string());
    assert_eq!(result(&world, "eth_getBlockByHash", json!([hash, false])), block);
    for tag in ["pending", "safe", "finalized", "0x2", "0x02"] {
        assert_eq!(result(&world, "eth_getBlockByNumber", json!([tag, false])), block, "{tag}");
    }
    assert_eq!(result(&world, "eth_getBlockByNumber", json!(["earliest"]))["number"], "0x0");
    assert_eq!(result(&world, "eth_getBlockTransactionCountByNumber", json!(["0x2"])), "0x2");
    assert_eq!(result(&world, "eth_getBlockTransactionCountByHash", json!([hash])), "0x2");

    let full = result(&world, "eth_getBlockByNumber", json!(["latest", true]));
    let receipts = result(&world, "eth_getBlockReceipts", json!(["latest"]));
    assert_eq!(result(&world, "eth_getBlockReceipts", json!([{ "blockHash": hash }])), receipts);
    for index in 0..2 {
        let id = &block["transactions"][index];
        let transaction = &full["transactions"][index];
        let position = hex(index as u64);
        assert_eq!(result(&world, "eth_getTransactionByHash", json!([id])), *transaction);
        assert_eq!(
            result(&world, "eth_getTransactionByBlockNumberAndIndex", json!(["0x2", position])),
            *transaction
        );
        assert_eq!(
            result(&world, "eth_getTransactionByBlockHashAndIndex", json!([hash, position])),
            *transaction
        );
        let receipt = result(&world, "eth_getTransactionReceipt", json!([id]));
        assert_eq!(receipt, receipts[index]);
        for (one, other) in [
            ("hash", "transactionHash"),
            ("blockHash", "blockHash"),
            ("from", "from"),
            ("to", "to"),
            ("transactionIndex", "transactionIndex"),
            ("type", "type"),
            ("gasPrice", "effectiveGasPrice"),
        ] {
            assert_eq!(transaction[one], receipt[other], "{one}");
        }
        assert_eq!(receipt["status"], "0x1");
        assert_eq!(receipt["contractAddress"], Value::Null);
        assert_eq!(transaction["maxFeePerGas"], "0x64");
    }
    assert_eq!(receipts[1]["logs"][0]["logIndex"], "0x1");
    assert_eq!(result(&world, "eth_getLogs", json!([{ "blockHash": hash }])).as_array().unwrap().len(), 3);
    // A poll for new logs without a new block finds none.
    let head = result(&world, "eth_blockNumber", json!([]));
    let next = u64::from_str_radix(&head.as_str().unwrap()[2..], 16).unwrap() + 1;
    for filter in [
        json!({"fromBlock": format!("{next:#x}")}),
        json!({"fromBlock": format!("{next:#x}"), "toBlock": "latest"}),
    ] {
        assert_eq!(result(&world, "eth_getLogs", json!([filter])), json!([]));
    }
    let made = result(&world, "eth_getTransactionByBlockNumberAndIndex", json!(["0x1", "0x0"]));
    assert_eq!(made["to"], Value::Null);
    let receipt = result(&world, "eth_getTransactionReceipt", json!([made["hash"]]));
    assert_eq!(receipt["contractAddress"], contract.to_string().to_lowercase());
}

#[test]
fn unknown_blocks_and_transactions_are_null() {
    let (world, _) = World::with_contract();
    let unknown = format!("{:#066x}", 5);
    let table = [
        ("eth_getBlockByNumber", json!(["0x2", false])),
        ("eth_getBlockByNumber", json!(["0xffffffffffffffff", false])),
        ("eth_getBlockByHash", json!([unknown, true])),
        ("eth_getBlockTransactionCountByNumber", json!(["0x2"])),
        ("eth_getBlockReceipts", json!(["0x2"])),
        ("eth_getTransactionByHash", json!([unknown])),
        ("eth_getTransactionByBlockNumberAndIndex", json!(["0x1", "0x1"])),
        ("eth_getTransactionByBlockNumberAndIndex", json!(["0x0", "0x100000"])),
        ("eth_getTransactionByBlockNumberAndIndex", json!(["0x2", "0x0"])),
        ("eth_getTransactionByBlockHashAndIndex", json!([unknown, "0x0"])),
        ("eth_getTransactionReceipt", json!([unknown])),
    ];
    for (method, params) in table {
        assert_eq!(result(&world, method, params.clone()), Value::Null, "{method} {params}");
    }
}

#[test]
fn state_is_served_for_the_latest_block_only() {
    let (world, contract) = World::with_contract();
    let head = world.chain.head().hash();
    let genesis = world.chain.genesis_hash();
    let sender = world.wallet.address;
    let call = json!({ "to": contract, "data": alloy_primitives::hex::encode_prefixed(data("env()", &[])) });
    let methods = [
        ("eth_getBalance", vec![json!(sender)]),
        ("eth_getTransactionCount", vec![json!(sender)]),
        ("eth_getCode", vec![json!(contract)]),
        ("eth_getStorageAt", vec![json!(contract), json!("0x0")]),
        ("eth_call", vec![call.clone()]),
        ("eth_estimateGas", vec![call]),
    ];
    for (method, params) in methods {
        let at = |block: Value| {
            let mut params = params.clone();
            params.push(block);
            json!(params)
        };
        let latest = result(&world, method, json!(params));
        for block in [
            json!("latest"),
            json!("pending"),
            json!("safe"),
            json!("finalized"),
            json!("0x1"),
            json!(head),
            json!({ "blockHash": head, "requireCanonical": true }),
            json!({ "blockNumber": "0x1" }),
            Value::Null,
        ] {
            assert_eq!(result(&world, method, at(block.clone())), latest, "{method} {block}");
        }
        for block in [json!("earliest"), json!("0x0"), json!(genesis), json!({ "blockNumber": "0x0" })] {
            let expected = (-32000, "state is kept for the latest block only".to_owned());
            assert_eq!(error(&world, method, at(block.clone())), expected, "{method} {block}");
        }
        for block in [json!("0x2"), json!(format!("{:#066x}", 9))] {
            assert_eq!(
                error(&world, method, at(block.clone())),
                (-32000, "block not found".into()),
                "{method} {block}"
            );
        }
    }
    assert_eq!(result(&world, "eth_getTransactionCount", json!([sender, "latest"])), "0x1");
    let value = result(&world, "eth_getStorageAt", json!([contract, format!("{:#066x}", 3), "latest"]));
    assert_eq!(value, format!("{:#066x}", 0));
}

#[test]
fn failed_call_returns_code_and_data() {
    let (world, contract) = World::with_contract();
    let call = |function: &str, more: Value| {
        let mut call =
            json!({ "to": contract, "input": alloy_primitives::hex::encode_prefixed(data(function, &[])) });
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([call, "latest"])
    };
    for method in ["eth_call", "eth_estimateGas"] {
        let answer = ask(&world, method, &call("fail()", json!({})));
        assert_eq!(answer["error"]["code"], 3);
        assert_eq!(answer["error"]["message"], "execution reverted: never");
        assert!(answer["error"]["data"].as_str().unwrap().starts_with("0x08c379a0"));
        let (code, message) =
            error(&world, method, call("env()", json!({ "value": "0x1", "from": contract })));
        assert_eq!(code, -32000);
        assert!(message.starts_with("insufficient funds"), "{message}");
    }
    let (code, message) = error(&world, "eth_call", call("spin()", json!({ "gas": "0xffffffffffffffff" })));
    assert_eq!((code, message.contains("gas")), (-32000, true), "{message}");
    let (code, message) = error(&world, "eth_estimateGas", call("spin()", json!({})));
    assert_eq!((code, message.as_str()), (-32000, "gas required exceeds allowance (36000000)"));
    let (code, message) = error(&world, "eth_call", call("env()", json!({ "gas": "0x5207" })));
    assert_eq!((code, message.starts_with("intrinsic gas too low")), (-32000, true), "{message}");
}

#[test]
fn call_is_free_and_sees_its_caller() {
    let (world, contract) = World::with_contract();
    let env = alloy_primitives::hex::encode_prefixed(data("env()", &[]));
    // From a contract, which cannot sign; fees are ignored.
    let call =
        json!({ "from": contract, "to": contract, "data": env, "gasPrice": "0xffff", "nonce": "0x63" });
    let answer = result(&world, "eth_call", json!([call, "latest"]));
    let caller = &answer.as_str().unwrap()[2 + 5 * 64..][..64];
    assert_eq!(caller[24..], contract.to_string().to_lowercase()[2..]);
}

#[test]
fn estimate_is_sufficient_and_tight() {
    let (world, contract) = World::with_contract();
    let from = world.wallet.address;
    let transfer = json!({ "from": from, "to": Address::repeat_byte(9), "value": "0x5" });
    assert_eq!(result(&world, "eth_estimateGas", json!([transfer])), hex(21_000));
    for count in [1, 10, 100] {
        let input = record(0..count);
        let params =
            json!([{ "from": from, "to": contract, "data": alloy_primitives::hex::encode_prefixed(&input) }]);
        let estimate = result(&world, "eth_estimateGas", params);
        let gas = u64::from_str_radix(&estimate.as_str().unwrap()[2..], 16).unwrap();
        let mut draft = world.wallet.draft(alloy_primitives::TxKind::Call(contract), input);
        draft.gas_limit = gas;
        world.wallet.count();
        let receipt = world.mine(world.wallet.sign(draft));
        assert!(receipt.success);
        assert!(gas - receipt.gas_used <= gas / 32, "{gas} for {}", receipt.gas_used);
        // In the next round the slots are set and cost less.
    }
}

#[test]
fn fee_history() {
    let (world, contract) = World::with_contract();
    world.mine(world.wallet.call(contract, record(0..64)));
    let history = result(&world, "eth_feeHistory", json!(["0xa", "latest", [25.0, 75.0]]));
    assert_eq!(history["oldestBlock"], "0x0");
    assert_eq!(history["baseFeePerGas"], json!(["0x7", "0x7", "0x7", "0x7"]));
    assert_eq!(history["reward"], json!([["0x0", "0x0"], ["0x1", "0x1"], ["0x1", "0x1"]]));
    assert!(history["gasUsedRatio"][2].as_f64().unwrap() > 0.0);
    let history = result(&world, "eth_feeHistory", json!([2, "0x1"]));
    assert_eq!(history["oldestBlock"], "0x0");
    assert!(history.get("reward").is_none());
    assert_eq!(error(&world, "eth_feeHistory", json!([2, "0x9"])).0, -32000);
}

#[test]
fn one_batch_cannot_use_all_the_time() {
    let (world, contract) = World::with_contract();
    let spin = json!({ "to": contract, "data": alloy_primitives::hex::encode_prefixed(data("spin()", &[])) });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [spin, "latest"] });
    let answers = raw(&world, json!(vec![request; 100]).to_string());
    let messages: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|answer| answer["error"]["message"].as_str().unwrap())
        .collect();
    assert!(messages[0].contains("OutOfGas") || messages[0].contains("out of gas"), "{}", messages[0]);
    assert_eq!(messages[99], "the calls of this body use too much gas: send smaller batches");
    let used = messages.iter().filter(|message| **message == messages[0]).count();
    assert_eq!(used, 8);
}

#[test]
fn largest_values_round_trip() {
    let (world, contract) = World::with_contract();
    let mut words = [U256::MAX; 8];
    words[0] = U256::from(1);
    world.mine(world.wallet.call(contract, data("record()", &words)));
    let slot: U256 = alloy_primitives::keccak256(U256::from(1).to_be_bytes::<32>()).into();
    let value = result(&world, "eth_getStorageAt", json!([contract, format!("{slot:#x}"), "latest"]));
    assert_eq!(value, format!("{:#x}", U256::MAX));
}

#[test]
fn filters_report_what_is_new() {
    let (world, contract) = World::with_contract();
    let install = |method, params| result(&world, method, params);
    let changes = |id: &Value| result(&world, "eth_getFilterChanges", json!([id]));
    world.mine(world.wallet.call(contract, record([1])));
    let blocks = install("eth_newBlockFilter", json!([]));
    let topics = json!([recorded(), format!("{:#066x}", 2)]);
    let logs = install("eth_newFilter", json!([{ "address": contract, "topics": topics }]));
    let bounded = json!({ "fromBlock": "0x0", "toBlock": "0x3" });
    let bounded = install("eth_newFilter", json!([bounded]));
    let pending = install("eth_newPendingTransactionFilter", json!([]));
    for id in [&blocks, &logs, &bounded, &pending] {
        assert_eq!(changes(id), json!([]), "nothing is new");
    }
    world.mine(world.wallet.call(contract, record([1, 2])));
    let third = world.chain.head().hash();
    world.mine(world.wallet.call(contract, record([1])));
    assert_eq!(changes(&blocks), json!([third, world.chain.head().hash()]));
    let new = changes(&logs);
    assert_eq!((new.as_array().unwrap().len(), &new[0]["blockHash"]), (1, &json!(third)));
    assert_eq!(result(&world, "eth_getLogs", json!([{ "blockHash": third, "topics": topics }])), new);
    assert_eq!(changes(&bounded).as_array().unwrap().len(), 2, "only up to its last block");
    for id in [&blocks, &logs, &bounded, &pending] {
        assert_eq!(changes(id), json!([]), "everything was reported");
    }
    assert_eq!(result(&world, "eth_getFilterLogs", json!([bounded])).as_array().unwrap().len(), 3);

    assert_eq!(result(&world, "eth_uninstallFilter", json!([blocks])), true);
    assert_eq!(result(&world, "eth_uninstallFilter", json!([blocks])), false);
    let unknown = (-32000, "filter not found".to_owned());
    for (method, id) in [
        ("eth_getFilterChanges", &blocks),
        ("eth_getFilterLogs", &pending),
        ("eth_getFilterChanges", &json!("0x1")),
        ("eth_getFilterChanges", &json!(format!("{:#066x}", 1))),
    ] {
        assert_eq!(error(&world, method, json!([id])), unknown, "{method} {id}");
    }
    for params in [json!([{ "blockHash": third }]), json!([{ "fromBlock": "0x2", "toBlock": "0x1" }])] {
        assert_eq!(error(&world, "eth_newFilter", params).0, -32602);
    }
}

#[test]
fn filter_reports_too_many_logs_in_parts() {
    let (world, contract) = World::with_contract();
    let id = result(&world, "eth_newFilter", json!([{}]));
    for _ in 0..20 {
        let raws: Vec<_> = (0..5).map(|_| world.wallet.call(contract, record(0..120))).collect();
        assert!(world.submit(&raws).iter().all(Result::is_ok));
    }
    let poll = || result(&world, "eth_getFilterChanges", json!([id])).as_array().unwrap().len();
    assert_eq!((poll(), poll(), poll()), (6_000, 6_000, 0));
}

/// Arbitrary JSON with words that the methods know.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("latest".to_owned()),
        Just("0x".to_owned()),
        Just("0x1".to_owned()),
        Just(Address::ZERO.to_string()),
        Just(format!("{:#066x}", 1)),
        "0x[0-9a-f]{0,70}",
        ".{0,8}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let key = prop_oneof![
            Just("to"),
            Just("from"),
            Just("data"),
            Just("gas"),
            Just("value"),
            Just("topics"),
            Just("address"),
            Just("fromBlock"),
            Just("toBlock"),
            Just("blockHash"),
            Just("blockNumber"),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    })
}

const METHODS: [&str; 22] = [
    "eth_newFilter",
    "eth_newBlockFilter",
    "eth_newPendingTransactionFilter",
    "eth_getFilterChanges",
    "eth_getFilterLogs",
    "eth_uninstallFilter",
    "eth_getBlockByNumber",
    "eth_getBlockByHash",
    "eth_getBlockTransactionCountByNumber",
    "eth_getBlockReceipts",
    "eth_getTransactionByHash",
    "eth_getTransactionByBlockNumberAndIndex",
    "eth_getTransactionReceipt",
    "eth_getLogs",
    "eth_getBalance",
    "eth_getTransactionCount",
    "eth_getCode",
    "eth_getStorageAt",
    "eth_call",
    "eth_estimateGas",
    "eth_feeHistory",
    "eth_chainId",
];

#[test]
fn any_body_gets_a_valid_response() {
    let (world, contract) = World::with_contract();
    world.mine(world.wallet.call(contract, record([1, 2])));
    let answered = |body: &[u8]| {
        let answer = world.chain.rpc(body);
        answer.is_empty() || serde_json::from_slice::<Value>(&answer).is_ok()
    };
    proptest!(ProptestConfig::with_cases(300), |(body: Vec<u8>)| prop_assert!(answered(&body)));
    proptest!(ProptestConfig::with_cases(300), |(body in any_json())| {
        prop_assert!(answered(body.to_string().as_bytes()));
    });
    let params = prop::collection::vec(any_json(), 0..4);
    proptest!(ProptestConfig::with_cases(3000), |(method in prop::sample::select(&METHODS[..]), params in params)| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let answer: Value = serde_json::from_slice(&world.chain.rpc(body.as_bytes())).unwrap();
        prop_assert!(answer.get("result").is_some() != answer.get("error").is_some());
        prop_assert_ne!(&answer["error"]["code"], &json!(-32603), "{}", body);
    });
}
