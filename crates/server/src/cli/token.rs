//! `portico token`.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use portico_app::Role;
use portico_app::tokens::{MAX_OWN_LIFETIME, NewToken};
use portico_domain::{AccountId, UserId};

use super::args::Global;
use super::duration::at_most;
use crate::admin;
use crate::config::ProfileFlags;

/// Flags of `token`.
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    /// The user
    #[arg(long, value_name = "USER")]
    sub: String,
    /// The account [default: the user's own]
    #[arg(long, value_name = "ACCOUNT")]
    account: Option<String>,
    /// admin: may act for others
    #[arg(long, value_parser = ["admin"])]
    scope: Option<String>,
    /// How long it is valid: 90s, 15m, 1h; at most 24h
    #[arg(long, default_value = "1h", value_parser = at_most(MAX_OWN_LIFETIME, "24h"))]
    ttl: Duration,
    #[command(flatten)]
    profile: ProfileFlags,
}

pub(super) async fn run(global: &Global, args: &TokenArgs) -> Result<String> {
    let config = global.config(&args.profile, Role::Tool)?;
    let account = args.account.as_deref().map(AccountId::parse).transpose();
    let token = NewToken {
        user: UserId::parse(&args.sub).map_err(|fault| anyhow::anyhow!("--sub {fault}"))?,
        account: account.map_err(|fault| anyhow::anyhow!("--account {fault}"))?,
        admin: args.scope.is_some(),
        ttl: args.ttl,
    };
    let (app, call) = admin(&config).await?;
    Ok(app.keys.issue_token(&call, &token).await?)
}
