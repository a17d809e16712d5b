//! The console under `/console/`: the files of a single-page application, compressed when they were built.
//!
//! Where the files come from is none of this crate's business: whoever builds the service hands them in.

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
use crate::problem::Problem;
use crate::reply::is_known;
use portico_domain::ErrorCode;

/// A file of the console.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    pub kind: &'static str,
    /// Changes with its content.
    pub tag: &'static str,
    pub body: AssetBody,
}

#[derive(Debug, Clone, Copy)]
pub enum AssetBody {
    Plain(&'static [u8]),
    /// Compressed in two ways.
    Compressed {
        brotli: &'static [u8],
        gzip: &'static [u8],
    },
}

#[derive(Debug, Clone)]
pub struct Console {
    /// A file by its path below `/console/`.
    pub find: fn(&str) -> Option<Asset>,
    /// How people sign in, for `/console/config.json`.
    pub config: serde_json::Value,
    /// Where else its pages may send requests: the origin of an external issuer.
    pub connect: Option<String>,
}

/// Never changes under the same name.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
/// Asked for again each time, and mostly answered with 304.
const REVALIDATE: &str = "no-cache";
/// The page of every address that is no file.
const INDEX: &str = "index.html";
const UNBUILT: &str = include_str!("console.html");

impl Console {
    /// Nothing inline, nothing from elsewhere.
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
            // An address of the application; a file that is not there is not.
            None if !path.starts_with("assets/") => (self.find)(INDEX).map(|index| (index, false)),
            None => None,
        };
        let mut response = match asset {
            Some((asset, is_hashed)) => deliver(asset, is_hashed, headers),
            None if (self.find)(INDEX).is_none() => unbuilt(),
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

fn unbuilt() -> Response {
    let mut response = Response::new(Body::from(UNBUILT));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}

/// What a client takes; a weight of zero is a no.
fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    let given = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    given.flat_map(|value| value.split(',')).any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
        name.trim().eq_ignore_ascii_case(coding) && !refused
    })
}

fn deliver(asset: Asset, is_hashed: bool, asked: &HeaderMap) -> Response {
    let mut response = if is_known(asked, asset.tag) {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        body(asset, asked)
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    let caching = if is_hashed { FOR_EVER } else { REVALIDATE };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Ok(tag) = HeaderValue::try_from(format!("\"{}\"", asset.tag)) {
        headers.insert(ETAG, tag);
    }
    response
}

fn body(asset: Asset, asked: &HeaderMap) -> Response {
    let (bytes, coding) = match asset.body {
        AssetBody::Plain(bytes) => return Response::new(Body::from(bytes)),
        AssetBody::Compressed { brotli, .. } if accepts(asked, "br") => (brotli, "br"),
        AssetBody::Compressed { gzip, .. } if accepts(asked, "gzip") => (gzip, "gzip"),
        AssetBody::Compressed { gzip, .. } => {
            let mut plain = Vec::new();
            return match flate2::read::GzDecoder::new(gzip).read_to_end(&mut plain) {
                Ok(_) => Response::new(Body::from(plain)),
                Err(error) => Problem::internal(error.to_string()).into_response(),
            };
        }
    };
    let mut response = Response::new(Body::from(bytes));
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
    response
}

/// `/console/` and everything below it.
pub(crate) async fn page(State(service): State<Arc<Service>>, request: Request) -> Response {
    match request.uri().path().strip_prefix("/console/") {
        Some("config.json") => {
            let mut response = Response::new(Body::from(service.console.config.to_string()));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            response
        }
        Some(path) => service.console.page(path, request.headers()),
        None => (StatusCode::PERMANENT_REDIRECT, [(LOCATION, "/console/")]).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coding_with_the_weight_zero_is_refused() {
        let asked =
            |value: &'static str| HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]);
        assert!(accepts(&asked("gzip, br"), "br"));
        assert!(accepts(&asked("gzip;q=0.5, BR;q=1"), "br"));
        assert!(!accepts(&asked("br;q=0, gzip"), "br"));
        assert!(!accepts(&asked("gzip"), "br"));
        assert!(!accepts(&HeaderMap::new(), "br"));
    }
}
