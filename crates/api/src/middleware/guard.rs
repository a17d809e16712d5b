//! Rejects requests for other hosts, and writes by pages of other origins.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::Version;
use axum::http::header::{HOST, ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use portico_app::Profile;
use portico_domain::ErrorCode;

use crate::Service;
use crate::problem::Problem;

/// Allowed `Host` values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AllowedHosts {
    /// `None`, or a `*` among them: any.
    pub names: Option<Vec<String>>,
    /// IP addresses too: unlike a name, an address cannot be made to lead elsewhere.
    pub any_address: bool,
}

impl AllowedHosts {
    pub(crate) fn admit_any(&self) -> bool {
        self.names.as_ref().is_none_or(|names| names.iter().any(|name| name == "*"))
    }

    fn admit(&self, host: &str) -> bool {
        self.admit_any()
            || self.names.iter().flatten().any(|name| name.eq_ignore_ascii_case(host))
            || (self.any_address && host.parse::<IpAddr>().is_ok())
    }
}

pub(super) async fn check_host(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(host) = host(&request) else {
        return Problem::new(ErrorCode::InvalidRequest, "the request must have one Host header")
            .into_response();
    };
    if service.hosts.admit_any() || host_name(host).is_some_and(|name| service.hosts.admit(name)) {
        return next.run(request).await;
    }
    Problem::new(ErrorCode::HostNotAllowed, "this service does not answer for that host").into_response()
}

/// `None`: a proxy and this service could pick different hosts.
fn host(request: &Request) -> Option<&str> {
    let mut given = request.headers().get_all(HOST).iter();
    let host = match (given.next(), given.next()) {
        (Some(host), None) => host.to_str().ok()?,
        // HTTP/1.0 has none.
        (None, _) if request.version() < Version::HTTP_11 => "",
        _ => return None,
    };
    // A target that names a host must agree.
    let target = request.uri().authority();
    target.is_none_or(|target| target.as_str().eq_ignore_ascii_case(host)).then_some(host)
}

/// A name or an address, with or without a port; `None`: something else.
fn host_name(authority: &str) -> Option<&str> {
    let (name, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (address, port)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let is_port = |text: &str| text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(name)
}

/// Rejects writes by pages of other origins in the sandbox. Most of its operations need no credentials, so nothing
/// else stops such a page.
pub(super) async fn check_origin(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    if service.app.profile() == Profile::Sandbox
        && !request.method().is_safe()
        && is_foreign(&service, &request)
    {
        return Problem::new(
            ErrorCode::ForeignOrigin,
            "pages of another origin may not change anything here",
        )
        .into_response();
    }
    next.run(request).await
}

/// Whether `Origin` is neither the service's own nor an allowed one.
fn is_foreign(service: &Service, request: &Request) -> bool {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = request.headers().get(ORIGIN) else { return false };
    let own = header(ORIGIN).and_then(|origin| origin.split_once("://")).zip(header(HOST));
    !own.is_some_and(|((_, from), host)| from.eq_ignore_ascii_case(host))
        && !service.origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: what stood behind a bracket or a colon was not looked at.
    #[test]
    fn only_a_port_may_follow_a_host() {
        for (authority, name) in [
            ("portico.example", "portico.example"),
            ("portico.example:8080", "portico.example"),
            ("127.0.0.1:1", "127.0.0.1"),
            ("[::1]:8080", "::1"),
            ("[::1]", "::1"),
            ("", ""),
        ] {
            assert_eq!(host_name(authority), Some(name), "{authority}");
        }
        for authority in [
            "[portico.example].evil.com",
            "[portico.example]",
            "portico.example:evil.com",
            "portico.example:80.evil.com",
            "portico.example:+80",
            "[::1].evil.com",
            "[::1",
            "portico.example:80:80",
        ] {
            assert_eq!(host_name(authority), None, "{authority}");
        }
    }
}
