//! Rate limits per client address and per credential, in memory.
//!
//! What costs money has budgets by the day in addition: see `app/budgets.rs`.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::clock::{Clock as _, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::{DefaultKeyedRateLimiter, RateLimiter};
use portico_domain::{ErrorCode, Quota};

use super::is_probe;
use crate::auth::bearer_token;
use crate::client_network::{ClientNetwork, network};
use crate::problem::{self, Problem};

/// Idle clients are removed after this many requests.
const REQUESTS_BETWEEN_CLEANUPS: u32 = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Client {
    /// See [`network`].
    Address(IpAddr),
    /// A keyed hash of the credential, valid or not.
    Credential(u64),
}

#[derive(Debug)]
pub(super) struct RateLimits {
    limiter: Option<Limiter>,
    per_second: u32,
    clock: DefaultClock,
    hasher: RandomState,
    trusted_hops: usize,
    requests: AtomicU32,
    has_warned: AtomicBool,
}

type Limiter = DefaultKeyedRateLimiter<Client, StateInformationMiddleware>;

impl RateLimits {
    /// 0: no limit.
    pub(super) fn new(per_second: u32, trusted_hops: usize) -> Self {
        let limiter = NonZeroU32::new(per_second).map(|rate| {
            RateLimiter::keyed(governor::Quota::per_second(rate))
                .with_middleware::<StateInformationMiddleware>()
        });
        Self {
            limiter,
            per_second,
            clock: DefaultClock::default(),
            hasher: RandomState::new(),
            trusted_hops,
            requests: AtomicU32::new(0),
            has_warned: AtomicBool::new(false),
        }
    }

    /// What is left, if there is a limit; an error if nothing is. The request then knows its client's network.
    fn admit(&self, request: &mut Request) -> Result<Option<Quota>, Quota> {
        let network = self.address(request).map(network);
        if let Some(network) = network {
            request.extensions_mut().insert(ClientNetwork(network));
        }
        let Some(limiter) = &self.limiter else { return Ok(None) };
        if self.requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(REQUESTS_BETWEEN_CLEANUPS) {
            limiter.retain_recent();
        }
        let address = network.map(Client::Address);
        let headers = request.headers();
        let credentials = [headers.get(AUTHORIZATION), headers.get("x-api-key")].into_iter().flatten();
        let credentials = credentials.map(|sent| Client::Credential(self.hasher.hash_one(credential(sent))));
        let mut least: Option<Quota> = None;
        // The address first: requests that its limit rejects do not count against the credential.
        for client in address.into_iter().chain(credentials) {
            let quota = self.check(limiter, &client)?;
            if least.is_none_or(|least| quota.remaining < least.remaining) {
                least = Some(quota);
            }
        }
        Ok(least)
    }

    fn check(&self, limiter: &Limiter, client: &Client) -> Result<Quota, Quota> {
        let quota = |remaining, wait: Duration| Quota {
            name: "requests",
            limit: self.per_second,
            window_seconds: 1,
            remaining,
            reset_seconds: u32::try_from(wait.as_secs()).unwrap_or(u32::MAX).saturating_add(1),
        };
        match limiter.check_key(client) {
            Ok(state) => Ok(quota(state.remaining_burst_capacity(), Duration::ZERO)),
            Err(not_until) => Err(quota(0, not_until.wait_time_from(self.clock.now()))),
        }
    }

    /// Trusts `X-Forwarded-For` only from the configured number of proxies.
    fn address(&self, request: &Request) -> Option<IpAddr> {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
        if self.trusted_hops == 0 {
            self.warn_about_proxy(peer, request.headers());
            return peer;
        }
        let forwarded =
            request.headers().get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let addresses: Vec<&str> = forwarded.flat_map(|value| value.split(',')).map(str::trim).collect();
        let trusted =
            addresses.len().checked_sub(self.trusted_hops).and_then(|at| addresses[at].parse().ok());
        trusted.or(peer)
    }

    /// All clients behind a proxy that the configuration does not know of share one limit, and one of them can use it
    /// up for everybody.
    fn warn_about_proxy(&self, peer: Option<IpAddr>, headers: &HeaderMap) {
        if peer.is_some_and(is_private)
            && headers.contains_key("x-forwarded-for")
            && !self.has_warned.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                "requests come through a proxy, and --trusted-hops is 0: all clients behind it share one rate limit"
            );
        }
    }
}

/// The same bytes for every spelling that is taken for the same credential.
fn credential(sent: &HeaderValue) -> &[u8] {
    match sent.to_str() {
        Ok(text) => bearer_token(text).unwrap_or_else(|| text.trim()).as_bytes(),
        Err(_) => sent.as_bytes(),
    }
}

fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
    }
}

pub(super) async fn check(
    State(limits): State<Arc<RateLimits>>,
    mut request: Request,
    next: Next,
) -> Response {
    if is_probe(&request) {
        return next.run(request).await;
    }
    match limits.admit(&mut request) {
        Ok(None) => next.run(request).await,
        Ok(Some(quota)) => {
            let mut response = next.run(request).await;
            problem::set_quota_headers(response.headers_mut(), &quota);
            response
        }
        Err(quota) => Problem::over_quota(ErrorCode::RateLimited, quota).into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Body;

    fn request(address: &str, key: Option<&str>) -> Request {
        let mut request = Request::new(Body::empty());
        let address: IpAddr = address.parse().unwrap();
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from((address, 1))));
        if let Some(key) = key {
            request.headers_mut().insert("x-api-key", key.parse().unwrap());
        }
        request
    }

    #[test]
    fn each_address_has_its_own_limit() {
        let limits = RateLimits::new(2, 0);
        let admitted = || limits.admit(&mut request("127.0.0.1", None)).is_ok();
        assert_eq!([admitted(), admitted(), admitted()], [true, true, false]);
        assert!(limits.admit(&mut request("127.0.0.2", None)).is_ok());
    }

    #[test]
    fn a_credential_is_limited_over_all_addresses() {
        let limits = RateLimits::new(2, 0);
        let admitted = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
            .map(|from| limits.admit(&mut request(from, Some("live_a"))).is_ok());
        assert_eq!(admitted, [true, true, false]);
        assert!(limits.admit(&mut request("127.0.0.3", Some("live_b"))).is_ok());
    }

    /// Regression: each spelling of one token had a limit of its own.
    #[test]
    fn spellings_of_a_token_share_its_limit() {
        let limits = RateLimits::new(2, 0);
        let spellings = ["Bearer live_a", "bearer live_a", "BEARER   live_a"];
        let admitted =
            ["127.0.0.1", "127.0.0.2", "127.0.0.3"].iter().zip(spellings).map(|(from, spelling)| {
                let mut request = request(from, None);
                request.headers_mut().insert(AUTHORIZATION, spelling.parse().unwrap());
                limits.admit(&mut request).is_ok()
            });
        assert_eq!(admitted.collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn a_network_of_ipv6_addresses_is_one_client() {
        let limits = RateLimits::new(2, 0);
        let admitted = ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:1"]
            .map(|from| limits.admit(&mut request(from, None)).is_ok());
        assert_eq!(admitted, [true, true, false]);
        assert!(limits.admit(&mut request("2001:db8:0:1::1", None)).is_ok());
    }

    #[test]
    fn rate_zero_admits_everything() {
        let limits = RateLimits::new(0, 0);
        let admitted = || limits.admit(&mut request("127.0.0.1", Some("live_a")));
        assert!((0..1000).all(|_| admitted() == Ok(None)));
    }

    #[test]
    fn quota_tells_what_is_left_and_when_there_is_more() {
        let limits = RateLimits::new(3, 0);
        let left = || limits.admit(&mut request("127.0.0.1", None)).map(|quota| quota.unwrap().remaining);
        assert_eq!([left(), left(), left()], [Ok(2), Ok(1), Ok(0)]);
        let over = limits.admit(&mut request("127.0.0.1", None)).unwrap_err();
        assert_eq!((over.remaining, over.limit, over.reset_seconds), (0, 3, 1));
    }

    #[test]
    fn forwarded_header_gives_no_new_limit_without_trusted_hops() {
        let limits = RateLimits::new(1, 0);
        let through = |client: &str| {
            let mut request = request("127.0.0.1", None);
            request.headers_mut().insert("x-forwarded-for", client.parse().unwrap());
            limits.admit(&mut request)
        };
        assert!(through("203.0.113.1").is_ok());
        assert!(through("203.0.113.2").is_err());
        assert!(limits.has_warned.load(Ordering::Relaxed), "the operator is told");
    }
}
