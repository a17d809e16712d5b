//! The command line.

mod args;
mod chain;
mod key;
mod token;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use portico_store::{Db, Role};
use serde::Serialize;

use self::args::{ChainArgs, EncryptionKeyArg, Global, NoSettings, ProfileArg, ServeArgs};
use self::chain::ChainCommand;
use self::key::KeyCommand;
use self::token::TokenArgs;
use crate::config::{Config, ProfileName};
use crate::{people, seed, serve};

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
        #[command(flatten)]
        instance: SeedArgs,
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

#[derive(Debug, Subcommand)]
enum EncryptionCommand {
    /// Makes a new master key and wraps the key of every person by it
    #[command(
        after_help = "Examples:\n  portico encryption rotate\n  portico encryption rotate --new-key-file next.key\n\n\
                      With --new-key-file the file's key opens the keystore too: restart with it as PORTICO_ENCRYPTION_KEY,\n\
                      then rotate once more, and the old one opens nothing any more."
    )]
    Rotate {
        #[command(flatten)]
        encryption_key: EncryptionKeyArg,
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
        #[command(flatten)]
        encryption_key: EncryptionKeyArg,
    },
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Reads the whole log, and compares its end with its anchor on the chain
    Verify(ChainArgs),
}

#[derive(Debug, Subcommand)]
enum MigrateCommand {
    /// Brings the database to this version's shape
    Up,
    /// Tells where the database stands
    Status,
}

/// Flags of `seed`.
#[derive(Debug, Args, Serialize)]
struct SeedArgs {
    #[serde(flatten)]
    #[command(flatten)]
    profile: ProfileArg,
    #[serde(flatten)]
    #[command(flatten)]
    encryption_key: EncryptionKeyArg,
}

pub fn run(cli: Cli) -> Result<()> {
    let global = &cli.global;
    match cli.command {
        Command::Serve(args) => {
            let config = global.config(&args, Role::Server)?;
            let background = threads().worker_threads(1).thread_name("portico-background").build()?;
            runtime()?.block_on(serve(config, args.json, background.handle().clone()))
        }
        Command::Token(args) => print(&runtime()?.block_on(token::run(global, &args))?),
        Command::Key(command) => runtime()?.block_on(key::run(global, command)),
        Command::Openapi { profile } => print(&portico_api::openapi(profile.into()).to_pretty_json()?),
        Command::Migrate(command) => {
            let config = global.config(&NoSettings {}, Role::Tool)?;
            runtime()?.block_on(migrate(&config, &command))
        }
        Command::Chain(command) => print(&runtime()?.block_on(chain::run(global, command))?),
        Command::Seed { demo: _, instance } => {
            print(&runtime()?.block_on(seed::demo(&global.config(&instance, Role::Tool)?))?)
        }
        Command::Erase { user } => {
            let config = global.config(&NoSettings {}, Role::Tool)?;
            runtime()?.block_on(people::erase(&config, &user))
        }
        Command::Encryption(EncryptionCommand::Rotate { encryption_key, new_key_file }) => {
            let config = global.config(&encryption_key, Role::Tool)?;
            print(&runtime()?.block_on(people::rotate(&config, new_key_file.as_deref()))?)
        }
        Command::Encryption(EncryptionCommand::ReplaceKeystore { encryption_key }) => {
            let config = global.config(&encryption_key, Role::Tool)?;
            print(&runtime()?.block_on(people::replace_keystore(&config))?)
        }
        Command::Audit(AuditCommand::Verify(args)) => {
            print(&runtime()?.block_on(people::verify_audit(&global.config(&args, Role::Tool)?))?)
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

/// Writes to stdout; ignores a closed pipe.
fn print(text: &str) -> Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

async fn migrate(config: &Config, command: &MigrateCommand) -> Result<()> {
    if matches!(command, MigrateCommand::Up) {
        config.data.create()?;
        Db::open(&config.database, Role::Tool).await.context("the database could not be migrated")?;
    }
    let status = Db::status(&config.database).await.context("the database could not be read")?;
    let advice = match status.current.cmp(&status.latest) {
        std::cmp::Ordering::Less => "run `portico migrate up`, or start the server",
        std::cmp::Ordering::Equal => "up to date",
        std::cmp::Ordering::Greater => "made by a newer portico: this one refuses to use it",
    };
    print(&format!("version {} of {}: {advice}", status.current, status.latest))
}
