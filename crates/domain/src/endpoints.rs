//! URLs of trusted services, which plain HTTP must not carry between machines.

use url::{Host, Url};

/// Whether a URL is https, or http on this machine.
pub fn is_secure(url: &Url) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback)
}

/// The fault never contains the URL, which may hold a password or an access key.
pub fn check_secure(text: &str) -> Result<(), &'static str> {
    match Url::parse(text) {
        Ok(url) if is_secure(&url) => Ok(()),
        Ok(_) => Err("must begin with https:// (http:// only on this machine)"),
        Err(_) => Err("must be a URL that begins with https://"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_for_loopback_only() {
        for secure in [
            "https://node.example/v2/key",
            "http://127.0.0.1:8545",
            "http://127.8.9.10",
            "http://[::1]:8545/",
            "http://localhost/x",
            "http://LOCALHOST:1",
        ] {
            assert_eq!(check_secure(secure), Ok(()), "{secure}");
        }
        for insecure in [
            "http://node.example",
            "http://10.0.0.1:8545",
            "http://127.0.0.1.example",
            "http://localhost.example",
            "http://localhost@node.example",
            "http://[::2]",
            "http://0.0.0.0",
            "ftp://127.0.0.1",
            "node.example",
            "",
        ] {
            assert!(check_secure(insecure).is_err(), "{insecure}");
        }
    }
}
