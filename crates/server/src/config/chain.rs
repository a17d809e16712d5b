//! The chain settings.

use portico_app::Profile;
use portico_app::chain::{Address, Contracts, Key};
use portico_domain::endpoints;
use secrecy::SecretString;

use super::{ConfigErrors, Settings};

const WEI_PER_GWEI: u64 = 1_000_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChainUrl {
    Embedded,
    Remote(Vec<String>),
}

impl ChainUrl {
    /// What the chain says about a record is believed, and so is what it says about fees.
    pub(crate) fn check_live(&self) -> Result<(), String> {
        let Self::Remote(urls) = self else { return Ok(()) };
        let checked = urls.iter().try_for_each(|url| endpoints::check_secure(url));
        checked.map_err(|fault| format!("(--chain, --chain-url-file): of a live instance, each URL {fault}"))
    }
}

pub(crate) struct ChainConfig {
    pub(crate) url: ChainUrl,
    pub(crate) id: Option<u64>,
    pub(crate) contracts: Option<Contracts>,
    pub(crate) owner: Option<Address>,
    pub(crate) keys: Vec<SecretString>,
    pub(crate) confirmations: u64,
    pub(crate) fee_cap: u64,
}

impl ChainConfig {
    pub(super) fn new(settings: &Settings, faults: &mut ConfigErrors) -> Self {
        Self {
            url: url(settings, faults),
            id: settings.chain_id,
            contracts: contracts(settings, faults),
            owner: owner(settings, faults),
            keys: keys(settings, faults),
            confirmations: settings.chain_confirmations.max(1),
            fee_cap: settings.chain_fee_cap.saturating_mul(WEI_PER_GWEI),
        }
    }
}

fn url(settings: &Settings, faults: &mut ConfigErrors) -> ChainUrl {
    let urls: Vec<String> = match &*settings.chain {
        "embedded" => return ChainUrl::Embedded,
        urls => urls.split(',').map(|url| url.trim().to_owned()).collect(),
    };
    if !urls.iter().all(|url| url.starts_with("http://") || url.starts_with("https://")) {
        faults.add("chain must be embedded, or http(s)://… (several with commas between)");
    }
    let url = ChainUrl::Remote(urls);
    if settings.profile_or_sandbox() == Profile::Live {
        faults.take("chain", url.check_live());
    }
    url
}

fn contracts(settings: &Settings, faults: &mut ConfigErrors) -> Option<Contracts> {
    let list = settings.chain_contracts.as_deref()?;
    let addresses: Option<Vec<_>> = list.split(',').map(|address| address.trim().parse().ok()).collect();
    let contracts = addresses
        .and_then(|addresses| addresses.try_into().ok())
        .map(Contracts)
        .ok_or("must be the four addresses that `portico chain deploy` prints, with commas between");
    faults.take("chain_contracts", contracts)
}

fn owner(settings: &Settings, faults: &mut ConfigErrors) -> Option<Address> {
    let owner = settings.chain_owner.as_deref()?.trim().parse().ok();
    let owner = owner.filter(|owner: &Address| !owner.is_zero());
    faults.take("chain_owner", owner.ok_or("must be an account's address, 0x and 40 hexadecimal digits"))
}

fn keys(settings: &Settings, faults: &mut ConfigErrors) -> Vec<SecretString> {
    let text = settings.chain_key.as_deref().unwrap_or_default();
    let keys = text.split([',', '\n']).map(str::trim).filter(|key| !key.is_empty());
    let keys: Vec<SecretString> = keys.map(SecretString::from).collect();
    for key in &keys {
        faults.take("chain_key:", Key::parse(key));
    }
    keys
}
