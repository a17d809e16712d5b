//! Where the server listens, and how many connections it takes.

use std::net::SocketAddr;

use portico_app::Profile;

use super::{ConfigErrors, Settings};
use crate::tls::TlsFiles;

const DEFAULT_MAX_CONNECTIONS: usize = 4096;
/// A browser uses six; idle connections give way to new ones.
const DEFAULT_MAX_CONNECTIONS_PER_ADDRESS: usize = 256;

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
        let address = settings.listen.as_deref().unwrap_or("127.0.0.1:8080");
        let address = faults.take("listen", parse(address));
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
        // All clients of a proxy have its address.
        let is_behind_proxy = settings.trusted_hops.unwrap_or(0) > 0;
        let per_address = if is_behind_proxy { 0 } else { DEFAULT_MAX_CONNECTIONS_PER_ADDRESS };
        Some(Self {
            address: address?,
            admin: admin.flatten(),
            tls,
            max_connections: settings.max_connections.unwrap_or(DEFAULT_MAX_CONNECTIONS).max(1),
            max_connections_per_address: settings.max_connections_per_address.unwrap_or(per_address),
        })
    }
}

/// What is allowed and probably not meant.
pub(super) fn warnings(settings: &Settings, listen: &ListenConfig) -> Vec<&'static str> {
    let is_open = !listen.address.ip().is_loopback();
    let is_behind_proxy = settings.trusted_hops.unwrap_or(0) > 0;
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
    use super::super::ProfileName;
    use super::*;

    fn listening(settings: &Settings) -> ListenConfig {
        ListenConfig::new(settings, &mut ConfigErrors::default()).unwrap()
    }

    #[test]
    fn addresses_are_limited_unless_behind_a_proxy() {
        let limit = |hops, given| {
            let settings =
                Settings { trusted_hops: hops, max_connections_per_address: given, ..Settings::default() };
            listening(&settings).max_connections_per_address
        };
        assert_eq!(limit(None, None), DEFAULT_MAX_CONNECTIONS_PER_ADDRESS);
        assert_eq!(limit(Some(1), None), 0);
        assert_eq!((limit(None, Some(7)), limit(Some(1), Some(7))), (7, 7));
    }

    #[test]
    fn a_certificate_needs_its_key() {
        let settings = Settings { tls_cert: Some("cert".into()), ..Settings::default() };
        let mut faults = ConfigErrors::default();
        ListenConfig::new(&settings, &mut faults);
        assert!(faults.0[0].contains("tls_key"), "{:?}", faults.0);
    }

    #[test]
    fn open_listeners_are_warned_about() {
        let warned = |profile, listen: &str, hops| {
            let settings = Settings {
                profile: Some(profile),
                listen: Some(listen.into()),
                trusted_hops: hops,
                ..Settings::default()
            };
            warnings(&settings, &listening(&settings)).join(" ")
        };
        for profile in [ProfileName::Sandbox, ProfileName::Live] {
            assert_eq!(warned(profile, "127.0.0.1:1", None), "");
            assert_eq!(warned(profile, "[::1]:1", None), "");
        }
        assert!(warned(ProfileName::Sandbox, "0.0.0.0:1", Some(1)).contains("as any user"));
        assert!(warned(ProfileName::Live, "[::]:1", None).contains("--trusted-hops"));
        assert_eq!(warned(ProfileName::Live, "10.0.0.1:1", Some(1)), "");
        let with_tls = Settings {
            profile: Some(ProfileName::Live),
            listen: Some("0.0.0.0:1".into()),
            tls_cert: Some("cert".into()),
            tls_key: Some("key".into()),
            ..Settings::default()
        };
        assert_eq!(warnings(&with_tls, &listening(&with_tls)), [""; 0]);
        let admin = Settings { admin_listen: Some("0.0.0.0:1".into()), ..Settings::default() };
        assert!(warnings(&admin, &listening(&admin))[0].contains("no credentials"));
    }
}
