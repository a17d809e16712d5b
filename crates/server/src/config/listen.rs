//! Where the server listens, and how many connections it takes.

use std::net::SocketAddr;

use portico_app::Profile;

use super::{ConfigErrors, Settings};
use crate::tls::TlsFiles;

#[derive(Debug, Clone)]
pub(crate) struct ListenConfig {
    pub(crate) address: SocketAddr,
    /// For health and metrics alone.
    pub(crate) admin: Option<SocketAddr>,
    pub(crate) tls: Option<TlsFiles>,
    pub(crate) max_connections: usize,
    /// 0: no limit.
    pub(crate) max_connections_per_address: usize,
}

impl ListenConfig {
    pub(super) fn new(settings: &Settings, faults: &mut ConfigErrors) -> Option<Self> {
        let parse = |address: &str| {
            address.parse::<SocketAddr>().map_err(|_| "must be ADDRESS:PORT, such as 127.0.0.1:8080")
        };
        let address = faults.take("listen", parse(&settings.listen));
        let admin = settings.admin_listen.as_deref().map(|admin| faults.take("admin_listen", parse(admin)));
        let tls = match (&settings.tls_cert, &settings.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(TlsFiles { certificate: certificate.clone(), key: key.clone() })
            }
            (None, None) => None,
            _ => {
                faults.add("tls_cert and tls_key must be given together");
                None
            }
        };
        Some(Self {
            address: address?,
            admin: admin.flatten(),
            tls,
            max_connections: settings.max_connections.max(1),
            max_connections_per_address: settings.max_connections_per_address.unwrap_or(0),
        })
    }
}

/// What is allowed and probably not meant.
pub(super) fn warnings(settings: &Settings, listen: &ListenConfig) -> Vec<&'static str> {
    let is_open = !listen.address.ip().is_loopback();
    let is_behind_proxy = settings.trusted_hops > 0;
    let mut warnings = Vec::new();
    match settings.profile_or_sandbox() {
        Profile::Sandbox if is_open => warnings.push(
            "the sandbox listens beyond this machine: anyone who reaches it can read and change everything, as any user",
        ),
        Profile::Live if is_open && !is_behind_proxy && listen.tls.is_none() => warnings.push(
            "a live instance listens beyond this machine with neither TLS nor a proxy: credentials and personal data \
             travel in the clear (give --tls-cert and --tls-key, or put a proxy in front and set --trusted-hops)",
        ),
        _ => {}
    }
    if listen.admin.is_some_and(|admin| !admin.ip().is_loopback()) {
        warnings.push(
            "the listener for health and metrics is open beyond this machine, and asks for no credentials",
        );
    }
    warnings
}

#[cfg(test)]
mod tests {
    use portico_app::Role;

    use super::super::Config;
    use super::super::layers::tests::from_file;
    use super::*;

    #[test]
    fn addresses_are_limited_unless_behind_a_proxy() {
        let limit = |file| {
            let config = Config::new(from_file(file), Role::Tool).unwrap();
            config.listen.max_connections_per_address
        };
        assert_eq!(limit(""), 256);
        assert_eq!(limit("trusted_hops = 1"), 0);
        assert_eq!(limit("max_connections_per_address = 7"), 7);
        assert_eq!(limit("trusted_hops = 1\nmax_connections_per_address = 7"), 7);
    }

    #[test]
    fn certificate_needs_its_key() {
        let mut faults = ConfigErrors::default();
        ListenConfig::new(&from_file("tls_cert = \"cert\""), &mut faults);
        assert!(faults.0[0].contains("tls_key"), "{:?}", faults.0);
    }

    #[test]
    fn open_listeners_are_warned_about() {
        let warned = |file: &str| {
            let settings = from_file(file);
            let listen = ListenConfig::new(&settings, &mut ConfigErrors::default()).unwrap();
            warnings(&settings, &listen).join(" ")
        };
        for profile in ["sandbox", "live"] {
            for listen in ["127.0.0.1:1", "[::1]:1"] {
                assert_eq!(warned(&format!("profile = \"{profile}\"\nlisten = \"{listen}\"")), "");
            }
        }
        assert!(warned("listen = \"0.0.0.0:1\"\ntrusted_hops = 1").contains("as any user"));
        assert!(warned("profile = \"live\"\nlisten = \"[::]:1\"").contains("--trusted-hops"));
        assert_eq!(warned("profile = \"live\"\nlisten = \"10.0.0.1:1\"\ntrusted_hops = 1"), "");
        let tls = "tls_cert = \"cert\"\ntls_key = \"key\"";
        assert_eq!(warned(&format!("profile = \"live\"\nlisten = \"0.0.0.0:1\"\n{tls}")), "");
        assert!(warned("admin_listen = \"0.0.0.0:1\"").contains("no credentials"));
    }
}
