//! Rate limits per client address and per credential.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::is_probe;
use crate::problem::Problem;
use portico_domain::ErrorCode;

/// Idle clients are removed after this many requests.
const REQUESTS_BETWEEN_CLEANUPS: u32 = 10_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Client {
    /// An IPv4 address, or an IPv6 /64 network, which is what one subscriber has.
    Address(IpAddr),
    /// A keyed hash of the credential as sent, valid or not.
    Credential(u64),
}

#[derive(Debug)]
pub(super) struct RateLimits {
    limiter: Option<DefaultKeyedRateLimiter<Client>>,
    hasher: RandomState,
    trusted_hops: usize,
    requests: AtomicU32,
}

impl RateLimits {
    /// 0: no limit.
    pub(super) fn new(per_second: u32, trusted_hops: usize) -> Self {
        let limiter = NonZeroU32::new(per_second).map(|rate| RateLimiter::keyed(Quota::per_second(rate)));
        Self { limiter, hasher: RandomState::new(), trusted_hops, requests: AtomicU32::new(0) }
    }

    fn admits(&self, request: &Request) -> bool {
        let Some(limiter) = &self.limiter else { return true };
        if self.requests.fetch_add(1, Ordering::Relaxed).is_multiple_of(REQUESTS_BETWEEN_CLEANUPS) {
            limiter.retain_recent();
        }
        let address = self
            .address(request)
            .is_none_or(|address| limiter.check_key(&Client::Address(network(address))).is_ok());
        // Requests that the address limit rejects do not count against the credential.
        address
            && [request.headers().get(AUTHORIZATION), request.headers().get("x-api-key")]
                .into_iter()
                .flatten()
                .all(|credential| {
                    let hash = self.hasher.hash_one(credential.as_bytes());
                    limiter.check_key(&Client::Credential(hash)).is_ok()
                })
    }

    /// Trusts `X-Forwarded-For` only from the configured number of proxies.
    fn address(&self, request: &Request) -> Option<IpAddr> {
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip());
        if self.trusted_hops == 0 {
            return peer;
        }
        let forwarded =
            request.headers().get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let addresses: Vec<&str> = forwarded.flat_map(|value| value.split(',')).map(str::trim).collect();
        let trusted =
            addresses.len().checked_sub(self.trusted_hops).and_then(|at| addresses[at].parse().ok());
        trusted.or(peer)
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

pub(super) async fn check(State(limits): State<Arc<RateLimits>>, request: Request, next: Next) -> Response {
    if is_probe(&request) || limits.admits(&request) {
        return next.run(request).await;
    }
    Problem::new(ErrorCode::RateLimited, "too many requests: slow down").into_response()
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
        let admitted = || limits.admits(&request("127.0.0.1", None));
        assert_eq!([admitted(), admitted(), admitted()], [true, true, false]);
        assert!(limits.admits(&request("127.0.0.2", None)));
    }

    #[test]
    fn a_credential_is_limited_over_all_addresses() {
        let limits = RateLimits::new(2, 0);
        let admitted =
            ["127.0.0.1", "127.0.0.2", "127.0.0.3"].map(|from| limits.admits(&request(from, Some("live_a"))));
        assert_eq!(admitted, [true, true, false]);
        assert!(limits.admits(&request("127.0.0.3", Some("live_b"))));
    }

    #[test]
    fn a_network_of_ipv6_addresses_is_one_client() {
        let limits = RateLimits::new(2, 0);
        let admitted = ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:1"]
            .map(|from| limits.admits(&request(from, None)));
        assert_eq!(admitted, [true, true, false]);
        assert!(limits.admits(&request("2001:db8:0:1::1", None)));
    }

    #[test]
    fn rate_zero_admits_everything() {
        let limits = RateLimits::new(0, 0);
        assert!((0..1000).all(|_| limits.admits(&request("127.0.0.1", Some("live_a")))));
    }
}
