//! JSON-RPC errors and their codes.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::error::{CallError, ChainError};
use crate::logs::LogsError;

#[derive(Debug)]
pub(super) struct RpcError {
    code: i32,
    message: Cow<'static, str>,
    data: Option<Value>,
}

type Message = Cow<'static, str>;

impl RpcError {
    fn new(code: i32, message: impl Into<Message>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn parse() -> Self {
        Self::new(-32700, "parse error: the body is not JSON")
    }

    /// JSON, but not a valid request.
    pub(super) fn request(message: impl Into<Message>) -> Self {
        Self::new(-32600, message)
    }

    pub(super) fn method(message: impl Into<Message>) -> Self {
        Self::new(-32601, message)
    }

    pub(super) fn params(message: impl Into<Message>) -> Self {
        Self::new(-32602, message)
    }

    /// A valid request that cannot be served.
    pub(super) fn server(message: impl Into<Message>) -> Self {
        Self::new(-32000, message)
    }

    pub(super) fn json(&self) -> Value {
        let mut json = json!({ "code": self.code, "message": self.message });
        if let Some(data) = &self.data {
            json["data"] = data.clone();
        }
        json
    }
}

impl From<ChainError> for RpcError {
    fn from(error: ChainError) -> Self {
        tracing::error!(%error, "a request to the chain failed");
        Self::new(-32603, "internal error")
    }
}

impl From<CallError> for RpcError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Chain(error) => error.into(),
            CallError::Reverted(ref data) => {
                Self { data: Some(json!(data)), ..Self::new(3, error.to_string()) }
            }
            CallError::Halted(_) | CallError::Refused(_) => Self::server(error.to_string()),
        }
    }
}

impl From<LogsError> for RpcError {
    fn from(error: LogsError) -> Self {
        match error {
            LogsError::Chain(error) => error.into(),
            LogsError::UnknownBlock(_) => Self::server("block not found"),
            // Other nodes return -32005 here, which makes clients retry.
            error => Self::params(error.to_string()),
        }
    }
}
