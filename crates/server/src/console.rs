//! The embedded console and its configuration.

use portico_api::console::{Asset, Console};
use portico_app::Profile;
use serde_json::json;

use crate::config::ChainUrl;
use crate::config::Config;

/// Sorted by name.
static FILES: &[(&str, Asset)] = include!(concat!(env!("OUT_DIR"), "/console.rs"));

fn find(path: &str) -> Option<Asset> {
    FILES.binary_search_by(|(name, _)| (*name).cmp(path)).ok().map(|at| FILES[at].1)
}

pub(crate) fn console(config: &Config, profile: Profile) -> Console {
    let issuer = config.issuer.as_ref().filter(|_| config.settings.console_client.is_some());
    let origin = issuer.and_then(|issuer| {
        let (scheme, rest) = issuer.issuer.split_once("://")?;
        Some(format!("{scheme}://{}", rest.split('/').next()?))
    });
    let rpc = (config.chain.url == ChainUrl::Embedded && profile == Profile::Sandbox).then_some("/rpc");
    let mut wanted = json!({
        "profile": profile.name(),
        "chain": {"rpc": rpc},
        "country": config.country.as_str(),
    });
    if let Some(issuer) = issuer {
        wanted["issuer"] = json!(issuer.issuer);
        wanted["audience"] = json!(issuer.audience);
        wanted["clientId"] = json!(config.settings.console_client);
        if let Some((claim, value)) = &issuer.admin_claim {
            wanted["adminClaim"] = json!({"claim": claim, "value": value});
        }
    }
    Console { find, config: wanted, connect: origin }
}
