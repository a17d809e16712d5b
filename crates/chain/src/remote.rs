//! Any node with Ethereum's JSON-RPC over HTTP. Uses one of several URLs until it fails.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use alloy_primitives::{Address, B256, Bytes, U64, U256};
use alloy_rpc_types_eth::Filter;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::node::{Block, BlockId, Fees, LoggedEvent, Node, NodeTransaction, Receipt, Sent};
use crate::{Error, Result};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RESPONSE_BYTES: usize = 16 << 20;
/// The tip if the node does not suggest one: one gwei.
const DEFAULT_TIP: u64 = 1_000_000_000;

#[derive(Debug)]
pub struct Remote {
    client: reqwest::Client,
    urls: Vec<String>,
    current: AtomicUsize,
    next_id: AtomicU64,
    confirmations: u64,
}

enum Failure {
    /// No valid response.
    Transport(String),
    /// The node's own error.
    Rpc { code: i64, message: String, data: Option<Value> },
}

#[derive(Deserialize)]
struct RpcResponse {
    /// Tells an absent `result` from `null`, which is a valid result.
    #[serde(default, deserialize_with = "present")]
    result: Option<Value>,
    error: Option<RpcError>,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

#[derive(Deserialize)]
struct RpcError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl Remote {
    pub fn new(urls: Vec<String>, confirmations: u64) -> Result<Self> {
        let client = reqwest::Client::builder()
            .timeout(REQUEST_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Error::Setup(format!("no HTTP client could be made: {error}")))?;
        Ok(Self { client, urls, current: AtomicUsize::new(0), next_id: AtomicU64::new(1), confirmations })
    }

    /// Tries the current URL, then the others.
    async fn ask<T: DeserializeOwned>(&self, method: &str, params: Value) -> Result<T, Failure> {
        let mut failure = Failure::Transport("no address is configured".into());
        for _ in 0..self.urls.len() {
            let at = self.current.load(Ordering::Relaxed);
            match self.post(&self.urls[at % self.urls.len()], method, &params).await {
                Err(Failure::Transport(why)) => {
                    // Compare-and-swap: of many requests that saw this URL fail, only the first one moves on.
                    let next = at.wrapping_add(1);
                    let _ = self.current.compare_exchange(at, next, Ordering::Relaxed, Ordering::Relaxed);
                    failure = Failure::Transport(why);
                }
                answered => return answered,
            }
        }
        Err(failure)
    }

    async fn post<T: DeserializeOwned>(&self, url: &str, method: &str, params: &Value) -> Result<T, Failure> {
        let lost = |error: reqwest::Error| Failure::Transport(error.without_url().to_string());
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let request = self.client.post(url).header("content-type", "application/json").body(body);
        let mut response = request.send().await.map_err(lost)?;
        let mut answer = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(lost)? {
            answer.extend_from_slice(&chunk);
            if answer.len() > MAX_RESPONSE_BYTES {
                return Err(Failure::Transport("the node's answer is too long".into()));
            }
        }
        let invalid =
            |what: &str| Failure::Transport(format!("the node's answer to {method} is invalid: {what}"));
        let status = response.status();
        // An overloaded node, or a proxy that lost its node; another URL may work.
        if matches!(status.as_u16(), 429 | 502..=504) {
            return Err(invalid(&format!("status {status}")));
        }
        let answer: RpcResponse =
            serde_json::from_slice(&answer).map_err(|_| invalid(&format!("no JSON-RPC, status {status}")))?;
        if let Some(RpcError { code, message, data }) = answer.error {
            return Err(Failure::Rpc { code, message, data });
        }
        let result = answer.result.ok_or_else(|| invalid(&format!("no JSON-RPC, status {status}")))?;
        serde_json::from_value(result).map_err(|error| invalid(&error.to_string()))
    }

    async fn request<T: DeserializeOwned>(&self, method: &str, params: Value) -> Result<T> {
        self.ask(method, params).await.map_err(Into::into)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Transport(why) => Self::Unreachable(why),
            Failure::Rpc { code, message, data } => {
                match data.as_ref().and_then(Value::as_str).and_then(|data| data.parse().ok()) {
                    Some(data) if code == 3 || message.contains("revert") => Self::Reverted(data),
                    _ => Self::Refused(message),
                }
            }
        }
    }
}

/// Interprets a node's error message about a transaction; every client words it differently.
fn sent(message: &str) -> Option<Sent> {
    let message = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if says(&[
        "underpriced",
        "less than block base fee",
        "fee too low",
        "feetoolow",
        "gas price too low",
        "gas price below",
    ]) {
        Some(Sent::Underpriced)
    } else if says(&[
        "already known",
        "already imported",
        "known transaction",
        "already exists",
        "alreadyknown",
        "nonce too low",
    ]) {
        Some(Sent::Known)
    } else if says(&["nonce too high", "nonce gap"]) {
        Some(Sent::Gap)
    } else {
        None
    }
}

impl Node for Remote {
    async fn chain_id(&self) -> Result<u64> {
        self.request::<U64>("eth_chainId", json!([])).await.map(|id| id.to())
    }

    async fn head(&self) -> Result<Block> {
        self.request("eth_getBlockByNumber", json!(["latest", false])).await
    }

    async fn block(&self, at: BlockId) -> Result<Option<Block>> {
        match at {
            BlockId::Number(number) => {
                self.request("eth_getBlockByNumber", json!([U64::from(number), false])).await
            }
            BlockId::Hash(hash) => self.request("eth_getBlockByHash", json!([hash, false])).await,
        }
    }

    async fn nonce(&self, account: Address) -> Result<u64> {
        self.request::<U64>("eth_getTransactionCount", json!([account, "latest"]))
            .await
            .map(|nonce| nonce.to())
    }

    async fn balance(&self, account: Address) -> Result<U256> {
        self.request("eth_getBalance", json!([account, "latest"])).await
    }

    async fn code(&self, address: Address) -> Result<Bytes> {
        self.request("eth_getCode", json!([address, "latest"])).await
    }

    async fn call(&self, from: Address, to: Address, data: Bytes) -> Result<Bytes> {
        self.request("eth_call", json!([{ "from": from, "to": to, "data": data }, "latest"])).await
    }

    async fn call_with_gas(&self, to: Address, data: Bytes, gas: u64) -> Result<Bytes> {
        let call = json!({ "from": Address::ZERO, "to": to, "data": data, "gas": U64::from(gas) });
        self.request("eth_call", json!([call, "latest"])).await
    }

    async fn fees(&self) -> Result<Fees> {
        let base = self.head().await?.base_fee;
        let tip = match self.ask::<U64>("eth_maxPriorityFeePerGas", json!([])).await {
            Ok(tip) => tip.to(),
            // Not every node has this method, and their errors differ.
            Err(Failure::Rpc { .. }) => DEFAULT_TIP,
            Err(failure) => return Err(failure.into()),
        };
        Ok(Fees { base, tip })
    }

    async fn send(&self, raw: &[u8]) -> Result<Sent> {
        let raw = Bytes::copy_from_slice(raw);
        match self.ask::<B256>("eth_sendRawTransaction", json!([raw])).await {
            Ok(_) => Ok(Sent::Accepted),
            Err(Failure::Rpc { message, .. }) => sent(&message).ok_or(Error::Refused(message)),
            Err(failure) => Err(failure.into()),
        }
    }

    async fn receipt(&self, hash: B256) -> Result<Option<Receipt>> {
        self.request("eth_getTransactionReceipt", json!([hash])).await
    }

    async fn transaction(&self, hash: B256) -> Result<Option<NodeTransaction>> {
        self.request("eth_getTransactionByHash", json!([hash])).await
    }

    async fn logs(&self, contracts: &[Address], from: u64, to: u64) -> Result<Vec<LoggedEvent>> {
        let filter = Filter::new().address(contracts.to_vec()).from_block(from).to_block(to);
        self.request("eth_getLogs", json!([filter])).await
    }

    fn confirmations(&self) -> u64 {
        self.confirmations
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    /// The URL of a server that always sends this response.
    fn serve(status: &'static str, body: &'static str) -> String {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, mut request) = (stream.unwrap(), Vec::new());
                while !request.ends_with(b"}") {
                    let mut some = [0; 1024];
                    match stream.read(&mut some) {
                        Ok(read @ 1..) => request.extend_from_slice(&some[..read]),
                        _ => break,
                    }
                }
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
            }
        });
        format!("http://{address}")
    }

    #[tokio::test]
    async fn response_without_result_is_an_error() {
        let gateway = serve("403 Forbidden", r#"{"message": "no such project"}"#);
        let node = serve("200 OK", r#"{"jsonrpc": "2.0", "id": 1, "result": null}"#);
        let alone = Remote::new(vec![gateway.clone()], 1).unwrap();
        assert!(matches!(alone.receipt(B256::ZERO).await, Err(Error::Unreachable(_))));
        let both = Remote::new(vec![gateway, node], 1).unwrap();
        assert!(both.receipt(B256::ZERO).await.unwrap().is_none(), "another address is asked");
    }

    #[test]
    fn error_messages_of_different_clients_are_understood() {
        for (words, meaning) in [
            ("already known", Some(Sent::Known)),
            ("AlreadyKnown", Some(Sent::Known)),
            ("transaction already imported", Some(Sent::Known)),
            ("nonce too low: next nonce 5, tx nonce 3", Some(Sent::Known)),
            ("replacement transaction underpriced", Some(Sent::Underpriced)),
            ("max fee per gas less than block base fee: address 0x…", Some(Sent::Underpriced)),
            ("Gas price below configured minimum gas price", Some(Sent::Underpriced)),
            ("nonce too high", Some(Sent::Gap)),
            ("insufficient funds for gas * price + value", None),
        ] {
            assert_eq!(sent(words), meaning, "{words}");
        }
    }
}
