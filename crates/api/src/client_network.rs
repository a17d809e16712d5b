//! The network that a request comes from: what limits and budgets of strangers count by.

use std::net::{IpAddr, Ipv6Addr};

/// An extension of every request: see [`network`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientNetwork(pub(crate) IpAddr);

/// What one subscriber has: an IPv4 address, or an IPv6 /64 network.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}
