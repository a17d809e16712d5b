//! Lists: paged with `limit` and `cursor`, or complete. Complete lists are streamed in short reads, so that they need
//! neither much memory nor a long transaction.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, LINK};
use axum::http::{HeaderValue, Uri};
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{Stream, StreamExt};
use portico_app::{Cursor, Page};
use portico_domain::{ErrorCode, ValidationError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::response::Response as Described;
use utoipa::openapi::schema::{ArrayBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{HeaderBuilder, ObjectBuilder, RefOr};

use crate::input::{Param, Reader};
use crate::operation::Context;
use crate::problem::{Problem, Result};
use crate::reply::{Output, Schemas, content, reference};

/// Items in the first read of a complete list. Most lists end here.
const FIRST_READ_ITEMS: usize = 64;
/// Items in every further read.
const NEXT_READ_ITEMS: usize = 512;
/// Buffer size per item; most need less.
const ITEM_BUFFER_BYTES: usize = 320;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Paging {
    limit: Option<usize>,
    after: Option<Cursor>,
}

impl Paging {
    pub(crate) fn read(from: &mut Reader<'_>) -> Self {
        let limit =
            from.query::<Limit<1000>>("limit", "At most so many; the `Link` header leads to the next ones");
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
            _ => Err(ValidationError::new("out_of_range", format!("must be a whole number from 1 to {MAX}"))),
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
        let fault = || ValidationError::new("not_a_cursor", "must be a cursor from a `Link` header");
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

/// The response is a bare array.
pub(crate) struct PagedResponse<T> {
    first: Page<T>,
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
        let (cx, query) = (Arc::new(cx), Arc::new(query));
        let limit = paging.limit.unwrap_or(FIRST_READ_ITEMS);
        let first = fetch(cx.clone(), query.clone(), paging.after, limit).await?;
        let is_continuation = paging.after.is_some();
        let mut this = Self { first, fetch: None, link: None, is_continuation };
        let Some(next) = this.first.next else { return Ok(this) };
        match paging.limit {
            Some(_) => this.link = next_link(&cx.uri, next),
            None => {
                let fetch: Fetch<T> = Arc::new(move |after, limit| {
                    let page = fetch(cx.clone(), query.clone(), after, limit);
                    Box::pin(async { page.await.map_err(Problem::from) })
                });
                this.fetch = Some(fetch);
            }
        }
        Ok(this)
    }

    /// For lists that the specification answers with 404 when they are empty. A page after the last one is empty and
    /// not a 404.
    pub(crate) fn or_not_found(self, code: ErrorCode) -> Result<Self> {
        if self.first.items.is_empty() && !self.is_continuation { Err(code.into()) } else { Ok(self) }
    }

    fn into_response(self) -> Response {
        let mut head = Vec::with_capacity(ITEM_BUFFER_BYTES * self.first.items.len() + 2);
        head.push(b'[');
        write_items(&mut head, &self.first.items, true);
        let body = match (self.fetch, self.first.next) {
            (Some(fetch), Some(next)) => {
                let head = futures_util::stream::once(std::future::ready(Ok(head.into())));
                Body::from_stream(head.chain(remaining_items(fetch, next)))
            }
            _ => {
                head.push(b']');
                Body::from(head)
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
        let link = HeaderBuilder::new()
            .schema(Some(ObjectBuilder::new().schema_type(SchemaType::Type(Type::String))))
            .description(Some("With `limit`: the next page, `<…>; rel=\"next\"`, if there is one"))
            .build();
        let mut described = content(about, "application/json", array.into());
        described.headers.insert("Link".into(), link.into());
        described
    }
    fn respond(self) -> Response {
        self.into_response()
    }
}

fn write_items<T: Serialize>(to: &mut Vec<u8>, items: &[T], first: bool) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 || !first {
            to.push(b',');
        }
        // Writing to memory cannot fail, and wire types always serialize.
        let _ = serde_json::to_writer(&mut *to, item);
    }
}

/// The array after its first read. A failure breaks the connection, so that no client takes a part for the whole.
fn remaining_items<T: Serialize + Send + 'static>(
    fetch: Fetch<T>,
    next: Cursor,
) -> impl Stream<Item = std::io::Result<Bytes>> + Send {
    futures_util::stream::try_unfold(Some(next), move |next| {
        let page = next.map(|after| fetch(Some(after), NEXT_READ_ITEMS));
        async move {
            let Some(page) = page else { return Ok(None) };
            let page = page.await.map_err(|problem| {
                tracing::error!(cause = problem.cause, code = %problem.code, "a streamed list failed");
                std::io::Error::other("the streamed list failed")
            })?;
            let mut piece = Vec::with_capacity(ITEM_BUFFER_BYTES * page.items.len() + 1);
            write_items(&mut piece, &page.items, false);
            if page.next.is_none() {
                piece.push(b']');
            }
            Ok(Some((Bytes::from(piece), page.next)))
        }
    })
}
