//! Bounds the memory of long responses that clients have not taken yet: beyond it, further ones are rejected.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use portico_domain::ErrorCode;

use crate::Service;
use crate::metrics::HeldBytes;
use crate::paging::PIECE_BYTES;
use crate::problem::Problem;
use crate::reply::SharedBody;

/// Responses up to this length are not counted.
const SHORT_RESPONSE_BYTES: usize = 16 * 1024;
/// What a streamed response holds: a piece that is being sent, and the next one.
const STREAM_RESERVED_BYTES: usize = 2 * PIECE_BYTES;

pub(super) async fn hold(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let response = next.run(request).await;
    let bytes = match response.body().size_hint().exact() {
        Some(bytes) => usize::try_from(bytes).unwrap_or(usize::MAX),
        None => STREAM_RESERVED_BYTES,
    };
    if bytes <= SHORT_RESPONSE_BYTES || response.extensions().get::<SharedBody>().is_some() {
        return response;
    }
    match service.metrics.hold_response(bytes, service.limits.response_bytes) {
        Some(held) => response.map(|body| {
            let is_streamed = body.size_hint().exact().is_none();
            Body::new(HeldBody { body, held: Some(held), is_streamed, service })
        }),
        None => {
            service.metrics.shed();
            let detail = "too many long responses are being sent: try again soon, or ask for shorter ones";
            let cause = Some("memory for responses".to_owned());
            Problem { cause, ..Problem::new(ErrorCode::Unavailable, detail) }.into_response()
        }
    }
}

/// A body whose memory is counted until the connection has written it.
struct HeldBody {
    body: Body,
    held: Option<HeldBytes>,
    is_streamed: bool,
    service: Arc<Service>,
}

impl HeldBody {
    fn hold(&mut self, bytes: Bytes) -> Result<Bytes, axum::Error> {
        if !self.is_streamed {
            // It is the only frame.
            return Ok(Bytes::from_owner(HeldPiece { bytes, _held: self.held.take() }));
        }
        if bytes.len() <= STREAM_RESERVED_BYTES {
            return Ok(bytes);
        }
        let held = self.service.metrics.hold_response(bytes.len(), self.service.limits.response_bytes);
        let held = held.ok_or_else(|| axum::Error::new("no memory for a long item of a response"))?;
        Ok(Bytes::from_owner(HeldPiece { bytes, _held: Some(held) }))
    }
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(frame.map(|frame| match frame?.into_data() {
            Ok(bytes) => self.hold(bytes).map(Frame::data),
            Err(other) => Ok(other),
        }))
    }
    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

struct HeldPiece {
    bytes: Bytes,
    _held: Option<HeldBytes>,
}

impl AsRef<[u8]> for HeldPiece {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
