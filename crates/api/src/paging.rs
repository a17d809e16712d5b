//! Lists: paged with `limit` and `cursor`, or complete. They are read in pieces of bounded size, and complete lists are
//! streamed, so that a list needs neither much memory nor a long transaction, however long its items are.

use std::sync::Arc;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_TYPE, LINK};
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt};
use portico_app::{Cursor, Page};
use portico_domain::{ErrorCode, FaultCode, ValidationError};
use serde::Serialize;
use tracing::{Instrument as _, Span};
use utoipa::ToSchema;
use utoipa::openapi::response::Response as Described;
use utoipa::openapi::schema::{ArrayBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};

use crate::cursor::QueryDigest;
use crate::input::{Param, Reader};
use crate::openapi::components::header;
use crate::operation::Context;
use crate::problem::{Problem, Result};
use crate::reply::{Output, Schemas, content, reference};

/// Items in the first read of a complete list. Most lists end here.
const FIRST_READ_ITEMS: usize = 64;
/// Items in the first read of a page; larger ones run off the async threads.
const FIRST_PAGE_READ_ITEMS: usize = 128;
/// Items in a read of a list whose items may be as long as a body.
const MAX_LONG_READ_ITEMS: usize = 8;
const MAX_READ_ITEMS: usize = 512;
/// What the items of a further read take, if they are as long as those before.
pub(crate) const PIECE_BYTES: usize = 64 * 1024;
/// A longer piece is read again with fewer items.
const MAX_PIECE_BYTES: usize = 2 * PIECE_BYTES;
/// A page of that length ends before its limit.
const MAX_PAGE_BYTES: usize = 1 << 20;
/// Buffer size per item; most need less.
const ITEM_BUFFER_BYTES: usize = 320;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Paging {
    limit: Option<usize>,
    after: Option<Cursor>,
    query: QueryDigest,
}

impl Paging {
    pub(crate) fn read(from: &mut Reader<'_>) -> Self {
        let limit = from.query::<Limit<1000>>(
            "limit",
            "At most so many, fewer if they are long; the `Link` header leads to the next ones",
        );
        let (query, after) = QueryDigest::read(from);
        Self { limit: limit.map(|limit| limit.0), after, query }
    }
}

pub(crate) struct Limit<const MAX: usize>(pub(crate) usize);

impl<const MAX: usize> Param for Limit<MAX> {
    fn schema() -> RefOr<Schema> {
        let integer = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer));
        integer.minimum(Some(1)).maximum(Some(utoipa::Number::from(MAX))).into()
    }
    fn from_text(text: &str) -> std::result::Result<Self, ValidationError> {
        match text.parse() {
            Ok(limit) if (1..=MAX).contains(&limit) => Ok(Self(limit)),
            _ => {
                let message = format!("must be a whole number from 1 to {MAX}");
                let max = i64::try_from(MAX).unwrap_or(i64::MAX);
                Err(ValidationError::new(FaultCode::OutOfRange, message).between(1, max))
            }
        }
    }
}

/// Reads the items after a cursor.
type Fetch<T> = Arc<dyn Fn(Option<Cursor>, usize) -> BoxFuture<'static, Result<Page<T>>> + Send + Sync>;

/// Rendered items, with commas between them.
#[derive(Debug, Default)]
struct Piece {
    bytes: Vec<u8>,
    items: usize,
    next: Option<Cursor>,
    /// Where a client goes on instead, because a row before `next` may still appear.
    held_at: Option<Cursor>,
}

impl Piece {
    /// Reads at most `count` items; fewer if they are long.
    async fn read<T: Serialize>(fetch: &Fetch<T>, after: Option<Cursor>, mut count: usize) -> Result<Self> {
        loop {
            let page = fetch(after, count).await?;
            let mut bytes = Vec::with_capacity(ITEM_BUFFER_BYTES * page.items.len() + 2);
            write_items(&mut bytes, &page.items);
            let held_at = page.next_to_follow().filter(|follow| Some(*follow) < page.next);
            let piece = Self { bytes, items: page.items.len(), next: page.next, held_at };
            if piece.bytes.len() <= MAX_PIECE_BYTES || piece.items <= 1 {
                return Ok(piece);
            }
            count = piece.fitting();
        }
    }

    /// How many items of this length fill a piece; an empty piece gives no estimate.
    fn fitting(&self) -> usize {
        if self.items == 0 {
            return FIRST_READ_ITEMS;
        }
        (self.items * PIECE_BYTES / self.bytes.len().max(1)).clamp(1, MAX_READ_ITEMS)
    }

    /// Adds up to `limit` items, unless they become too long.
    async fn extend<T: Serialize>(&mut self, fetch: &Fetch<T>, limit: usize) -> Result<()> {
        while self.items < limit && self.bytes.len() < MAX_PAGE_BYTES {
            let Some(after) = self.next else { return Ok(()) };
            let more = Self::read(fetch, Some(after), self.fitting().min(limit - self.items)).await?;
            if self.items > 0 && more.items > 0 {
                self.bytes.push(b',');
            }
            self.bytes.extend_from_slice(&more.bytes);
            self.items += more.items;
            self.next = more.next;
            self.held_at = self.held_at.into_iter().chain(more.held_at).min();
        }
        Ok(())
    }

    /// Where a client goes on that came here with `after`; never before that.
    fn next_to_follow(&self, after: Option<Cursor>) -> Option<Cursor> {
        let next = self.next?;
        Some(self.held_at.map_or(next, |held| next.min(held)).max(after.unwrap_or(Cursor::START)))
    }
}

/// The response is a bare array.
pub(crate) struct PagedResponse<T> {
    first: Piece,
    /// If the list is complete.
    fetch: Option<Fetch<T>>,
    link: Option<HeaderValue>,
    /// Whether this is not the first page.
    is_continuation: bool,
}

impl<T: Serialize + Send + 'static> PagedResponse<T> {
    /// Reads the requested page, or the beginning of the complete list. `query` selects the list; `fetch` reads a
    /// part of it.
    pub(crate) async fn read<Q, F>(
        cx: Context,
        query: Q,
        paging: Paging,
        fetch: impl Fn(Arc<Context>, Arc<Q>, Option<Cursor>, usize) -> F + Send + Sync + 'static,
    ) -> Result<Self>
    where
        Q: Send + Sync + 'static,
        F: Future<Output = portico_app::Result<Page<T>>> + Send + 'static,
    {
        let uri = cx.uri.clone();
        let (cx, query) = (Arc::new(cx), Arc::new(query));
        let fetch: Fetch<T> = Arc::new(move |after, limit| {
            let page = fetch(cx.clone(), query.clone(), after, limit);
            Box::pin(async { page.await.map_err(Problem::from) })
        });
        let count = paging.limit.map_or(FIRST_READ_ITEMS, |limit| limit.min(FIRST_PAGE_READ_ITEMS));
        let mut first = Piece::read(&fetch, paging.after, count).await?;
        let mut link = None;
        if let Some(limit) = paging.limit {
            first.extend(&fetch, limit).await?;
            link = first.next_to_follow(paging.after).and_then(|next| paging.query.next_link(&uri, next));
        }
        let is_streamed = paging.limit.is_none() && first.next.is_some();
        let fetch = Some(fetch).filter(|_| is_streamed);
        Ok(Self { first, fetch, link, is_continuation: paging.after.is_some() })
    }

    /// The same for items that may be as long as a body: every read is short, because how long the first ones are says
    /// nothing about the others.
    pub(crate) async fn read_long<Q, F>(
        cx: Context,
        query: Q,
        paging: Paging,
        fetch: impl Fn(Arc<Context>, Arc<Q>, Option<Cursor>, usize) -> F + Send + Sync + 'static,
    ) -> Result<Self>
    where
        Q: Send + Sync + 'static,
        F: Future<Output = portico_app::Result<Page<T>>> + Send + 'static,
    {
        let fetch =
            move |cx, query, after, limit: usize| fetch(cx, query, after, limit.min(MAX_LONG_READ_ITEMS));
        Self::read(cx, query, paging, fetch).await
    }

    /// For lists that the specification answers with 404 when they are empty. A page after the last one is empty and
    /// not a 404.
    pub(crate) fn or_not_found(self, code: ErrorCode) -> Result<Self> {
        if self.first.items == 0 && !self.is_continuation { Err(code.into()) } else { Ok(self) }
    }

    fn into_response(self) -> Response {
        let mut body = Vec::with_capacity(self.first.bytes.len() + 2);
        body.push(b'[');
        body.extend_from_slice(&self.first.bytes);
        let body = match self.fetch {
            Some(fetch) => {
                let begin = futures_util::stream::once(std::future::ready(Ok(body.into())));
                Body::from_stream(begin.chain(remaining_items(fetch, &self.first)))
            }
            None => {
                body.push(b']');
                Body::from(body)
            }
        };
        let mut response = Response::new(body);
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(link) = self.link {
            response.headers_mut().insert(LINK, link);
        }
        response
    }
}

impl<T: Serialize + ToSchema + Send + 'static> Output for PagedResponse<T> {
    fn describe(about: &str, schemas: &mut Schemas) -> Described {
        let array = ArrayBuilder::new().items(reference::<T>(schemas));
        let mut described = content(about, "application/json", array.into());
        described.headers.extend([header("Link")]);
        described
    }
    fn respond(self) -> Response {
        self.into_response()
    }
}

fn write_items<T: Serialize>(to: &mut Vec<u8>, items: &[T]) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            to.push(b',');
        }
        // Writing to memory cannot fail, and wire types always serialize.
        let _ = serde_json::to_writer(&mut *to, item);
    }
}

/// The array after its first piece. A failure breaks the connection, so that no client takes a part for the whole.
fn remaining_items<T: Serialize + Send + 'static>(
    fetch: Fetch<T>,
    first: &Piece,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send + use<T> {
    let begin = first.next.map(|next| (next, first.fitting(), first.items > 0));
    let span = Span::current();
    futures_util::stream::try_unfold(begin, move |at| {
        let fetch = fetch.clone();
        let read = async move {
            let Some((after, count, has_items)) = at else { return Ok(None) };
            let piece = Piece::read(&fetch, Some(after), count).await.map_err(|problem| {
                tracing::error!(cause = problem.cause, code = %problem.code, "a streamed list failed");
                std::io::Error::other("the streamed list failed")
            })?;
            let next = piece.next.map(|next| (next, piece.fitting(), has_items || piece.items > 0));
            let mut bytes = Vec::with_capacity(piece.bytes.len() + 2);
            if has_items && piece.items > 0 {
                bytes.push(b',');
            }
            bytes.extend_from_slice(&piece.bytes);
            if next.is_none() {
                bytes.push(b']');
            }
            Ok(Some((Bytes::from(bytes), next)))
        };
        read.instrument(span.clone())
    })
}

#[cfg(test)]
mod tests;
