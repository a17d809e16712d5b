//! `portico key`.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use clap::Subcommand;
use portico_app::Role;
use portico_app::clock::{Clock as _, SystemClock};
use portico_domain::keys::KeyScope;
use portico_domain::{AccountId, KeyId, Label, UserId};

use super::args::Global;
use super::duration::at_most;
use super::print;
use crate::admin;
use crate::config::{Config, NoFlags, ProfileFlags};

const MAX_LIFETIME: Duration = Duration::from_hours(3650 * 24);

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
    /// Makes a key and prints it, once
    #[command(
        after_help = "Examples:\n  portico key create --name operator\n  portico key create --name ci --user ada --ttl 90d"
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
        /// How long it is valid, such as 12h or 90d [default: until it is revoked]
        #[arg(long, value_parser = at_most(MAX_LIFETIME, "3650d"))]
        ttl: Option<Duration>,
        #[command(flatten)]
        profile: ProfileFlags,
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

pub(super) async fn run(global: &Global, command: KeyCommand) -> Result<()> {
    match command {
        KeyCommand::Create { name, account, user, ttl, profile } => {
            let config = global.config(&profile, Role::Tool)?;
            let scope = scope(account.as_deref(), user.as_deref())?;
            let name = Label::parse(&name).map_err(|fault| anyhow::anyhow!("--name {fault}"))?;
            let (app, call) = admin(&config).await?;
            let expires_at = ttl.map(|ttl| SystemClock.now().plus(ttl));
            let key = app.keys.create(&call, name, scope, expires_at).await?;
            print(key.expose_secret().context("the key has no secret")?)
        }
        KeyCommand::List => list(&global.config(&NoFlags::default(), Role::Tool)?).await,
        KeyCommand::Revoke { id } => {
            let config = global.config(&NoFlags::default(), Role::Tool)?;
            let id = KeyId::parse(&id).map_err(|fault| anyhow::anyhow!("the id {fault}"))?;
            let (app, call) = admin(&config).await?;
            match app.keys.revoke(&call, id).await {
                Err(portico_app::Error::NotFound(_)) => bail!("there is no such key: see `portico key list`"),
                outcome => outcome.map_err(Into::into),
            }
        }
    }
}

fn scope(account: Option<&str>, user: Option<&str>) -> Result<KeyScope> {
    let scope = match (account, user) {
        (Some(account), _) => AccountId::parse(account)
            .map(KeyScope::Account)
            .map_err(|fault| anyhow::anyhow!("--account {fault}"))?,
        (None, Some(user)) => {
            UserId::parse(user).map(KeyScope::User).map_err(|fault| anyhow::anyhow!("--user {fault}"))?
        }
        (None, None) => KeyScope::Operator,
    };
    Ok(scope)
}

async fn list(config: &Config) -> Result<()> {
    let (app, call) = admin(config).await?;
    let now = SystemClock.now();
    print(&format!("{:<18}{:<29}{:<29}{:<24}{:<30}STATE", "ID", "CREATED", "LAST USED", "FOR", "NAME"))?;
    for key in app.keys.all(&call).await? {
        let scope = match &key.scope {
            KeyScope::Operator => "operator".to_owned(),
            KeyScope::Account(account) => format!("account {account}"),
            KeyScope::User(user) => format!("user {user}"),
        };
        let state = match (key.revoked_at, key.expires_at) {
            (Some(at), _) => format!("revoked {at}"),
            (None, Some(at)) if at <= now => format!("expired {at}"),
            (None, Some(at)) => format!("valid until {at}"),
            (None, None) => "valid".to_owned(),
        };
        let used = key.last_used_at.map_or("never".to_owned(), |at| at.to_string());
        let (id, created, name) = (key.id.as_str(), key.created_at.to_string(), key.name.as_str());
        print(&format!("{id:<18}{created:<29}{used:<29}{scope:<24}{name:<30}{state}"))?;
    }
    Ok(())
}
