//! JSON-RPC 2.0, read-only: parses requests and writes responses. [`methods`] has the methods.

mod calls;
mod encode;
mod error;
mod filters;
mod methods;
mod params;
mod polling;
mod session;

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::Chain;
use error::RpcError;
pub(crate) use filters::Filters;
use params::Params;
use session::Session;

const MAX_BATCH_REQUESTS: usize = 100;
/// Requests after that many bytes of responses fail.
const MAX_BATCH_RESPONSE_BYTES: usize = 32 << 20;

type RawObject<'b> = HashMap<String, &'b RawValue>;

impl Chain {
    /// Serves a JSON-RPC 2.0 request or batch, read-only. The response to notifications is empty. The caller limits
    /// the length of the body.
    pub fn rpc(&self, body: &[u8]) -> Vec<u8> {
        self.rpc_at(body, 0)
    }

    /// The same, but calls on the latest block see `now` if that is later than the block, in seconds since 1970.
    pub fn rpc_at(&self, body: &[u8], now: u64) -> Vec<u8> {
        handle(self, body, now)
    }
}

fn handle(chain: &Chain, body: &[u8], now: u64) -> Vec<u8> {
    let Ok(parsed) = serde_json::from_slice::<&RawValue>(body) else {
        return error(None, &RpcError::parse()).into_bytes();
    };
    let mut session = Session::new(chain, now);
    // Anything but an array is a single request, valid or not.
    match serde_json::from_str::<Vec<&RawValue>>(parsed.get()) {
        Ok(batch) => handle_batch(&mut session, &batch).into_bytes(),
        Err(_) => handle_request(&mut session, parsed).unwrap_or_default().into_bytes(),
    }
}

fn handle_batch(session: &mut Session<'_>, batch: &[&RawValue]) -> String {
    if batch.is_empty() {
        return error(None, &RpcError::request("the batch is empty"));
    }
    if batch.len() > MAX_BATCH_REQUESTS {
        return error(None, &RpcError::request(format!("at most {MAX_BATCH_REQUESTS} requests in a batch")));
    }
    let mut responses = String::new();
    for raw in batch {
        if let Some(response) = handle_request(session, raw) {
            responses.push(if responses.is_empty() { '[' } else { ',' });
            responses.push_str(&response);
        }
        if responses.len() > MAX_BATCH_RESPONSE_BYTES {
            session.exhaust();
        }
    }
    if !responses.is_empty() {
        responses.push(']');
    }
    responses
}

/// The response to one request. A notification has none, and is not run: no method does anything
/// but answer, except for filters, which expire.
fn handle_request(session: &mut Session<'_>, raw: &RawValue) -> Option<String> {
    let request = match Request::parse(raw) {
        Ok(request) => request,
        Err((id, rejected)) => return Some(error(id, &rejected)),
    };
    let id = request.id?;
    let outcome = request.params.and_then(|params| session.run(&request.method, &Params::new(params)));
    Some(match outcome {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(failed) => error(Some(id), &failed),
    })
}

fn error(id: Option<&RawValue>, error: &RpcError) -> String {
    let id = id.map_or("null", RawValue::get);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.json())
}

struct Request<'b> {
    /// Raw, so that numbers of any size are echoed unchanged.
    id: Option<&'b RawValue>,
    method: String,
    params: Result<Vec<Value>, RpcError>,
}

type RejectedRequest<'b> = (Option<&'b RawValue>, RpcError);

impl<'b> Request<'b> {
    fn parse(raw: &'b RawValue) -> Result<Self, RejectedRequest<'b>> {
        let Ok(object) = serde_json::from_str::<RawObject<'b>>(raw.get()) else {
            return Err((None, RpcError::request("a request is an object")));
        };
        let id = object.get("id").copied();
        if id.is_some_and(|id| !matches!(id.get().as_bytes()[0], b'"' | b'-' | b'0'..=b'9' | b'n')) {
            return Err((None, RpcError::request("id must be a string, a number or null")));
        }
        let text = |name| object.get(name).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        if text("jsonrpc").as_deref() != Some("2.0") {
            return Err((id, RpcError::request(r#"jsonrpc must be "2.0""#)));
        }
        let Some(method) = text("method") else {
            return Err((id, RpcError::request("method must be a string")));
        };
        let params = match object.get("params").map(|raw| serde_json::from_str::<Value>(raw.get())) {
            None | Some(Ok(Value::Null)) => Ok(Vec::new()),
            Some(Ok(Value::Array(params))) => Ok(params),
            // Or nested too deeply to parse.
            Some(_) => Err(RpcError::params("params must be an array")),
        };
        Ok(Self { id, method, params })
    }
}
