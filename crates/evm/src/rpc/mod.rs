//! JSON-RPC 2.0, for reading: requests in, answers out. What the methods do is in [`methods`].

mod answers;
mod calls;
mod error;
mod methods;
mod params;

use std::collections::HashMap;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::Chain;
use error::RpcError;
use methods::Session;
use params::Params;

/// Requests in one batch.
const BATCH_CAP: usize = 100;
/// Bytes of answers to one batch. Those after that many are errors.
const ANSWERS_CAP: usize = 32 << 20;

type RawObject<'b> = HashMap<String, &'b RawValue>;

pub(crate) fn answer(chain: &Chain, body: &[u8]) -> Vec<u8> {
    let Ok(parsed) = serde_json::from_slice::<&RawValue>(body) else {
        return error(None, &RpcError::parse()).into_bytes();
    };
    let mut session = Session::new(chain);
    // A list, or what is not one: then it is a single request, good or bad.
    match serde_json::from_str::<Vec<&RawValue>>(parsed.get()) {
        Ok(batch) => answer_batch(&mut session, &batch).into_bytes(),
        Err(_) => answer_one(&mut session, parsed).unwrap_or_default().into_bytes(),
    }
}

fn answer_batch(session: &mut Session<'_>, batch: &[&RawValue]) -> String {
    if batch.is_empty() {
        return error(None, &RpcError::request("the batch is empty"));
    }
    if batch.len() > BATCH_CAP {
        return error(None, &RpcError::request(format!("at most {BATCH_CAP} requests in a batch")));
    }
    let mut answers = String::new();
    for raw in batch {
        if let Some(answer) = answer_one(session, raw) {
            answers.push(if answers.is_empty() { '[' } else { ',' });
            answers.push_str(&answer);
        }
        if answers.len() > ANSWERS_CAP {
            session.exhaust();
        }
    }
    if !answers.is_empty() {
        answers.push(']');
    }
    answers
}

/// The answer to one request, unless it is a notification: nobody waits for the answer to that, and as nothing
/// can be changed here there is nothing to do either.
fn answer_one(session: &mut Session<'_>, raw: &RawValue) -> Option<String> {
    let request = match Request::parse(raw) {
        Ok(request) => request,
        Err((id, wrong)) => return Some(error(id, &wrong)),
    };
    let id = request.id?;
    let outcome = request.params.and_then(|params| session.run(&request.method, &Params::new(params)));
    Some(match outcome {
        Ok(result) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
        Err(wrong) => error(Some(id), &wrong),
    })
}

fn error(id: Option<&RawValue>, error: &RpcError) -> String {
    let id = id.map_or("null", RawValue::get);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.json())
}

struct Request<'b> {
    /// As it was written: numbers of any size come back unharmed.
    id: Option<&'b RawValue>,
    method: String,
    params: Result<Vec<Value>, RpcError>,
}

type Unanswerable<'b> = (Option<&'b RawValue>, RpcError);

impl<'b> Request<'b> {
    fn parse(raw: &'b RawValue) -> Result<Self, Unanswerable<'b>> {
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
            // Or nested so deeply that it is not read.
            Some(_) => Err(RpcError::params("params must be an array")),
        };
        Ok(Self { id, method, params })
    }
}
