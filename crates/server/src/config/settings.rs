//! The settings. To add one, declare it here and use it: `config.settings.NAME`. Its flag, its variable, its key of the
//! file, its line in the configuration in force and its row in docs/operations.md (`UPDATE_DOCS=1`) follow.

use std::collections::BTreeMap;
use std::path::PathBuf;

use portico_api::{DEFAULT_MAX_IN_FLIGHT, DEFAULT_MAX_RESPONSE_BYTES};
use portico_app::Profile;
use portico_app::configuration::SettingValue;
use portico_screening::{BureauConfig, ScreeningConfig};
use serde::Deserialize;

use super::declaration::{Declaration, Group, Sources, settings};
use super::kinds::{NodeUrls, PrivateUrl, ProfileName, SandboxAccess, Secret, SettingKind};

settings! {
    Common {
        /// The folder for the database and the keys
        data("DIR"): PathBuf = "portico-data".into();
        /// The database: `sqlite:PATH` or `postgres://…`
        database("URL"): Option<PrivateUrl>, otherwise "`portico.db` in the data folder";
        /// A file that contains the URL, if it has a password
        database_url_file("FILE"): Option<PathBuf>;
        /// Where the keys of people are: `sqlite:PATH`, or `postgres://…` of another cluster than the database's
        keystore("URL"): Option<PrivateUrl>, otherwise "`keys.db` in the data folder";
        /// A file that contains the URL, if it has a password
        keystore_url_file("FILE"): Option<PathBuf>;
        /// The root secret, which opens the keystore: 64 hexadecimal digits
        encryption_key("HEX"): Option<Secret>, otherwise "sandbox: made on first start";
        /// A file that contains the key
        encryption_key_file("FILE"): Option<PathBuf>;
        /// The chain to record on: `embedded`, or `http(s)://…` (several with commas between, for failover); live: https,
        /// or on this machine
        chain("URL"): NodeUrls = NodeUrls::from("embedded".to_owned());
        /// A file that contains the URL, if it has a password or a key
        chain_url_file("FILE"): Option<PathBuf>;
        /// What to log: `error`, `warn`, `info`, `debug`, `trace`, or filters such as `info,portico::access=debug`;
        /// `RUST_LOG` comes last
        log("LEVEL"): Option<String>, otherwise "`info`";
    }
    Profile {
        /// `sandbox` (mostly open, for trying things out) or `live`; a database keeps to the one that it was first served
        /// with, and commands take that
        profile("PROFILE"): Option<ProfileName>, otherwise "`sandbox`";
    }
    Serve {
        /// Where to listen: an IP address and a port; port 0 takes a free one
        listen("ADDRESS"): String = "127.0.0.1:8080".into();
        /// Another address, for `/healthz`, `/readyz` and `/metrics` alone, without credentials
        admin_listen("ADDRESS"): Option<String>;
        /// A PEM file with the certificate for TLS, and those between it and the authority's; with `--tls-key`; read again
        /// on SIGHUP
        tls_cert("FILE"): Option<PathBuf>;
        /// A PEM file with the certificate's private key
        tls_key("FILE"): Option<PathBuf>;
        /// Let the sandbox listen beyond loopback, where anybody can change everything
        allow_open("ALLOW_OPEN"): bool = false;
        /// `live` gives a sandbox the access table of a live instance, so that integrators meet its refusals early
        sandbox_access("ACCESS"): SandboxAccess = SandboxAccess::Open;
        /// Host names that this service answers for (comma-separated; `*` for any)
        allow_host("HOST"): Vec<String>, otherwise "sandbox: local names; live: any";
        /// Origins whose pages may call this service (CORS; comma-separated)
        cors_origin("ORIGIN"): Vec<String>;
        /// How many proxies stand in front; X-Forwarded-For counts only from them
        trusted_hops("N"): usize = 0;
        /// For how many days the inputs of a verification are kept, encrypted
        retention_days("DAYS"): u32 = 30;
        /// How many different sets of terms the owners of listings learn something about, for each person in 30 days
        disclosures_per_person("N"): u32 = 40;
        /// Refuse applications that do not say which conditions their applicant has seen
        require_conditions("REQUIRE_CONDITIONS"): bool = false;
        /// Requests per second, for each client address and each credential; 0: no limit
        rate_limit("N"): u32 = 100, sandbox 0;
        /// Connections at once
        max_connections("N"): usize = 4096;
        /// Connections at once from one client address, an IPv6 /64 network being one; 0: no limit
        max_connections_per_address("N"): Option<usize>, otherwise "256; behind `--trusted-hops` no limit";
        /// Requests that are worked on at once; more get 503
        max_in_flight("N"): usize = DEFAULT_MAX_IN_FLIGHT;
        /// Memory for long responses that their clients have not taken yet, in MiB; more get 503
        max_response_memory("MIB"): usize = DEFAULT_MAX_RESPONSE_BYTES >> 20;
        /// The country of listings that name none
        country("COUNTRY"): String = "US".into();
        /// An external OpenID Connect issuer, together with `--audience`; live: https, or on this machine
        issuer("URL"): Option<PrivateUrl>;
        /// The audience that the issuer's tokens must name
        audience("NAME"): Option<String>;
        /// Where the issuer publishes its keys; live: https, or on this machine
        jwks_url("URL"): Option<PrivateUrl>, otherwise "as its configuration says";
        /// How many seconds the issuer's keys are used before they are fetched again (1 to 3600). The first use after that
        /// starts the fetch without waiting for it, so a withdrawn key may be trusted for twice as long, and longer if
        /// nobody signs in
        jwks_refresh("SECONDS"): u64 = 30;
        /// The claim and value in the issuer's tokens that make an administrator, such as `roles=portico-admin`
        admin_claim("CLAIM=VALUE"): Option<String>;
        /// The client id under which the console signs people in at the issuer (redirect address: `…/console/signed-in`)
        console_client("ID"): Option<String>;
        /// A PMTiles file with the streets for the console's maps
        basemap("FILE"): Option<PathBuf>, otherwise "`basemap.pmtiles` in the data folder, if it is there";
    }
    Budgets {
        /// Checks by bureaus that a person may cause in a day; 0: no limit
        checks_per_person("N"): u32 = 40, sandbox 0;
        /// The same for all people of an account
        checks_per_account("N"): u32 = 2_000, sandbox 0;
        /// Items that a person may have written to the chain in a day; 0: no limit
        records_per_person("N"): u32 = 500, sandbox 0;
        /// The same for all people and keys of an account
        records_per_account("N"): u32 = 5_000, sandbox 0;
        /// Reads of a remote chain per second, for each account, and for strangers together (a quarter for one address or
        /// IPv6 /64); 0: no limit
        chain_reads("N"): u32 = 100, sandbox 0;
    }
    Chain {
        /// The id that the chain must have
        chain_id("N"): Option<u64>, otherwise "whichever it has";
        /// The contracts' four addresses, as `portico chain deploy` prints them
        chain_contracts("ADDRESSES"): Option<String>, otherwise "those the database knows";
        /// The account that owns contracts deployed from now on: it grants and revokes roles
        chain_owner("ADDRESS"): Option<String>, otherwise "the first key's account";
        /// Private keys to sign with, 64 hexadecimal digits each, with commas between; as many as there are replicas
        chain_key("HEX"): Option<Secret>, otherwise "embedded: made on first start";
        /// A file with the keys, one a line
        chain_key_file("FILE"): Option<PathBuf>;
        /// Blocks after which a block is final
        chain_confirmations("N"): u64 = 12;
        /// How many seconds records of flags wait for those of other people, so that their time tells less about whose they
        /// are; 0: they are sent at once
        chain_flag_interval("SECONDS"): u32 = 60, sandbox 0;
        /// The most that is paid per gas, in gwei
        chain_fee_cap("GWEI"): u64 = 500;
    }
}

impl Settings {
    /// Those of a sandbox that is given none.
    pub fn sandbox() -> Self {
        let mut settings = Self::default();
        settings.use_sandbox_defaults();
        settings
    }

    /// The profile to validate for, before the database's own is known.
    pub(super) fn profile_or_sandbox(&self) -> Profile {
        self.profile.map_or(Profile::Sandbox, Profile::from)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
    const BEGIN: &str = "<!-- settings: generated, see crates/server/src/config/settings.rs -->\n";
    const END: &str = "<!-- end of settings -->\n";

    fn table() -> String {
        let mut table =
            String::from("| flag | environment | TOML key | default | meaning |\n|---|---|---|---|---|\n");
        for setting in declarations() {
            let (name, flag, variable) = (setting.name, setting.flag(), setting.variable());
            let default = setting.default_text("`").unwrap_or_else(|| "none".into());
            let help = setting.help.trim();
            // Its value is optional.
            let value = if name == "allow_open" { String::new() } else { format!(" {}", setting.value_name) };
            writeln!(table, "| `--{flag}{value}` | `{variable}` | `{name}` | {default} | {help} |").unwrap();
        }
        table
    }

    /// `UPDATE_DOCS=1` rewrites the table.
    #[test]
    fn documented_table_is_up_to_date() {
        let documented = std::fs::read_to_string(DOCS).unwrap();
        let (before, rest) = documented.split_once(BEGIN).unwrap();
        let (_, after) = rest.split_once(END).unwrap();
        let expected = [before, BEGIN, &table(), END, after].concat();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(DOCS, expected).unwrap();
            return;
        }
        assert_eq!(documented, expected, "run UPDATE_DOCS=1 cargo test -p portico documented_table");
    }
}
