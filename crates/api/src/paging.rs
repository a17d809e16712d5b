//! Lists: paged with `limit` and `cursor`, or complete. They are read in pieces of bounded size, and complete lists are
//! streamed, so that a list needs neither much memory nor a long transaction, however long its items are.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LINK};
use axum::http::{HeaderValue, Uri};
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt};
use portico_app::{Cursor, Page};
use portico_domain::{ErrorCode, FaultCode, ValidationError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::response::Response as Described;
use utoipa::openapi::schema::{ArrayBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};

use crate::input::{Param, Reader};
use crate::openapi::header;
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
}

impl Paging {
    pub(crate) fn read(from: &mut Reader<'_>) -> Self {
        let limit = from.query::<Limit<1000>>(
            "limit",
            "At most so many, fewer if they are long; the `Link` header leads to the next ones",
        );
        let after =
            from.query::<After>("cursor", "Where to go on, from the `Link` header of the page before");
        Self { limit: limit.map(|limit| limit.0), after: after.map(|after| after.0) }
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

struct After(Cursor);
impl Param for After {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        text.pattern(Some("^[0-9a-f]{32}$")).into()
    }
    fn from_text(text: &str) -> std::result::Result<Self, ValidationError> {
        let fault = || ValidationError::new(FaultCode::NotACursor, "must be a cursor from a `Link` header");
        let is_lower_case = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        let half = |digits: Option<&str>| {
            let bytes = digits.filter(|_| text.len() == 32 && is_lower_case);
            bytes.and_then(|digits| hex::decode_to_array(digits).ok()).map(i64::from_be_bytes)
        };
        let key = half(text.get(..16)).ok_or_else(fault)?;
        let seq = half(text.get(16..)).ok_or_else(fault)?;
        Ok(Self(Cursor { key, seq }))
    }
}

fn cursor_digits(cursor: Cursor) -> String {
    hex::encode([cursor.key.to_be_bytes(), cursor.seq.to_be_bytes()].concat())
}

/// The request's URI with the cursor of the next page.
fn next_link(uri: &Uri, next: Cursor) -> Option<HeaderValue> {
    let (path, query) = (uri.path(), uri.query().unwrap_or(""));
    let mut link = Vec::with_capacity(path.len() + query.len() + 64);
    link.push(b'<');
    link.extend_from_slice(path.as_bytes());
    link.push(b'?');
    for part in query.split('&').filter(|part| !part.is_empty() && !part.starts_with("cursor=")) {
        link.extend_from_slice(part.as_bytes());
        link.push(b'&');
    }
    link.extend_from_slice(b"cursor=");
    link.extend_from_slice(cursor_digits(next).as_bytes());
    link.extend_from_slice(b">; rel=\"next\"");
    HeaderValue::try_from(link).ok()
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
            link = first.next_to_follow(paging.after).and_then(|next| next_link(&uri, next));
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
    futures_util::stream::try_unfold(begin, move |at| {
        let fetch = fetch.clone();
        async move {
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
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of these texts. Records how many items each read asks for.
    fn list(texts: Vec<String>) -> (Fetch<String>, Arc<std::sync::Mutex<Vec<usize>>>) {
        let reads = Arc::new(std::sync::Mutex::new(Vec::new()));
        let record = reads.clone();
        let fetch: Fetch<String> = Arc::new(move |after, limit| {
            record.lock().unwrap().push(limit);
            let begin = after.map_or(0, |after| usize::try_from(after.seq).unwrap());
            let end = (begin + limit).min(texts.len());
            let seq = i64::try_from(end).unwrap();
            let next = (end < texts.len()).then_some(Cursor { key: seq, seq });
            let page = Page { items: texts[begin..end].to_vec(), next, settled: None };
            Box::pin(async { Ok(page) })
        });
        (fetch, reads)
    }

    async fn streamed(fetch: Fetch<String>) -> (String, usize) {
        let first = Piece::read(&fetch, None, FIRST_READ_ITEMS).await.unwrap();
        let mut longest = first.bytes.len();
        let mut all = b"[".to_vec();
        all.extend_from_slice(&first.bytes);
        let mut rest = std::pin::pin!(remaining_items(fetch, &first));
        while let Some(piece) = rest.next().await {
            let piece = piece.unwrap();
            longest = longest.max(piece.len());
            all.extend_from_slice(&piece);
        }
        (String::from_utf8(all).unwrap(), longest)
    }

    #[tokio::test]
    async fn pieces_are_bounded_by_bytes() {
        // Short items, then long ones: the first guess is wrong.
        let texts: Vec<String> =
            (0..3000).map(|number| "x".repeat(if number < 1000 { 10 } else { 5000 })).collect();
        let (fetch, reads) = list(texts.clone());
        let (all, longest) = streamed(fetch).await;
        assert_eq!(serde_json::from_str::<Vec<String>>(&all).unwrap(), texts);
        assert!(longest <= MAX_PIECE_BYTES + 2, "{longest}");
        assert!(reads.lock().unwrap().iter().all(|&count| count <= MAX_READ_ITEMS));
    }

    /// Rows 1 to 100; those after `settled` may still get neighbours.
    fn unsettled(settled: Option<i64>) -> Fetch<i64> {
        Arc::new(move |after, limit| {
            let begin = after.map_or(0, |after| after.seq);
            let end = (begin + i64::try_from(limit).unwrap()).min(100);
            let next = (end < 100).then_some(Cursor { key: end, seq: end });
            Box::pin(async move { Ok(Page { items: (begin + 1..=end).collect(), next, settled }) })
        })
    }

    async fn cursor_after(fetch: &Fetch<i64>, after: Option<i64>, limit: usize) -> Option<i64> {
        let after = after.map(|seq| Cursor { key: seq, seq });
        let mut page = Piece::read(fetch, after, 4).await.unwrap();
        page.extend(fetch, limit).await.unwrap();
        assert_eq!(page.items, limit.min(100), "what is not settled is shown");
        page.next_to_follow(after).map(|next| next.seq)
    }

    /// A page is read in several pieces, each of which may say that an earlier row can still appear.
    #[tokio::test]
    async fn cursor_does_not_pass_rows_that_may_still_appear() {
        assert_eq!(cursor_after(&unsettled(None), None, 10).await, Some(10));
        assert_eq!(cursor_after(&unsettled(Some(50)), None, 10).await, Some(10));
        for settled in [2, 4, 7, 10] {
            let cursor = cursor_after(&unsettled(Some(settled)), None, 10).await;
            assert_eq!(cursor, Some(settled), "the rows after it are read again");
        }
        assert_eq!(cursor_after(&unsettled(Some(2)), Some(5), 10).await, Some(5), "never back");
        assert_eq!(cursor_after(&unsettled(Some(2)), None, 100).await, None, "the last page");
    }

    #[tokio::test]
    async fn pieces_without_items_leave_no_comma() {
        // Of 300 rows only every hundredth may be seen.
        let fetch: Fetch<u32> = Arc::new(|after, limit| {
            let begin = after.map_or(0, |after| u32::try_from(after.seq).unwrap());
            let end = (begin + u32::try_from(limit.min(10)).unwrap()).min(300);
            let seq = i64::from(end);
            let next = (end < 300).then_some(Cursor { key: seq, seq });
            let items = (begin..end).filter(|row| row % 100 == 99).collect();
            Box::pin(async move { Ok(Page { items, next, settled: None }) })
        });
        let (mut page, expected) = (Piece::read(&fetch, None, 2).await.unwrap(), vec![99, 199, 299]);
        page.extend(&fetch, 3).await.unwrap();
        let text = String::from_utf8([b"[", &page.bytes[..], b"]"].concat()).unwrap();
        assert_eq!(serde_json::from_str::<Vec<u32>>(&text).unwrap(), expected);
        let first = Piece::read(&fetch, None, FIRST_READ_ITEMS).await.unwrap();
        let mut all = b"[".to_vec();
        let mut rest = std::pin::pin!(remaining_items(fetch, &first));
        while let Some(piece) = rest.next().await {
            all.extend_from_slice(&piece.unwrap());
        }
        assert_eq!(serde_json::from_slice::<Vec<u32>>(&all).unwrap(), expected);
    }

    #[tokio::test]
    async fn item_longer_than_a_piece_is_sent_alone() {
        let texts = vec!["x".repeat(3 * MAX_PIECE_BYTES); 3];
        let (fetch, _) = list(texts.clone());
        let (all, longest) = streamed(fetch).await;
        assert_eq!(serde_json::from_str::<Vec<String>>(&all).unwrap(), texts);
        assert!(longest < 4 * MAX_PIECE_BYTES, "{longest}");
    }

    #[tokio::test]
    async fn page_has_its_limit_unless_it_is_too_long() {
        let page = async |length: usize| {
            let (fetch, _) = list(vec!["x".repeat(length); 2000]);
            let mut piece = Piece::read(&fetch, None, FIRST_PAGE_READ_ITEMS).await.unwrap();
            piece.extend(&fetch, 1000).await.unwrap();
            let items: Vec<String> =
                serde_json::from_slice(&[&b"["[..], &piece.bytes, b"]"].concat()).unwrap();
            assert_eq!(items.len(), piece.items);
            assert_eq!(piece.next.map(|next| next.seq), i64::try_from(items.len()).ok());
            (piece.items, piece.bytes.len())
        };
        assert_eq!(page(10).await.0, 1000);
        let (items, bytes) = page(10_000).await;
        assert!((100..=120).contains(&items) && bytes < MAX_PAGE_BYTES + MAX_PIECE_BYTES, "{items}, {bytes}");
    }
}
