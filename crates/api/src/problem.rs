//! Errors as clients see them (RFC 9457), and the one place that maps errors to error codes; `status.rs` maps those to
//! HTTP statuses.
//!
//! A handler returns a [`Problem`]; `middleware/problems.rs` renders it with the request id. Problems never contain
//! internals or values that were sent.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use portico_app::Error;
use portico_domain::{ErrorCode, FaultCode, Quota, ValidationError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{Object, ObjectBuilder, Type};

use crate::status::status_of;

pub(crate) type Result<T> = std::result::Result<T, Problem>;

const RETRY_AFTER_SECONDS: u32 = 1;

/// One fault of a request.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct FieldError {
    /// JSON pointer of the value in the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/monthlyRent", nullable = false)]
    pub(crate) pointer: Option<String>,
    /// Name of the query parameter or header.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "limit", nullable = false)]
    pub(crate) parameter: Option<String>,
    /// A stable word for programs.
    #[schema(schema_with = fault_code_schema)]
    pub(crate) code: &'static str,
    /// The rule in words.
    #[schema(example = "must be between 0 and 99999999999")]
    pub(crate) message: Cow<'static, str>,
    /// The least number that the rule allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 0, nullable = false)]
    pub(crate) min: Option<i64>,
    /// The greatest number, or length, that the rule allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 99_999_999_999_i64, nullable = false)]
    pub(crate) max: Option<i64>,
}

pub(crate) enum FieldLocation {
    /// A JSON pointer.
    Body(String),
    Parameter(&'static str),
}

impl FieldError {
    fn new(ValidationError { code, message, limits }: ValidationError) -> Self {
        let (min, max) = (limits.min, limits.max);
        Self { pointer: None, parameter: None, code: code.name(), message, min, max }
    }
    fn at(location: FieldLocation, fault: ValidationError) -> Self {
        match location {
            FieldLocation::Body(pointer) => Self::in_body(pointer, fault),
            FieldLocation::Parameter(name) => Self::in_parameter(name, fault),
        }
    }
    pub(crate) fn in_body(pointer: String, fault: ValidationError) -> Self {
        Self { pointer: Some(pointer), ..Self::new(fault) }
    }
    pub(crate) fn in_parameter(name: &str, fault: ValidationError) -> Self {
        Self { parameter: Some(name.into()), ..Self::new(fault) }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) code: ErrorCode,
    pub(crate) detail: Cow<'static, str>,
    pub(crate) errors: Vec<FieldError>,
    /// For `WWW-Authenticate`.
    pub(crate) challenge: Option<&'static str>,
    /// Seconds, for `Retry-After`.
    pub(crate) retry_after: Option<u32>,
    /// The limit that was reached.
    pub(crate) quota: Option<Box<Quota>>,
    /// Only for the log.
    pub(crate) cause: Option<String>,
}

impl Problem {
    pub(crate) fn new(code: ErrorCode, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            challenge: None,
            retry_after: None,
            quota: None,
            cause: None,
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        status_of(self.code)
    }

    pub(crate) fn invalid(errors: Vec<FieldError>) -> Self {
        let detail = match errors.as_slice() {
            [FieldError { pointer: Some(at), message, .. }] => format!("{at} {message}"),
            [FieldError { parameter: Some(at), message, .. }] => format!("{at} {message}"),
            many => format!("the request has {} faults", many.len()),
        };
        Self { errors, ..Self::new(ErrorCode::InvalidRequest, detail) }
    }

    pub(crate) fn body(code: FaultCode, detail: impl Into<Cow<'static, str>>) -> Self {
        let fault = ValidationError::new(code, detail);
        let detail = format!("the body {}", fault.message);
        let errors = vec![FieldError::in_body(String::new(), fault)];
        Self { errors, ..Self::new(ErrorCode::InvalidRequest, detail) }
    }

    pub(crate) fn unknown_listings(indices: Vec<usize>, at: impl Fn(usize) -> FieldLocation) -> Self {
        let fault = || ValidationError::new(FaultCode::UnknownListing, "is no listing that exists");
        let errors = indices.into_iter().map(|index| FieldError::at(at(index), fault())).collect();
        Self { code: ErrorCode::UnknownListing, ..Self::invalid(errors) }
    }

    pub(crate) fn unauthenticated(challenge: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        let problem = Self::new(ErrorCode::Unauthenticated, detail);
        Self { challenge: Some(challenge), ..problem }
    }

    pub(crate) fn unavailable(cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..ErrorCode::Unavailable.into() }
    }

    pub(crate) fn internal(cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..ErrorCode::InternalError.into() }
    }

    pub(crate) fn over_quota(code: ErrorCode, quota: Quota) -> Self {
        let detail = format!("{}: {} is {}", code.text(), quota.name, quota.limit);
        Self {
            retry_after: Some(quota.reset_seconds),
            quota: Some(Box::new(quota)),
            ..Self::new(code, detail)
        }
    }

    pub(crate) fn render(self, request_id: &str) -> Response {
        let status = self.status();
        let body = ProblemOut {
            title: status.canonical_reason().unwrap_or("Error").into(),
            status: status.as_u16(),
            detail: self.detail.clone(),
            message: self.detail,
            code: self.code.name(),
            errors: self.errors,
            request_id: request_id.into(),
        };
        let mut response = Response::new(Body::from(serde_json::to_vec(&body).unwrap_or_default()));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(challenge) = self.challenge {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS) {
            headers.insert(RETRY_AFTER, self.retry_after.unwrap_or(RETRY_AFTER_SECONDS).into());
        }
        if let Some(quota) = self.quota {
            set_quota_headers(headers, &quota);
        }
        response
    }
}

/// The fields of draft-ietf-httpapi-ratelimit-headers.
pub(crate) fn set_quota_headers(headers: &mut HeaderMap, quota: &Quota) {
    let Quota { name, limit, window_seconds, remaining, reset_seconds } = quota;
    let policy = format!("\"{name}\";q={limit};w={window_seconds}");
    let state = format!("\"{name}\";r={remaining};t={reset_seconds}");
    for (name, value) in [("ratelimit-policy", policy), ("ratelimit", state)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
}

impl From<ErrorCode> for Problem {
    fn from(code: ErrorCode) -> Self {
        Self::new(code, code.text())
    }
}

/// Carries the problem to the rendering layer inside an empty response.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.status();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Invalid { pointer, fault } => {
                Self::invalid(vec![FieldError::in_body(pointer.into(), fault)])
            }
            Error::InvalidValues(faults) => {
                let out = |(pointer, fault)| FieldError::in_body(pointer, fault);
                Self::invalid(faults.into_iter().map(out).collect())
            }
            Error::UnknownListings(indices) => {
                Self::unknown_listings(indices, |index| FieldLocation::Body(format!("/listingIds/{index}")))
            }
            Error::ConditionsChanged(indices) => {
                let fault = || ValidationError::new(FaultCode::ConditionsChanged, "has other conditions now");
                let errors =
                    indices.into_iter().map(|at| FieldError::in_body(format!("/listingIds/{at}"), fault()));
                Self { code: ErrorCode::ConditionsChanged, ..Self::invalid(errors.collect()) }
            }
            Error::DevicesTaken(indices) => {
                let fault =
                    || ValidationError::new(FaultCode::DeviceExists, "is registered on its network already");
                let errors =
                    indices.into_iter().map(|at| FieldError::in_body(format!("/devices/{at}"), fault()));
                Self { code: ErrorCode::DeviceExists, ..Self::invalid(errors.collect()) }
            }
            Error::NothingToCheck(needs) => {
                let fault = ValidationError::new(FaultCode::NothingToCheck, needs.clone());
                let errors = vec![FieldError::in_body(String::new(), fault)];
                Self { errors, ..Self::new(ErrorCode::NothingToCheck, needs) }
            }
            Error::Parameter { name, fault } => Self::invalid(vec![FieldError::in_parameter(name, fault)]),
            Error::Unauthenticated(detail) => Self::unauthenticated("Bearer", detail),
            Error::Forbidden(detail) => Self::new(ErrorCode::Forbidden, detail),
            Error::NotFound(code) | Error::Refused(code) | Error::Conflict(code) | Error::Pending(code) => {
                code.into()
            }
            Error::Outdated => ErrorCode::PreconditionFailed.into(),
            Error::KeyReused => ErrorCode::IdempotencyKeyReused.into(),
            Error::TooMany { code, retry_after } => {
                Self { retry_after: Some(seconds(retry_after)), ..code.into() }
            }
            Error::OverQuota { code, quota } => Self::over_quota(code, quota),
            Error::Bureau { retry_after, why } => Self {
                retry_after: Some(seconds(retry_after)),
                cause: Some(why),
                ..ErrorCode::BureauUnavailable.into()
            },
            Error::RotationSuperseded => Self::internal("a rotation was asked for over HTTP"),
            Error::Setup(cause) | Error::Unavailable(cause) => Self::unavailable(cause),
            Error::Bug(cause) => Self::internal(cause),
        }
    }
}

/// `u32` keeps `Problem` small; it is moved around a lot.
fn seconds(seconds: u64) -> u32 {
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

/// An error (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub(crate) struct ProblemOut {
    /// The status in words.
    #[schema(example = "Bad Request")]
    title: Cow<'static, str>,
    /// The HTTP status.
    #[schema(example = 400)]
    status: u16,
    /// What is wrong, in words.
    #[schema(example = "/monthlyRent must be between 0 and 99999999999")]
    detail: Cow<'static, str>,
    /// The same words as `detail`.
    message: Cow<'static, str>,
    /// A stable word for programs.
    #[schema(schema_with = code_schema)]
    code: &'static str,
    /// Every fault of the request.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FieldError>,
    /// The id under which the service's log knows the request.
    #[schema(example = "6f1d3a0c92b84e57")]
    request_id: String,
}

fn code_schema() -> Object {
    enumeration(ErrorCode::ALL.iter().map(|code| code.name()), "invalid_request")
}

fn fault_code_schema() -> Object {
    enumeration(FaultCode::ALL.iter().map(|code| code.name()), "out_of_range")
}

pub(crate) fn enumeration(names: impl IntoIterator<Item = &'static str>, example: &str) -> Object {
    let string = ObjectBuilder::new().schema_type(Type::String);
    string.enum_values(Some(names)).examples([example]).build()
}
