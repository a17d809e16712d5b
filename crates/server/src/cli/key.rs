//! `portico key`.

use anyhow::{Result, bail};
use clap::Subcommand;
use portico_domain::keys::KeyScope;
use portico_domain::{AccountId, KeyId, Label, UserId};
use portico_store::Role;

use super::args::{Global, NoSettings, ProfileArg};
use super::print;
use crate::admin;
use crate::config::Config;

#[derive(Debug, Subcommand)]
pub(super) enum KeyCommand {
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
        #[command(flatten)]
        profile: ProfileArg,
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
        KeyCommand::Create { name, account, user, profile } => {
            let config = global.config(&profile, Role::Tool)?;
            let scope = scope(account.as_deref(), user.as_deref())?;
            let name = Label::parse(&name).map_err(|fault| anyhow::anyhow!("--name {fault}"))?;
            let (app, call) = admin(&config).await?;
            print(&app.keys.create(&call, name, scope).await?.secret)
        }
        KeyCommand::List => list(&global.config(&NoSettings {}, Role::Tool)?).await,
        KeyCommand::Revoke { id } => {
            let config = global.config(&NoSettings {}, Role::Tool)?;
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
    print(&format!("{:<18}{:<28}{:<24}{:<30}STATE", "ID", "CREATED", "FOR", "NAME"))?;
    for key in app.keys.all(&call).await? {
        let scope = match &key.scope {
            KeyScope::Operator => "operator".to_owned(),
            KeyScope::Account(account) => format!("account {account}"),
            KeyScope::User(user) => format!("user {user}"),
        };
        let state = key.revoked_at.map_or("valid".to_owned(), |at| format!("revoked {at}"));
        let (id, created, name) = (key.id.as_str(), key.created_at.to_string(), key.name.as_str());
        print(&format!("{id:<18}{created:<28}{scope:<24}{name:<30}{state}"))?;
    }
    Ok(())
}
