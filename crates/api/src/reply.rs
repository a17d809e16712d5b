//! Response types of operations: status, content type and schema.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use serde::Serialize;
use strum::VariantNames;
use utoipa::ToSchema;
use utoipa::openapi::response::Response as Described;
use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, Schema, SchemaType, Type};
use utoipa::openapi::{ContentBuilder, Object, ObjectBuilder, Ref, RefOr, ResponseBuilder};

pub(crate) use crate::openapi::components::Schemas;
use crate::openapi::components::header;

pub(crate) trait Output: Send + 'static {
    /// The status of success.
    const STATUS: StatusCode = StatusCode::OK;
    fn describe(about: &str, schemas: &mut Schemas) -> Described;
    fn respond(self) -> Response;
}

pub(crate) fn reference<T: ToSchema>(schemas: &mut Schemas) -> RefOr<Schema> {
    schemas.push((T::name().into(), T::schema()));
    T::schemas(schemas);
    Ref::from_schema_name(T::name()).into()
}

pub(crate) fn content(about: &str, content_type: &str, schema: RefOr<Schema>) -> Described {
    ResponseBuilder::new()
        .description(about)
        .content(content_type, ContentBuilder::new().schema(Some(schema)).build())
        .build()
}

/// The names of an enum whose values are sent by name.
pub(crate) fn names<T: VariantNames>() -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(T::VARIANTS.iter().copied())).build()
}

/// Marks a response with a shared static body, which uses no memory per response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedBody;

/// A body that is part of the binary.
pub(crate) fn shared(bytes: &'static [u8]) -> Response {
    let mut response = Response::new(Body::from(bytes));
    response.extensions_mut().insert(SharedBody);
    response
}

fn with_content_type(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn json(status: StatusCode, value: &impl Serialize) -> Response {
    with_content_type(status, "application/json", serde_json::to_vec(value).unwrap_or_default())
}

pub(crate) struct Json<T>(pub(crate) T);

impl<T: Serialize + ToSchema + Send + 'static> Output for Json<T> {
    fn describe(about: &str, schemas: &mut Schemas) -> Described {
        content(about, "application/json", reference::<T>(schemas))
    }
    fn respond(self) -> Response {
        json(Self::STATUS, &self.0)
    }
}

/// A short list. `Json<Vec<T>>` would give every such schema the name `Vec`.
pub(crate) struct JsonArray<T>(pub(crate) Vec<T>);

impl<T> JsonArray<T> {
    pub(crate) fn at_most_one(one: Option<impl Into<T>>) -> Self {
        Self(one.map(Into::into).into_iter().collect())
    }
}

impl<T: Serialize + ToSchema + Send + 'static> Output for JsonArray<T> {
    fn describe(about: &str, schemas: &mut Schemas) -> Described {
        let array = ArrayBuilder::new().items(reference::<T>(schemas));
        content(about, "application/json", array.into())
    }
    fn respond(self) -> Response {
        json(Self::STATUS, &self.0)
    }
}

/// Names in `Location` where what was created can be read.
pub(crate) struct Created<T> {
    body: T,
    location: String,
}

impl<T> Created<T> {
    /// The path's segments can be any text.
    pub(crate) fn at(path: &[&str], body: T) -> Self {
        let mut location = String::new();
        for segment in path {
            location.push('/');
            for byte in segment.bytes() {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                    location.push(char::from(byte));
                } else {
                    let _ = write!(location, "%{byte:02X}");
                }
            }
        }
        Self { body, location }
    }
}

impl<T: Serialize + ToSchema + Send + 'static> Output for Created<T> {
    const STATUS: StatusCode = StatusCode::CREATED;
    fn describe(about: &str, schemas: &mut Schemas) -> Described {
        content(about, "application/json", reference::<T>(schemas))
    }
    fn respond(self) -> Response {
        let mut response = json(Self::STATUS, &self.body);
        if let Ok(location) = HeaderValue::try_from(self.location) {
            response.headers_mut().insert(LOCATION, location);
        }
        response
    }
}

pub(crate) struct Plain(pub(crate) String);

impl Output for Plain {
    fn describe(about: &str, _: &mut Schemas) -> Described {
        content(about, "text/plain", ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).into())
    }
    fn respond(self) -> Response {
        with_content_type(Self::STATUS, "text/plain; charset=utf-8", self.0)
    }
}

pub(crate) struct OpenMetrics(pub(crate) String);

impl OpenMetrics {
    const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

impl Output for OpenMetrics {
    fn describe(about: &str, _: &mut Schemas) -> Described {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).into();
        content(about, "application/openmetrics-text", text)
    }
    fn respond(self) -> Response {
        with_content_type(Self::STATUS, Self::MEDIA_TYPE, self.0)
    }
}

/// JSON that is defined elsewhere.
pub(crate) struct Document(pub(crate) bytes::Bytes);

impl Output for Document {
    fn describe(about: &str, _: &mut Schemas) -> Described {
        let any = ObjectBuilder::new().additional_properties(Some(AdditionalProperties::FreeForm(true)));
        content(about, "application/json", any.into())
    }
    fn respond(self) -> Response {
        with_content_type(Self::STATUS, "application/json", self.0)
    }
}

/// Whether `If-None-Match` contains this tag.
pub(crate) fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    headers.get_all(IF_NONE_MATCH).iter().any(|known| known.to_str().is_ok_and(|known| known.contains(etag)))
}

/// A JSON document with an ETag; 304 if the client has it already.
pub(crate) struct Cached {
    pub(crate) body: Option<bytes::Bytes>,
    pub(crate) etag: HeaderValue,
}

impl Output for Cached {
    fn describe(about: &str, schemas: &mut Schemas) -> Described {
        let mut described = Document::describe(about, schemas);
        described.headers.extend([header("ETag")]);
        described
    }
    fn respond(self) -> Response {
        let mut response = match self.body {
            Some(body) => with_content_type(Self::STATUS, "application/json", body),
            None => with_content_type(StatusCode::NOT_MODIFIED, "application/json", Body::empty()),
        };
        response.extensions_mut().insert(SharedBody);
        response.headers_mut().insert(ETAG, self.etag);
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

/// A body with its version as ETag; 304 if the client has it already.
pub(crate) struct Tagged<T> {
    pub(crate) body: T,
    pub(crate) etag: String,
    pub(crate) is_known: bool,
}

impl<T: Serialize + ToSchema + Send + 'static> Output for Tagged<T> {
    fn describe(about: &str, schemas: &mut Schemas) -> Described {
        let mut described = Json::<T>::describe(about, schemas);
        described.headers.extend([header("ETag")]);
        described
    }
    fn respond(self) -> Response {
        let mut response = if self.is_known {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        } else {
            json(Self::STATUS, &self.body)
        };
        if let Ok(etag) = HeaderValue::try_from(self.etag) {
            response.headers_mut().insert(ETAG, etag);
        }
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response
    }
}

pub(crate) struct Empty;

impl Output for Empty {
    fn describe(about: &str, _: &mut Schemas) -> Described {
        ResponseBuilder::new().description(about).build()
    }
    fn respond(self) -> Response {
        Response::new(Body::empty())
    }
}

/// The answer of most writes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Message {
    /// What was done.
    #[schema(example = "Listing created")]
    message: &'static str,
}

pub(crate) fn message(message: &'static str) -> Message {
    Message { message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn location_encodes_every_segment() {
        let created = Created::at(&["v1", "listings", "oak 12/ä?~"], message("Listing created"));
        let response = created.respond();
        assert_eq!(response.headers()[LOCATION], "/v1/listings/oak%2012%2F%C3%A4%3F~");
    }
}
