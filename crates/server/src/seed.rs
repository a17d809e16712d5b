//! `portico seed --demo`: demonstration data, with a progress bar.

use std::io::{IsTerminal as _, Write as _};

use anyhow::{Context as _, Result, bail};
use portico_app::{Actor, CallContext, Profile};

use crate::config::Config;
use crate::{open_with_secrets, recorded_profile, tell};

const BAR_WIDTH: u64 = 40;

pub(crate) async fn demo(config: &Config) -> Result<String> {
    config.data.create()?;
    if recorded_profile(config).await? == Profile::Live {
        bail!("demonstration data is for the sandbox only");
    }
    let app = open_with_secrets(config).await?;
    let call = CallContext::new(Actor::Operator);
    let shows = std::io::stderr().is_terminal();
    let seeded = app.seed_demo(&call, |done, all| {
        if shows {
            show(done, all);
        }
    });
    let seeded = seeded.await.context("the data could not be made")?;
    if shows {
        tell("");
    }
    Ok(format!(
        "{} listings, {} people with {} applications, {} templates and portfolios, {} devices are new; \
         a running server, or the next start, records the listings on the chain",
        seeded.listings, seeded.people, seeded.applications, seeded.portfolios, seeded.devices
    ))
}

fn show(done: u64, all: u64) {
    let full = usize::try_from(done * BAR_WIDTH / all.max(1)).unwrap_or(0);
    let empty = usize::try_from(BAR_WIDTH).unwrap_or(0).saturating_sub(full);
    let mut out = std::io::stderr().lock();
    // Errors of the terminal are ignored.
    let _ = write!(out, "\r[{}{}] {done} of {all}", "=".repeat(full), " ".repeat(empty));
    let _ = out.flush();
}
