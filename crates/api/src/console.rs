//! The console under `/console/`: the files of a single-page application, precompressed. The server crate passes them
//! in.

use std::io::Read as _;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    HeaderName, LOCATION, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use crate::Service;
use crate::basemap::BASEMAP_PATH;
use crate::problem::Problem;
use crate::reply::{is_known, shared};
use portico_domain::ErrorCode;

#[derive(Debug, Clone, Copy)]
pub struct Asset {
    pub content_type: &'static str,
    /// The ETag.
    pub etag: &'static str,
    pub body: AssetBody,
}

#[derive(Debug, Clone, Copy)]
pub enum AssetBody {
    Plain(&'static [u8]),
    Compressed { brotli: &'static [u8], gzip: &'static [u8] },
}

#[derive(Debug, Clone)]
pub struct Console {
    /// A file by its path below `/console/`.
    pub find: fn(&str) -> Option<Asset>,
    /// The sign-in configuration for `/console/config.json`.
    pub config: serde_json::Value,
    /// Another origin that pages may call: an external issuer.
    pub connect: Option<String>,
}

/// For file names that contain a content hash.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";
const REVALIDATE: &str = "no-cache";
/// Served for every path that is not a file.
const INDEX: &str = "index.html";
const NOT_BUILT_PAGE: &str = include_str!("console.html");

impl Console {
    /// Nothing inline, nothing from other origins.
    fn policy(&self) -> String {
        let connect = self.connect.as_deref().unwrap_or("");
        format!(
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; \
             connect-src 'self' {connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             manifest-src 'self'"
        )
    }

    fn page(&self, path: &str, headers: &HeaderMap) -> Response {
        let asset = match (self.find)(path) {
            Some(asset) => Some((asset, path.starts_with("assets/"))),
            // A client-side route; a missing asset is a 404.
            None if !path.starts_with("assets/") => (self.find)(INDEX).map(|index| (index, false)),
            None => None,
        };
        let mut response = match asset {
            Some((asset, is_hashed)) => deliver(asset, is_hashed, headers),
            None if (self.find)(INDEX).is_none() => not_built(),
            None => return Problem::from(ErrorCode::NotFound).into_response(),
        };
        let headers = response.headers_mut();
        if let Ok(policy) = HeaderValue::try_from(self.policy()) {
            headers.insert(CONTENT_SECURITY_POLICY, policy);
        }
        headers.insert(HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer"));
        response
    }
}

fn not_built() -> Response {
    let mut response = Response::new(Body::from(NOT_BUILT_PAGE));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// Whether the client accepts a coding; `q=0` means no.
fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    let given = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case(coding) && !refused
    })
}

fn deliver(asset: Asset, is_hashed: bool, request_headers: &HeaderMap) -> Response {
    let mut response = if is_known(request_headers, asset.etag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        body(asset, request_headers)
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    let caching = if is_hashed { IMMUTABLE } else { REVALIDATE };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Ok(tag) = HeaderValue::try_from(format!("\"{}\"", asset.etag)) {
        headers.insert(ETAG, tag);
    }
    response
}

fn body(asset: Asset, request_headers: &HeaderMap) -> Response {
    let (bytes, coding) = match asset.body {
        AssetBody::Plain(bytes) => return shared(bytes),
        AssetBody::Compressed { brotli, .. } if accepts(request_headers, "br") => (brotli, "br"),
        AssetBody::Compressed { gzip, .. } if accepts(request_headers, "gzip") => (gzip, "gzip"),
        AssetBody::Compressed { gzip, .. } => {
            let mut plain = Vec::new();
            return match flate2::read::GzDecoder::new(gzip).read_to_end(&mut plain) {
                Ok(_) => Response::new(Body::from(plain)),
                Err(error) => Problem::internal(error.to_string()).into_response(),
            };
        }
    };
    let mut response = shared(bytes);
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    response
}

pub(crate) async fn page(State(service): State<Arc<Service>>, request: Request) -> Response {
    match request.uri().path().strip_prefix("/console/") {
        Some(path) => service.console.page(path, request.headers()),
        None => (StatusCode::PERMANENT_REDIRECT, [(LOCATION, "/console/")]).into_response(),
    }
}

/// What the page asks for first.
pub(crate) async fn config(State(service): State<Arc<Service>>) -> Response {
    let mut config = service.console.config.clone();
    // A file can be put in place while the server runs.
    let basemap = service.basemap.clone();
    if tokio::task::spawn_blocking(move || basemap.check()).await.is_ok_and(|checked| checked.is_ok()) {
        config["basemap"] = BASEMAP_PATH.into();
    }
    let mut response = Response::new(Body::from(config.to_string()));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_codings_with_q_zero() {
        let headers =
            |value: &'static str| HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]);
        assert!(accepts(&headers("gzip, br"), "br"));
        assert!(accepts(&headers("gzip;q=0.5, BR;q=1"), "br"));
        assert!(!accepts(&headers("br;q=0, gzip"), "br"));
        assert!(!accepts(&headers("gzip"), "br"));
        assert!(!accepts(&HeaderMap::new(), "br"));
    }
}
