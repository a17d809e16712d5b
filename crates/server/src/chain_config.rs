//! What the configuration says about the chain.

use portico_chain::contracts::Contracts;
use secrecy::SecretString;

/// Blocks after which a block elsewhere is taken as final.
pub(crate) const CONFIRMATIONS: u64 = 12;
/// The most that is paid per gas, in gwei.
pub(crate) const FEE_CAP_GWEI: u64 = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChainUrl {
    Embedded,
    Remote(Vec<String>),
}

pub(crate) struct ChainConfig {
    pub(crate) url: ChainUrl,
    pub(crate) id: Option<u64>,
    pub(crate) contracts: Option<Contracts>,
    pub(crate) keys: Vec<SecretString>,
    pub(crate) confirmations: u64,
    pub(crate) fee_cap: u64,
}
