//! `/rpc` over HTTP: standard errors, and no effect on other requests.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{App, Engine, Options, on_both_engines, on_chain, unique};

on_both_engines! {
    shared:
        invalid_requests_get_standard_codes,
        batch_keeps_its_order_and_is_limited,
        rpc_endpoint_is_read_only,
        filters_follow_new_blocks_and_logs,
        many_bad_requests_do_not_harm_the_service;
    own:
        rpc_needs_the_embedded_chain;
}

async fn rpc(app: &App, body: impl Into<Vec<u8>>) -> Value {
    app.request(Method::POST, "/rpc").body(body).send().await.json(200)
}

async fn code(app: &App, body: impl Into<Vec<u8>>) -> i64 {
    let answer = rpc(app, body).await;
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("an error is expected: {answer}"))
}

async fn invalid_requests_get_standard_codes(app: &App) {
    for (body, expected) in [
        ("", -32700),
        ("{", -32700),
        ("\u{fffd}", -32700),
        ("{}", -32600),
        ("7", -32600),
        ("[]", -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eth_nonsense"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":["0x12","latest"]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":{"a":1}}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"eth_getLogs","params":[{"fromBlock":"0x5","toBlock":"0x1"}]}"#,
            -32602,
        ),
    ] {
        assert_eq!(code(app, body).await, expected, "{body}");
    }
    let invalid = vec![0xff, 0xfe, 0x00];
    assert_eq!(code(app, invalid).await, -32700);
}

async fn batch_keeps_its_order_and_is_limited(app: &App) {
    let one = |id: u64, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": []});
    let batch = json!([one(1, "eth_chainId"), one(2, "eth_nonsense"), 7, one(3, "eth_blockNumber")]);
    let answers = rpc(app, batch.to_string()).await;
    assert_eq!(answers[0]["result"], "0x7a69");
    assert_eq!(answers[1]["error"]["code"], -32601);
    assert_eq!((&answers[2]["error"]["code"], &answers[2]["id"]), (&json!(-32600), &Value::Null));
    assert_eq!(answers[3]["id"], 3);
    let many: Vec<Value> = (0..101).map(|id| one(id, "eth_chainId")).collect();
    assert_eq!(code(app, Value::from(many).to_string()).await, -32600);
    let notification = json!({"jsonrpc": "2.0", "method": "eth_chainId"}).to_string();
    let silent = app.request(Method::POST, "/rpc").body(notification).send().await;
    assert!(silent.status(204).body.is_empty());
}

async fn rpc_endpoint_is_read_only(app: &App) {
    for method in [
        "eth_sendRawTransaction",
        "eth_sendTransaction",
        "eth_sign",
        "personal_sign",
        "anvil_setBalance",
        "evm_mine",
        "evm_revert",
        "debug_setHead",
        "admin_addPeer",
        "miner_start",
    ] {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": ["0x00"]});
        assert_eq!(code(app, body.to_string()).await, -32601, "{method}");
    }
}

async fn result(app: &App, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut answer = rpc(app, body.to_string()).await;
    assert!(answer.get("error").is_none(), "{method}: {answer}");
    answer["result"].take()
}

async fn filters_follow_new_blocks_and_logs(app: &App) {
    let blocks = result(app, "eth_newBlockFilter", json!([])).await;
    let logs = result(app, "eth_newFilter", json!([{}])).await;
    let posted = app.to_post("/stage/listings", &on_chain(&unique("filtered"), "ada")).key(app.operator());
    posted.send().await.json(201);
    let new_blocks = result(app, "eth_getFilterChanges", json!([blocks])).await;
    let new_logs = result(app, "eth_getFilterChanges", json!([logs])).await;
    // Other tests may record at the same time.
    let new_blocks = new_blocks.as_array().unwrap();
    assert!(!new_blocks.is_empty());
    for hash in new_blocks {
        let block = result(app, "eth_getBlockByHash", json!([hash, false])).await;
        assert_eq!(block["hash"], *hash);
    }
    let new_logs = new_logs.as_array().unwrap();
    assert!(new_logs.iter().any(|log| new_blocks.contains(&log["blockHash"])), "{new_logs:?}");
    assert_eq!(result(app, "eth_uninstallFilter", json!([logs])).await, true);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_getFilterChanges", "params": [logs]});
    let error = &rpc(app, body.to_string()).await["error"];
    assert_eq!(*error, json!({"code": -32000, "message": "filter not found"}));
}

async fn many_bad_requests_do_not_harm_the_service(app: &App) {
    let deep = "[".repeat(20_000);
    let heavy = json!({
        "jsonrpc": "2.0", "id": 1, "method": "eth_call",
        // An endless loop as init code: JUMPDEST PUSH1 0 JUMP.
        "params": [{"data": "0x5b600056", "gas": "0xffffffffff"}, "latest"],
    });
    let (heavy, id) = (heavy.to_string(), unique("other"));
    let bad = join_all((0..40).map(async |n: usize| {
        let body = if n.is_multiple_of(2) { deep.clone() } else { heavy.clone() };
        assert!(rpc(app, body).await["error"]["code"].is_i64());
    }));
    let good = app.to_post("/stage/listings", &on_chain(&id, "ada")).key(app.operator()).send();
    let (_, recorded) = futures_util::future::join(bad, good).await;
    recorded.json(201);
    app.get("/readyz").await.status(200);
    let too_large = vec![b' '; (1 << 20) + 1];
    app.request(Method::POST, "/rpc").body(too_large).send().await.refused(413, "body_too_large");
}

async fn rpc_needs_the_embedded_chain(engine: Engine) {
    let app = Options::new(engine).anvil().start().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}).to_string();
    app.request(Method::POST, "/rpc").body(body).send().await.refused(404, "not_found");
}
