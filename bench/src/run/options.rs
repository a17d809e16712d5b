//! Flags of `run` and `peers`, and the environment variables that set them.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, Result, ensure};
use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct RunOptions {
    /// Listings, and devices, in each database
    #[arg(long, env = "ROWS", default_value_t = 1_000_000)]
    pub(super) rows: u64,
    /// Sections to measure, separated by commas or spaces: small, screening, chain, sqlite, postgres [default: all]
    #[arg(long, env = "ONLY")]
    only: Option<Sections>,
    /// Engines to measure, separated by commas or spaces: sqlite, postgres [default: both]
    #[arg(long, env = "ENGINES")]
    engines: Option<Sections>,
    /// The anvil binary, for the section chain
    #[arg(long, env = "PORTICO_ANVIL")]
    anvil: Option<PathBuf>,
    /// URL of a PostgreSQL server, for the section postgres (scripts/with-postgres sets the variable)
    #[arg(long, env = "PORTICO_TEST_POSTGRES")]
    postgres: Option<String>,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(crate) struct PeersOptions {
    /// Listings in each database
    #[arg(long, env = "ROWS", default_value_t = 100_000)]
    pub(super) rows: u64,
    #[command(flatten)]
    pub(super) common: Common,
}

#[derive(Args)]
pub(crate) struct Common {
    /// Length of one measurement; what is measured in rounds takes a part of it per round
    #[arg(long, env = "SECONDS_EACH", default_value_t = 6, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) seconds: u64,
    /// Connections of wrk
    #[arg(long, env = "CONNECTIONS", default_value_t = 64)]
    pub(super) connections: u32,
    /// Folder of the binaries portico and hello
    #[arg(long, env = "PORTICO_BENCH_BINARIES", default_value = "target/release")]
    pub(super) binaries: PathBuf,
    /// Folder for databases and logs, on the disk to be measured
    #[arg(long, env = "PORTICO_BENCH_WORK", default_value = "target/bench")]
    pub(super) work: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Section {
    Small,
    Screening,
    Chain,
    Sqlite,
    Postgres,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Sections(Vec<Section>);

impl FromStr for Sections {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let names = text.split([',', ' ']).filter(|name| !name.is_empty());
        names.map(|name| Section::from_str(name, false)).collect::<Result<_, _>>().map(Self)
    }
}

impl RunOptions {
    pub(super) fn selects(&self, section: Section) -> bool {
        let allows = |list: &Option<Sections>| list.as_ref().is_none_or(|list| list.0.contains(&section));
        let is_engine = matches!(section, Section::Sqlite | Section::Postgres);
        allows(&self.only) && (!is_engine || allows(&self.engines))
    }

    /// Where Anvil is, if the chain is measured. Asked before anything runs, so that the run does not fail halfway.
    pub(super) fn anvil_if_needed(&self) -> Result<Option<PathBuf>> {
        let needed = self.selects(Section::Chain);
        needed.then(|| self.anvil.clone().context("PORTICO_ANVIL is not set; make bench sets it")).transpose()
    }

    pub(super) fn postgres_if_needed(&self) -> Result<Option<String>> {
        let needed = self.selects(Section::Postgres);
        let url = || self.postgres.clone().context("no PostgreSQL: run it under scripts/with-postgres");
        needed.then(url).transpose()
    }
}

impl Common {
    pub(super) fn prepare(&self) -> Result<()> {
        let in_root = Path::new("bench/peers/wrk/report.lua").exists();
        ensure!(in_root, "run it in the repository's root: bench/peers/wrk is not here");
        std::fs::create_dir_all(&self.work).with_context(|| format!("cannot create {}", self.work.display()))
    }

    pub(super) fn binary(&self, name: &str) -> PathBuf {
        self.binaries.join(name)
    }

    /// A folder without anything that an earlier server has left.
    pub(super) fn empty_folder(&self, name: &str) -> Result<PathBuf> {
        let folder = self.work.join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir(&folder)?;
        Ok(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        run: RunOptions,
    }

    fn options(flags: &[&str]) -> RunOptions {
        Command::parse_from([&["bench"], flags].concat()).run
    }

    #[test]
    fn only_selects_the_named_sections() {
        let options = options(&["--only", "small, sqlite", "--engines", "sqlite postgres"]);
        assert!(options.selects(Section::Small) && options.selects(Section::Sqlite));
        assert!(!options.selects(Section::Chain) && !options.selects(Section::Postgres));
    }

    #[test]
    fn engines_leaves_the_other_sections() {
        let options = options(&["--engines", "sqlite", "--only", "chain,sqlite,postgres"]);
        assert!(options.selects(Section::Chain) && options.selects(Section::Sqlite));
        assert!(!options.selects(Section::Postgres));
    }

    #[test]
    fn unknown_section_is_refused() {
        assert!("small,everything".parse::<Sections>().is_err());
    }
}
