//! Assigns every request an id for its response and its log line.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

static HEADER: HeaderName = HeaderName::from_static("x-request-id");

#[derive(Debug, Clone)]
pub(super) struct RequestId(HeaderValue);

impl RequestId {
    /// The id that [`assign`] set.
    pub(super) fn of(request: &Request) -> Self {
        request.extensions().get().cloned().unwrap_or_else(Self::new)
    }

    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        static START: LazyLock<u64> = LazyLock::new(|| {
            use std::hash::{BuildHasher, RandomState};
            RandomState::new().hash_one(0_u8)
        });
        let number = START.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        Self(HeaderValue::try_from(format!("{number:016x}")).unwrap_or(HeaderValue::from_static("")))
    }

    pub(super) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or("")
    }
}

/// Keeps the caller's id if it is short and plain.
pub(super) async fn assign(mut request: Request, next: Next) -> Response {
    let is_plain = |id: &&HeaderValue| {
        (1..=64).contains(&id.len())
            && id.as_bytes().iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
    };
    let id = match request.headers().get(&HEADER).filter(is_plain) {
        Some(id) => RequestId(id.clone()),
        None => RequestId::new(),
    };
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).await;
    response.headers_mut().insert(HEADER.clone(), id.0);
    response
}
