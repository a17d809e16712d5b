//! The command line.

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use portico_app::tokens::NewToken;
use portico_domain::keys::KeyScope;
use portico_domain::{AccountId, KeyId, Label, UserId};
use portico_store::{Db, Role};

use crate::config::{Config, Flags, ProfileName};
use crate::{admin, chain, people, recorded_profile, seed, serve};

/// Rental listings, applicant screening and infrastructure portfolios, in one binary.
#[derive(Debug, Parser)]
#[command(
    name = "portico",
    version,
    after_help = "Every flag is also an environment variable (--listen: PORTICO_LISTEN) and a key of the file given \
                  with --config (listen = \"…\").\nA flag wins over the environment, the environment over the file."
)]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// Flags of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The folder for the database and the keys [default: ./portico-data]
    #[arg(long, global = true, env = "PORTICO_DATA", value_name = "DIR")]
    data: Option<PathBuf>,
    /// sqlite:PATH or postgres://… [default: SQLite inside the data folder]
    #[arg(long, global = true, env = "PORTICO_DATABASE", value_name = "URL", hide_env_values = true)]
    database: Option<String>,
    /// Where the keys of people are: sqlite:PATH or postgres://… [default: keys.db in the data folder, or a schema of its
    /// own in the PostgreSQL database]
    #[arg(long, global = true, env = "PORTICO_KEYSTORE", value_name = "URL", hide_env_values = true)]
    keystore: Option<String>,
    /// The chain to record on: embedded, or http(s)://… (several with commas between) [default: embedded]
    #[arg(long, global = true, env = "PORTICO_CHAIN", value_name = "URL", hide_env_values = true)]
    chain: Option<String>,
    /// A TOML file with settings
    #[arg(long, global = true, env = "PORTICO_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    /// What to log: error, warn, info, debug, trace, or filters such as info,portico::access=debug (RUST_LOG works too)
    #[arg(long, global = true, env = "PORTICO_LOG", value_name = "LEVEL")]
    log: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the service
    #[command(
        after_help = "Examples:\n  portico serve\n  portico serve --listen 127.0.0.1:9000 --data /var/lib/portico\n  \
                            portico serve --profile live --database postgres://portico@db/portico --config portico.toml"
    )]
    Serve(Box<ServeArgs>),
    /// Prints a bearer token of this instance
    #[command(
        after_help = "Examples:\n  portico token --sub ada\n  portico token --sub root --scope admin --ttl 15m"
    )]
    Token(TokenArgs),
    /// Makes, lists and revokes API keys; works while the server runs
    #[command(subcommand)]
    Key(KeyCommand),
    /// Prints the OpenAPI document
    #[command(after_help = "Example:\n  portico openapi > openapi.json")]
    Openapi {
        /// Whose security rules to describe: sandbox or live
        #[arg(long, value_enum, default_value_t = ProfileName::Sandbox)]
        profile: ProfileName,
    },
    /// Brings the database to this version's shape, or tells where it stands
    #[command(subcommand)]
    Migrate(MigrateCommand),
    /// Deploys the contracts, tells how the chain stands, compares it with the database
    #[command(subcommand)]
    Chain(ChainCommand),
    /// Fills a sandbox with demonstration data; works while the server runs
    #[command(after_help = "Example:\n  portico seed --demo")]
    Seed {
        /// Homes in several cities, people, applications, portfolios, devices
        #[arg(long, required = true)]
        demo: bool,
        /// The instance's; a live one is not filled [default: the database's own]
        #[arg(long, value_enum, env = "PORTICO_PROFILE")]
        profile: Option<ProfileName>,
        /// The instance's: 64 hexadecimal digits [default: the one in the data folder]
        #[arg(long, env = "PORTICO_ENCRYPTION_KEY", value_name = "HEX", hide_env_values = true)]
        encryption_key: Option<String>,
    },
    /// Erases a person: unreadable at once, in every copy; works while the server runs
    #[command(after_help = "Example:\n  portico erase --user ada")]
    Erase {
        /// Who
        #[arg(long, value_name = "USER")]
        user: String,
    },
    /// Changes the keys under which personal data is encrypted; works while the server runs
    #[command(subcommand)]
    Encryption(EncryptionCommand),
    /// Tells whether the audit log was altered
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Prints completions for a shell
    #[command(after_help = "Example:\n  portico completions bash > /etc/bash_completion.d/portico")]
    Completions {
        /// bash, elvish, fish, powershell or zsh
        shell: Shell,
    },
}

/// Flags of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where to listen [default: 127.0.0.1:8080]; port 0 takes a free one
    #[arg(long, env = "PORTICO_LISTEN", value_name = "ADDRESS")]
    listen: Option<String>,
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
    allow_host: Vec<String>,
    /// An origin whose pages may call this service (CORS; comma-separated)
    #[arg(long, env = "PORTICO_CORS_ORIGIN", value_name = "ORIGIN", value_delimiter = ',')]
    cors_origin: Vec<String>,
    /// How many proxies stand in front; X-Forwarded-For counts only from them [default: 0]
    #[arg(long, env = "PORTICO_TRUSTED_HOPS", value_name = "N")]
    trusted_hops: Option<usize>,
    /// For how many days the inputs of a verification are kept, encrypted [default: 30]
    #[arg(long, env = "PORTICO_RETENTION_DAYS", value_name = "DAYS")]
    retention_days: Option<u32>,
    /// Requests per second, for each client address and each credential [default: no limit]
    #[arg(long, env = "PORTICO_RATE_LIMIT", value_name = "N")]
    rate_limit: Option<u32>,
    /// Connections at once [default: 4096]
    #[arg(long, env = "PORTICO_MAX_CONNECTIONS", value_name = "N")]
    max_connections: Option<usize>,
    /// Requests that are worked on at once; more get 503 [default: 1024]
    #[arg(long, env = "PORTICO_MAX_IN_FLIGHT", value_name = "N")]
    max_in_flight: Option<usize>,
    /// The country of listings that name none [default: US]
    #[arg(long, env = "PORTICO_COUNTRY", value_name = "COUNTRY")]
    country: Option<String>,
    /// An external OpenID Connect issuer, together with --audience and --jwks-url
    #[arg(long, env = "PORTICO_ISSUER", value_name = "URL")]
    issuer: Option<String>,
    /// The audience that its tokens must name
    #[arg(long, env = "PORTICO_AUDIENCE", value_name = "NAME")]
    audience: Option<String>,
    /// Where it publishes its keys
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
    /// The key under which personal data and kept answers are encrypted: 64 hexadecimal digits [sandbox: made on first start]
    #[arg(long, env = "PORTICO_ENCRYPTION_KEY", value_name = "HEX", hide_env_values = true)]
    encryption_key: Option<String>,
    #[command(flatten)]
    chain: ChainArgs,
    /// Print one line of JSON instead of the banner
    #[arg(long)]
    json: bool,
}

/// Flags of everything that uses the chain.
#[derive(Debug, Args)]
#[command(next_help_heading = "Chain options")]
#[expect(clippy::struct_field_names, reason = "a field's name is its flag's")]
pub struct ChainArgs {
    /// The id that the chain must have [default: whichever it has]
    #[arg(long, env = "PORTICO_CHAIN_ID", value_name = "N")]
    chain_id: Option<u64>,
    /// The contracts' four addresses, as `chain deploy` prints them [default: those the database knows]
    #[arg(long, env = "PORTICO_CHAIN_CONTRACTS", value_name = "ADDRESSES")]
    chain_contracts: Option<String>,
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

#[derive(Debug, Subcommand)]
enum ChainCommand {
    /// Deploys the contracts and prints where they are; once for a database
    #[command(
        after_help = "Example:\n  PORTICO_CHAIN_KEY=… portico chain deploy --chain https://rpc.example --database postgres://…"
    )]
    Deploy(ChainArgs),
    /// Tells how the chain and the queue stand
    Status(ChainArgs),
    /// Compares every item in the database with the chain
    #[command(after_help = "Examples:\n  portico chain reconcile\n  portico chain reconcile --mend")]
    Reconcile {
        #[command(flatten)]
        chain: ChainArgs,
        /// Record what differs again
        #[arg(long)]
        mend: bool,
    },
}

#[derive(Debug, Subcommand)]
enum EncryptionCommand {
    /// Makes a new master key and wraps the key of every person by it
    #[command(
        after_help = "Examples:\n  portico encryption rotate\n  portico encryption rotate --new-key-file next.key\n\n\
                      With --new-key-file the file's key opens the keystore too: restart with it as PORTICO_ENCRYPTION_KEY,\n\
                      then rotate once more, and the old one opens nothing any more."
    )]
    Rotate {
        /// The key that opens the keystore now: 64 hexadecimal digits [sandbox: the one in the data folder]
        #[arg(long, env = "PORTICO_ENCRYPTION_KEY", value_name = "HEX", hide_env_values = true)]
        encryption_key: Option<String>,
        /// A file with the key that is to open it from now on as well
        #[arg(long, value_name = "FILE")]
        new_key_file: Option<PathBuf>,
    },
    /// Takes the configured keystore in the place of one that was lost, and erases everybody who was screened
    #[command(
        after_help = "What the lost keystore sealed nobody can read again. Stop the servers first.\n\n\
                            Example:\n  portico encryption replace-keystore"
    )]
    ReplaceKeystore {
        /// The key that opens the new keystore: 64 hexadecimal digits [sandbox: the one in the data folder]
        #[arg(long, env = "PORTICO_ENCRYPTION_KEY", value_name = "HEX", hide_env_values = true)]
        encryption_key: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Reads the whole log, and compares its end with its anchor on the chain
    Verify(ChainArgs),
}

/// Flags of `token`.
#[derive(Debug, Args)]
pub struct TokenArgs {
    /// The user
    #[arg(long, value_name = "USER")]
    sub: String,
    /// The account [default: the user's own]
    #[arg(long, value_name = "ACCOUNT")]
    account: Option<String>,
    /// admin: may act for others
    #[arg(long, value_parser = ["admin"])]
    scope: Option<String>,
    /// How long it is valid: 90s, 15m, 1h, 7d
    #[arg(long, default_value = "1h", value_parser = duration)]
    ttl: Duration,
    /// The instance's: sandbox or live [default: the database's own]
    #[arg(long, value_enum, env = "PORTICO_PROFILE")]
    profile: Option<ProfileName>,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// Makes a key and prints it, once
    #[command(
        after_help = "Examples:\n  portico key create --name operator\n  portico key create --name ci --user ada"
    )]
    Create {
        /// What it is for
        #[arg(long)]
        name: String,
        /// Bind it to what an account's users own
        #[arg(long, conflicts_with = "user")]
        account: Option<String>,
        /// Bind it to what a user owns
        #[arg(long)]
        user: Option<String>,
        /// The instance's: sandbox or live [default: the database's own]
        #[arg(long, value_enum, env = "PORTICO_PROFILE")]
        profile: Option<ProfileName>,
    },
    /// Lists all keys, without their secrets
    List,
    /// Revokes a key, at once and for good
    #[command(after_help = "Example:\n  portico key revoke 5f3a0c1d2e4b6978")]
    Revoke {
        /// Its id, from `portico key list` (the middle part of the key)
        id: String,
    },
}

#[derive(Debug, Subcommand)]
enum MigrateCommand {
    /// Brings the database to this version's shape
    Up,
    /// Tells where the database stands
    Status,
}

/// `90s`, `15m`, `1h`, `7d`.
fn duration(text: &str) -> Result<Duration, String> {
    let fault = || "must be a number with s, m, h or d, such as 15m".to_owned();
    let (number, unit) = text.split_at(text.len() - text.chars().next_back().map_or(0, char::len_utf8));
    let number: u64 = number.parse().map_err(|_| fault())?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(fault()),
    };
    match number.checked_mul(seconds) {
        Some(seconds @ 1..=315_360_000) => Ok(Duration::from_secs(seconds)),
        _ => Err("must be between 1s and 3650d".into()),
    }
}

/// Runs a command.
pub fn run(cli: Cli) -> Result<()> {
    let Global { data, database, keystore, chain, config, log } = cli.global;
    let mut flags = Flags { data, database, keystore, chain, config, log, ..Flags::default() };
    match cli.command {
        Command::Serve(args) => {
            let json = args.json;
            flags.fill(*args);
            let config = Config::load(flags, Role::Server)?;
            let (requests, background) =
                (runtime()?, threads().worker_threads(1).thread_name("portico-background").build()?);
            requests.block_on(serve(config, json, background.handle().clone()))
        }
        Command::Token(args) => {
            flags.profile = args.profile;
            print(&runtime()?.block_on(token(&Config::load(flags, Role::Tool)?, &args))?)
        }
        Command::Key(command) => runtime()?.block_on(key(flags, command)),
        Command::Openapi { profile } => print(&portico_api::openapi(profile.into()).to_pretty_json()?),
        Command::Migrate(command) => {
            runtime()?.block_on(migrate(&Config::load(flags, Role::Tool)?, &command))
        }
        Command::Chain(command) => runtime()?.block_on(on_chain(flags, command)),
        Command::Seed { demo: _, profile, encryption_key } => {
            (flags.profile, flags.encryption_key) = (profile, encryption_key);
            print(&runtime()?.block_on(seed::demo(&Config::load(flags, Role::Tool)?))?)
        }
        Command::Erase { user } => {
            runtime()?.block_on(people::erase(&Config::load(flags, Role::Tool)?, &user))
        }
        Command::Encryption(EncryptionCommand::Rotate { encryption_key, new_key_file }) => {
            flags.encryption_key = encryption_key;
            let config = Config::load(flags, Role::Tool)?;
            print(&runtime()?.block_on(people::rotate(&config, new_key_file.as_deref()))?)
        }
        Command::Encryption(EncryptionCommand::ReplaceKeystore { encryption_key }) => {
            flags.encryption_key = encryption_key;
            let config = Config::load(flags, Role::Tool)?;
            print(&runtime()?.block_on(people::replace_keystore(&config))?)
        }
        Command::Audit(AuditCommand::Verify(args)) => {
            flags.fill_chain(args);
            print(&runtime()?.block_on(people::verify_audit(&Config::load(flags, Role::Tool)?))?)
        }
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "portico", &mut std::io::stdout());
            Ok(())
        }
    }
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    threads().build().map_err(Into::into)
}

fn threads() -> tokio::runtime::Builder {
    let mut threads = tokio::runtime::Builder::new_multi_thread();
    threads.enable_all().max_blocking_threads(16);
    threads
}

/// Writes to stdout; a reader that has gone is no error.
fn print(text: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

async fn token(config: &Config, args: &TokenArgs) -> Result<String> {
    let account = args.account.as_deref().map(AccountId::parse).transpose();
    let token = NewToken {
        user: UserId::parse(&args.sub).map_err(|fault| anyhow::anyhow!("--sub {fault}"))?,
        account: account.map_err(|fault| anyhow::anyhow!("--account {fault}"))?,
        admin: args.scope.is_some(),
        ttl: args.ttl,
    };
    let tokens = config.data.tokens(None, recorded_profile(config).await?)?;
    Ok(tokens.issue(&token, portico_app::clock::Clock::now(&portico_app::clock::SystemClock))?)
}

async fn key(mut flags: Flags, command: KeyCommand) -> Result<()> {
    if let KeyCommand::Create { profile, .. } = &command {
        flags.profile = *profile;
    }
    let config = Config::load(flags, Role::Tool)?;
    match command {
        KeyCommand::Create { name, account, user, profile: _ } => {
            let scope = match (account, user) {
                (Some(account), _) => KeyScope::Account(
                    AccountId::parse(&account).map_err(|fault| anyhow::anyhow!("--account {fault}"))?,
                ),
                (None, Some(user)) => {
                    KeyScope::User(UserId::parse(&user).map_err(|fault| anyhow::anyhow!("--user {fault}"))?)
                }
                (None, None) => KeyScope::Operator,
            };
            let name = Label::parse(&name).map_err(|fault| anyhow::anyhow!("--name {fault}"))?;
            let (app, call) = admin(&config).await?;
            print(&app.keys.create(&call, name, scope).await?.secret)
        }
        KeyCommand::List => {
            let (app, call) = admin(&config).await?;
            print(&format!("{:<18}{:<28}{:<24}{:<30}STATE", "ID", "CREATED", "FOR", "NAME"))?;
            for key in app.keys.all(&call).await? {
                let scope = match &key.scope {
                    KeyScope::Operator => "operator".to_owned(),
                    KeyScope::Account(account) => format!("account {account}"),
                    KeyScope::User(user) => format!("user {user}"),
                };
                let state = key.revoked_at.map_or("valid".to_owned(), |at| format!("revoked {at}"));
                let created = key.created_at.to_string();
                print(&format!(
                    "{:<18}{created:<28}{scope:<24}{:<30}{state}",
                    key.id.as_str(),
                    key.name.as_str()
                ))?;
            }
            Ok(())
        }
        KeyCommand::Revoke { id } => {
            let id = KeyId::parse(&id).map_err(|fault| anyhow::anyhow!("the id {fault}"))?;
            let (app, call) = admin(&config).await?;
            match app.keys.revoke(&call, id).await {
                Err(portico_app::Error::NotFound(_)) => bail!("there is no such key: see `portico key list`"),
                outcome => outcome.map_err(Into::into),
            }
        }
    }
}

async fn on_chain(mut flags: Flags, command: ChainCommand) -> Result<()> {
    let (args, mend) = match command {
        ChainCommand::Deploy(args) => {
            flags.fill_chain(args);
            return print(&chain::deploy(&Config::load(flags, Role::Tool)?).await?);
        }
        ChainCommand::Status(args) => (args, None),
        ChainCommand::Reconcile { chain, mend } => (chain, Some(mend)),
    };
    flags.fill_chain(args);
    let config = Config::load(flags, Role::Tool)?;
    print(&match mend {
        None => chain::status(&config).await?,
        Some(mend) => chain::reconcile(&config, mend).await?,
    })
}

async fn migrate(config: &Config, command: &MigrateCommand) -> Result<()> {
    if matches!(command, MigrateCommand::Up) {
        config.data.create()?;
        Db::open(&config.database, Role::Tool).await.context("the database could not be migrated")?;
    }
    let status = Db::status(&config.database).await.context("the database could not be read")?;
    let words = match status.current.cmp(&status.latest) {
        std::cmp::Ordering::Less => "run `portico migrate up`, or start the server",
        std::cmp::Ordering::Equal => "up to date",
        std::cmp::Ordering::Greater => "made by a newer portico: this one refuses to use it",
    };
    print(&format!("version {} of {}: {words}", status.current, status.latest))
}

impl Flags {
    fn fill(&mut self, args: ServeArgs) {
        self.listen = args.listen;
        self.profile = args.profile;
        self.allow_open = args.allow_open;
        self.allow_host = Some(args.allow_host).filter(|hosts| !hosts.is_empty());
        self.cors_origin = Some(args.cors_origin).filter(|origins| !origins.is_empty());
        self.trusted_hops = args.trusted_hops;
        self.rate_limit = args.rate_limit;
        self.max_connections = args.max_connections;
        self.max_in_flight = args.max_in_flight;
        self.country = args.country;
        self.issuer = args.issuer;
        self.audience = args.audience;
        self.jwks_url = args.jwks_url;
        self.jwks_refresh = args.jwks_refresh;
        self.admin_claim = args.admin_claim;
        self.console_client = args.console_client;
        self.encryption_key = args.encryption_key;
        self.retention_days = args.retention_days;
        self.fill_chain(args.chain);
    }

    fn fill_chain(&mut self, args: ChainArgs) {
        self.chain_id = args.chain_id;
        self.chain_contracts = args.chain_contracts;
        self.chain_key = args.chain_key;
        self.chain_key_file = args.chain_key_file;
        self.chain_confirmations = args.chain_confirmations;
        self.chain_fee_cap = args.chain_fee_cap;
    }
}
