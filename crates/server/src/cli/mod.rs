//! The command line.

mod args;
mod chain;
mod duration;
mod key;
mod token;

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use portico_app::{Database, Location, Role};

use self::args::Global;
use self::chain::ChainCommand;
use self::key::KeyCommand;
use self::token::TokenArgs;
use crate::config::{ChainFlags, Config, NoFlags, ProfileFlags, ProfileName, RestoreFlags, ServeFlags};
use crate::database::{OPERATOR, database};
use crate::{backup, people, seed, serve};

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
    Serve {
        #[command(flatten)]
        settings: ServeFlags,
        /// Print one line of JSON instead of the banner
        #[arg(long)]
        json: bool,
    },
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
    /// Migrates the database, or shows its version
    #[command(subcommand)]
    Migrate(MigrateCommand),
    /// Deploys the contracts, shows the chain's state, compares it with the database
    #[command(subcommand)]
    Chain(ChainCommand),
    /// Fills a sandbox with demonstration data; works while the server runs
    #[command(after_help = "Example:\n  portico seed --demo")]
    Seed {
        /// Homes in several cities, people, applications, portfolios, devices
        #[arg(long, required = true)]
        demo: bool,
        #[command(flatten)]
        instance: ProfileFlags,
    },
    /// Erases a person: unreadable at once, in every copy; works while the server runs
    #[command(after_help = "Example:\n  portico erase --user ada")]
    Erase {
        /// The user's id
        #[arg(long, value_name = "USER")]
        user: String,
    },
    /// Changes the keys under which personal data is encrypted; works while the server runs
    #[command(subcommand)]
    Encryption(EncryptionCommand),
    /// Verifies the audit log
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Makes backups of the database and the embedded chain, and proves them
    #[command(subcommand)]
    Backup(BackupCommand),
    /// Puts a backup in the place of the database and the embedded chain; the server must be stopped
    #[command(
        after_help = "What it replaces is kept in a folder named with the time. If it is interrupted, run it again.\n\n\
                            Example:\n  portico restore /backups/monday"
    )]
    Restore {
        /// The backup's folder
        #[arg(value_name = "DIR", required_unless_present = "in_place")]
        folder: Option<PathBuf>,
        /// The database was put back by another tool, such as Litestream or pgBackRest: only joins it with the chain, the
        /// erasures since and the audit log
        #[arg(long, conflicts_with = "folder")]
        in_place: bool,
        #[command(flatten)]
        instance: RestoreFlags,
    },
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
        /// A file with the key that is to open it from now on as well
        #[arg(long, value_name = "FILE")]
        new_key_file: Option<PathBuf>,
    },
    /// Takes the configured keystore in the place of one that was lost, and erases everybody who was screened
    #[command(
        after_help = "What the lost keystore sealed nobody can read again. Stop the servers first.\n\n\
                            Example:\n  portico encryption replace-keystore"
    )]
    ReplaceKeystore,
    /// Moves the keystore to another place, proves the copy, and removes the old one
    #[command(
        after_help = "Stop the servers first. Run it again if it was interrupted. Afterwards name the new place with\n\
                      --keystore, for servers and commands, unless it is keys.db in the data folder.\n\n\
                      Examples:\n  portico encryption move --to sqlite:/var/lib/portico/keys.db\n  \
                      portico encryption move --to-url-file keystore.url"
    )]
    Move {
        /// sqlite:PATH or postgres://…
        #[arg(long, value_name = "URL", required_unless_present = "to_url_file")]
        to: Option<String>,
        /// A file that contains the URL, if it has a password
        #[arg(long, value_name = "FILE", conflicts_with = "to")]
        to_url_file: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// Reads the whole log, and compares its end with its anchor on the chain
    Verify(ChainFlags),
}

#[derive(Debug, Subcommand)]
enum BackupCommand {
    /// Makes a backup in a new folder; works while the server runs
    #[command(
        after_help = "It holds no keys: keep the keystore, encryption.key, chain.key and issuer.key apart from it.\n\n\
                            Example:\n  portico backup create /backups/monday"
    )]
    Create {
        /// The new folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    /// Proves that a backup is complete and undamaged; needs no data folder
    #[command(after_help = "Example:\n  portico backup verify /backups/monday")]
    Verify {
        /// The backup's folder
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
enum MigrateCommand {
    /// Migrates the database
    Up,
    /// Shows the database's version
    Status,
}

pub fn run(cli: Cli) -> Result<()> {
    // What this process writes is its owner's only.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let global = &cli.global;
    match cli.command {
        Command::Serve { settings, json } => {
            let config = global.config(&settings, Role::Server)?;
            let background = threads().worker_threads(1).thread_name("portico-background").build()?;
            runtime()?.block_on(serve(config, json, background.handle().clone()))
        }
        Command::Token(args) => print(&runtime()?.block_on(token::run(global, &args))?),
        Command::Key(command) => runtime()?.block_on(key::run(global, command)),
        Command::Openapi { profile } => print(&portico_api::openapi(profile.into()).to_pretty_json()?),
        Command::Migrate(command) => {
            let config = global.config(&NoFlags::default(), Role::Tool)?;
            runtime()?.block_on(migrate(&config, &command))
        }
        Command::Chain(command) => print(&runtime()?.block_on(chain::run(global, command))?),
        Command::Seed { demo: _, instance } => {
            print(&runtime()?.block_on(seed::demo(&global.config(&instance, Role::Tool)?))?)
        }
        Command::Erase { user } => {
            let config = global.config(&NoFlags::default(), Role::Tool)?;
            runtime()?.block_on(people::erase(&config, &user))
        }
        Command::Encryption(command) => {
            let config = global.config(&NoFlags::default(), Role::Tool)?;
            print(&runtime()?.block_on(encryption(&config, command))?)
        }
        Command::Audit(AuditCommand::Verify(args)) => {
            print(&runtime()?.block_on(people::verify_audit(&global.config(&args, Role::Tool)?))?)
        }
        Command::Backup(BackupCommand::Create { folder }) => {
            let config = global.config(&NoFlags::default(), Role::Tool)?;
            print(&runtime()?.block_on(backup::create(&config, &folder))?)
        }
        Command::Backup(BackupCommand::Verify { folder }) => print(&backup::verify(&folder)?),
        Command::Restore { folder, in_place: _, instance } => {
            let config = global.config(&instance, Role::Tool)?;
            print(&runtime()?.block_on(async {
                match folder {
                    Some(folder) => backup::restore(&config, &folder).await,
                    None => backup::restore_in_place(&config).await,
                }
            })?)
        }
        Command::Completions { shell } => {
            clap_complete::generate(shell, &mut Cli::command(), "portico", &mut std::io::stdout());
            Ok(())
        }
    }
}

async fn encryption(config: &Config, command: EncryptionCommand) -> Result<String> {
    match command {
        EncryptionCommand::Rotate { new_key_file } => people::rotate(config, new_key_file.as_deref()).await,
        EncryptionCommand::ReplaceKeystore => people::replace_keystore(config).await,
        EncryptionCommand::Move { to, to_url_file } => {
            let file = to_url_file.map(|path| {
                std::fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))
            });
            let url = file.transpose()?.or(to).unwrap_or_default();
            let location = Location::parse(url.trim()).map_err(|fault| anyhow::anyhow!("--to {fault}"))?;
            people::move_keystore(config, &location).await
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
        database(config, Role::Tool).await?;
    }
    let status = Database::status(&OPERATOR, &config.database).await?;
    let advice = match status.current.cmp(&status.latest) {
        std::cmp::Ordering::Less => "run `portico migrate up`, or start the server",
        std::cmp::Ordering::Equal => "up to date",
        std::cmp::Ordering::Greater => "made by a newer portico: this one refuses to use it",
    };
    print(&format!("version {} of {}: {advice}", status.current, status.latest))
}
