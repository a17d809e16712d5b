//! Flags of every command.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use portico_app::Role;

use crate::config::{CommonFlags, Config, Flags, Settings};

#[derive(Debug, Args)]
pub(super) struct Global {
    #[command(flatten)]
    settings: CommonFlags,
    /// A TOML file with settings
    #[arg(long, global = true, env = "PORTICO_CONFIG", value_name = "FILE", help_heading = "Global options")]
    config: Option<PathBuf>,
}

impl Global {
    /// The configuration: these flags and the command's own over the file.
    pub(super) fn config<const GROUPS: u8>(&self, command: &Flags<GROUPS>, role: Role) -> Result<Config> {
        Config::new(Settings::load(self.config.as_deref(), &self.settings, command)?, role)
    }
}
