//! `portico token`.

use std::time::Duration;

use anyhow::Result;
use clap::Args;
use portico_app::clock::{Clock as _, SystemClock};
use portico_app::tokens::NewToken;
use portico_domain::{AccountId, UserId};
use portico_store::Role;

use super::args::{Global, ProfileArg};
use crate::recorded_profile;

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
    /// How long it is valid: 90s, 15m, 1h, 7d
    #[arg(long, default_value = "1h", value_parser = duration)]
    ttl: Duration,
    #[command(flatten)]
    profile: ProfileArg,
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
    let tokens = config.data.tokens(None, recorded_profile(&config).await?)?;
    Ok(tokens.issue(&token, SystemClock.now())?)
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
