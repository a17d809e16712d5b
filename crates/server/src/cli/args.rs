//! Flags that are settings. Each field's name is also the key of the file given with --config.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use portico_store::Role;
use serde::Serialize;
use toml::Table;

use crate::config::{Config, ProfileName, Settings};

/// Flags of every command.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// The folder for the database and the keys [default: ./portico-data]
    #[arg(long, global = true, env = "PORTICO_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// sqlite:PATH or postgres://… [default: SQLite inside the data folder]
    #[arg(long, global = true, env = "PORTICO_DATABASE", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
    /// A file that contains the URL, if it has a password
    #[arg(long, global = true, env = "PORTICO_DATABASE_URL_FILE", value_name = "FILE")]
    database_url_file: Option<PathBuf>,
    /// Where the keys of people are: sqlite:PATH or postgres://… [default: keys.db in the data folder]
    #[arg(long, global = true, env = "PORTICO_KEYSTORE", value_name = "URL", hide_env_values = true)]
    keystore: Option<String>,
    /// A file that contains the URL, if it has a password
    #[arg(long, global = true, env = "PORTICO_KEYSTORE_URL_FILE", value_name = "FILE")]
    keystore_url_file: Option<PathBuf>,
    /// The chain to record on: embedded, or http(s)://… (several with commas between) [default: embedded]
    #[arg(long, global = true, env = "PORTICO_CHAIN", value_name = "URL", hide_env_values = true)]
    chain: Option<String>,
    /// A file that contains the URL, if it has a password or a key
    #[arg(long, global = true, env = "PORTICO_CHAIN_URL_FILE", value_name = "FILE")]
    chain_url_file: Option<PathBuf>,
    /// The key that opens the keystore: 64 hexadecimal digits [sandbox: made on first start]
    #[arg(long, global = true, env = "PORTICO_ENCRYPTION_KEY", value_name = "HEX", hide_env_values = true)]
    encryption_key: Option<String>,
    /// A file that contains the key
    #[arg(long, global = true, env = "PORTICO_ENCRYPTION_KEY_FILE", value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
    /// A TOML file with settings
    #[serde(skip)]
    #[arg(long, global = true, env = "PORTICO_CONFIG", value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// What to log: error, warn, info, debug, trace, or filters such as info,portico::access=debug (RUST_LOG works too)
    #[arg(long, global = true, env = "PORTICO_LOG", value_name = "LEVEL")]
    log: Option<String>,
    /// The flags of any command whose values are from the environment.
    #[serde(skip)]
    #[arg(skip)]
    pub(super) environment: BTreeSet<String>,
}

impl Global {
    /// The configuration: these flags and the command's own over the file.
    pub(super) fn config(&self, command: &impl Serialize, role: Role) -> Result<Config> {
        let mut flags = Table::try_from(self)?;
        flags.extend(Table::try_from(command)?);
        Config::new(Settings::load(self.config.as_deref(), flags, &self.environment)?, role)
    }
}

/// For commands without settings.
#[derive(Debug, Serialize)]
pub(super) struct NoSettings {}

/// Flags of `serve`.
#[derive(Debug, Args, Serialize)]
pub(super) struct ServeArgs {
    /// Where to listen [default: 127.0.0.1:8080]; port 0 takes a free one
    #[arg(long, env = "PORTICO_LISTEN", value_name = "ADDRESS")]
    listen: Option<String>,
    /// Another address, for /healthz, /readyz and /metrics alone, without credentials [default: none]
    #[arg(long, env = "PORTICO_ADMIN_LISTEN", value_name = "ADDRESS")]
    admin_listen: Option<String>,
    /// A PEM file with the certificate for TLS, and those between it and the authority's; read again on SIGHUP
    #[arg(long, env = "PORTICO_TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// A PEM file with its private key
    #[arg(long, env = "PORTICO_TLS_KEY", value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// sandbox (mostly open, for trying things out) or live [default: sandbox]; a database keeps to the one that it was
    /// first served with
    #[arg(long, value_enum, env = "PORTICO_PROFILE")]
    profile: Option<ProfileName>,
    /// Let the sandbox listen beyond loopback, where anybody can change everything
    #[arg(long, env = "PORTICO_ALLOW_OPEN", num_args = 0..=1, default_missing_value = "true",
          require_equals = true, value_parser = clap::builder::BoolishValueParser::new(), hide_possible_values = true)]
    allow_open: Option<bool>,
    /// Another host name that this service answers for (comma-separated; * for any)
    #[arg(long, env = "PORTICO_ALLOW_HOST", value_name = "HOST", value_delimiter = ',')]
    allow_host: Option<Vec<String>>,
    /// An origin whose pages may call this service (CORS; comma-separated)
    #[arg(long, env = "PORTICO_CORS_ORIGIN", value_name = "ORIGIN", value_delimiter = ',')]
    cors_origin: Option<Vec<String>>,
    /// How many proxies stand in front; X-Forwarded-For counts only from them [default: 0]
    #[arg(long, env = "PORTICO_TRUSTED_HOPS", value_name = "N")]
    trusted_hops: Option<usize>,
    /// For how many days the inputs of a verification are kept, encrypted [default: 30]
    #[arg(long, env = "PORTICO_RETENTION_DAYS", value_name = "DAYS")]
    retention_days: Option<u32>,
    /// Requests per second, for each client address and each credential; 0 for no limit [default: 100, sandbox: no limit]
    #[arg(long, env = "PORTICO_RATE_LIMIT", value_name = "N")]
    rate_limit: Option<u32>,
    #[serde(flatten)]
    #[command(flatten)]
    budgets: BudgetArgs,
    /// Connections at once [default: 4096]
    #[arg(long, env = "PORTICO_MAX_CONNECTIONS", value_name = "N")]
    max_connections: Option<usize>,
    /// Connections at once from one client address, an IPv6 /64 network being one; 0: no limit [default: 256; behind
    /// --trusted-hops no limit]
    #[arg(long, env = "PORTICO_MAX_CONNECTIONS_PER_ADDRESS", value_name = "N")]
    max_connections_per_address: Option<usize>,
    /// Requests that are worked on at once; more get 503 [default: 1024]
    #[arg(long, env = "PORTICO_MAX_IN_FLIGHT", value_name = "N")]
    max_in_flight: Option<usize>,
    /// Memory for long responses that their clients have not taken yet, in MiB; more get 503 [default: 128]
    #[arg(long, env = "PORTICO_MAX_RESPONSE_MEMORY", value_name = "MIB")]
    max_response_memory: Option<usize>,
    /// The country of listings that name none [default: US]
    #[arg(long, env = "PORTICO_COUNTRY", value_name = "COUNTRY")]
    country: Option<String>,
    /// An external OpenID Connect issuer, together with --audience
    #[arg(long, env = "PORTICO_ISSUER", value_name = "URL")]
    issuer: Option<String>,
    /// The audience that its tokens must name
    #[arg(long, env = "PORTICO_AUDIENCE", value_name = "NAME")]
    audience: Option<String>,
    /// Where it publishes its keys [default: as its configuration says, at …/.well-known/openid-configuration]
    #[arg(long, env = "PORTICO_JWKS_URL", value_name = "URL")]
    jwks_url: Option<String>,
    /// How many seconds its keys are used before they are fetched again [default: 30]
    #[arg(long, env = "PORTICO_JWKS_REFRESH", value_name = "SECONDS")]
    jwks_refresh: Option<u64>,
    /// The claim and value in its tokens that make an administrator, such as roles=portico-admin
    #[arg(long, env = "PORTICO_ADMIN_CLAIM", value_name = "CLAIM=VALUE")]
    admin_claim: Option<String>,
    /// The client id under which the console signs people in at that issuer (redirect address: …/console/signed-in)
    #[arg(long, env = "PORTICO_CONSOLE_CLIENT", value_name = "ID")]
    console_client: Option<String>,
    /// A PMTiles file with the streets for the console's maps [default: basemap.pmtiles in the data folder, if it is there]
    #[arg(long, env = "PORTICO_BASEMAP", value_name = "FILE")]
    basemap: Option<PathBuf>,
    #[serde(flatten)]
    #[command(flatten)]
    chain: ChainArgs,
    /// Print one line of JSON instead of the banner
    #[serde(skip)]
    #[arg(long)]
    pub(super) json: bool,
}

/// Flags of what costs money. 0 is no limit, and a sandbox has none.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Budgets")]
pub(super) struct BudgetArgs {
    /// Checks by bureaus that a person may cause in a day; 0 for no limit [default: 40, sandbox: no limit]
    #[arg(long, env = "PORTICO_CHECKS_PER_PERSON", value_name = "N")]
    checks_per_person: Option<u32>,
    /// The same for all people of an account [default: 2000, sandbox: no limit]
    #[arg(long, env = "PORTICO_CHECKS_PER_ACCOUNT", value_name = "N")]
    checks_per_account: Option<u32>,
    /// Items that a person may have written to the chain in a day; 0 for no limit [default: 500, sandbox: no limit]
    #[arg(long, env = "PORTICO_RECORDS_PER_PERSON", value_name = "N")]
    records_per_person: Option<u32>,
    /// The same for all people and keys of an account [default: 5000, sandbox: no limit]
    #[arg(long, env = "PORTICO_RECORDS_PER_ACCOUNT", value_name = "N")]
    records_per_account: Option<u32>,
    /// Reads of a remote chain per second, for each account, and for strangers together; 0 for no limit
    /// [default: 100, sandbox: no limit]
    #[arg(long, env = "PORTICO_CHAIN_READS", value_name = "N")]
    chain_reads: Option<u32>,
}

/// Flags of everything that uses the chain.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Chain options")]
#[expect(clippy::struct_field_names, reason = "a field's name is its flag's")]
pub(super) struct ChainArgs {
    /// The id that the chain must have [default: whichever it has]
    #[arg(long, env = "PORTICO_CHAIN_ID", value_name = "N")]
    chain_id: Option<u64>,
    /// The contracts' four addresses, as `chain deploy` prints them [default: those the database knows]
    #[arg(long, env = "PORTICO_CHAIN_CONTRACTS", value_name = "ADDRESSES")]
    chain_contracts: Option<String>,
    /// The account that owns contracts deployed from now on: it grants and revokes roles [default: the first key's]
    #[arg(long, env = "PORTICO_CHAIN_OWNER", value_name = "ADDRESS")]
    chain_owner: Option<String>,
    /// Private keys to sign with, 64 hexadecimal digits each, with commas between [embedded: made on first start]
    #[arg(long, env = "PORTICO_CHAIN_KEY", value_name = "HEX", hide_env_values = true)]
    chain_key: Option<String>,
    /// A file with them, one a line
    #[arg(long, env = "PORTICO_CHAIN_KEY_FILE", value_name = "FILE")]
    chain_key_file: Option<PathBuf>,
    /// Blocks after which a block is taken as final [default: 12]
    #[arg(long, env = "PORTICO_CHAIN_CONFIRMATIONS", value_name = "N")]
    chain_confirmations: Option<u64>,
    /// The most that is paid per gas, in gwei [default: 500]
    #[arg(long, env = "PORTICO_CHAIN_FEE_CAP", value_name = "GWEI")]
    chain_fee_cap: Option<u64>,
}

/// Flag of commands that act for an instance of one profile.
#[derive(Debug, Args, Serialize)]
pub(super) struct ProfileArg {
    /// The instance's: sandbox or live [default: the database's own]
    #[arg(long, value_enum, env = "PORTICO_PROFILE")]
    profile: Option<ProfileName>,
}
