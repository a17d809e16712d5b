//! Where values come from: flag over environment over file over a secret's file over default.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use portico_app::Profile;
use portico_app::configuration::SettingSource;
use toml::Table;

use super::ConfigErrors;
use super::declaration::{Declaration, Group, Sources};
use super::settings::{Settings, declarations};

/// Where systemd puts the credentials of a service.
const CREDENTIALS_VARIABLE: &str = "CREDENTIALS_DIRECTORY";

/// The settings that a command takes as flags and variables: those of some groups.
#[derive(Default, Clone)]
pub(crate) struct Flags<const GROUPS: u8> {
    values: Table,
    sources: Sources,
}

pub(crate) type CommonFlags = Flags<{ Group::Common.bit() }>;
pub(crate) type ProfileFlags = Flags<{ Group::Profile.bit() }>;
pub(crate) type ChainFlags = Flags<{ Group::Chain.bit() }>;
pub(crate) type RestoreFlags = Flags<{ Group::Profile.bit() | Group::Chain.bit() }>;
pub(crate) type ServeFlags =
    Flags<{ Group::Profile.bit() | Group::Serve.bit() | Group::Budgets.bit() | Group::Chain.bit() }>;
pub(crate) type NoFlags = Flags<0>;

impl<const GROUPS: u8> Flags<GROUPS> {
    fn declarations() -> impl Iterator<Item = Declaration> {
        declarations().into_iter().filter(|setting| GROUPS & setting.group.bit() != 0)
    }
}

/// Values may be secret.
impl<const GROUPS: u8> fmt::Debug for Flags<GROUPS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sources.fmt(f)
    }
}

impl<const GROUPS: u8> Args for Flags<GROUPS> {
    fn augment_args(command: Command) -> Command {
        command.args(Self::declarations().map(|setting| setting.arg()))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const GROUPS: u8> FromArgMatches for Flags<GROUPS> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in Self::declarations() {
            let value = (setting.read)(matches, setting.name).map_err(|error| {
                clap::Error::raw(ErrorKind::InvalidValue, format!("--{}: {error}\n", setting.flag()))
            })?;
            let Some(value) = value else { continue };
            let source = match matches.value_source(setting.name) {
                Some(ValueSource::EnvVariable) => SettingSource::Environment,
                _ => SettingSource::Flag,
            };
            self.values.insert(setting.name.into(), value);
            self.sources.insert(setting.name.into(), source);
        }
        Ok(())
    }
}

impl Settings {
    /// Reads the file; flags and environment override it.
    pub(crate) fn load<const GROUPS: u8>(
        file: Option<&Path>,
        common: &CommonFlags,
        command: &Flags<GROUPS>,
    ) -> Result<Self> {
        let mut values = file.map(read_file).transpose()?.unwrap_or_default();
        let mut sources: Sources = values.keys().map(|name| (name.clone(), SettingSource::File)).collect();
        sources.extend(common.sources.clone().into_iter().chain(command.sources.clone()));
        values.extend(common.values.clone().into_iter().chain(command.values.clone()));
        let mut settings = Self { sources, ..values.try_into()? };
        if settings.profile_or_sandbox() == Profile::Sandbox {
            settings.use_sandbox_defaults();
        }
        Ok(settings)
    }

    /// Reads the files that hold secrets: named by a setting, or given by systemd. A value wins over a file, a file over a
    /// credential.
    pub(super) fn read_secrets(&mut self, errors: &mut ConfigErrors) {
        let credentials = std::env::var_os(CREDENTIALS_VARIABLE).map(PathBuf::from);
        self.read_secrets_in(credentials.as_deref(), errors);
    }

    fn read_secrets_in(&mut self, credentials: Option<&Path>, errors: &mut ConfigErrors) {
        let mut read = |name: &str, file_setting: &str, file: &Option<PathBuf>| {
            if self.sources.contains_key(name) {
                return None;
            }
            let credential = file_setting.trim_end_matches("_file").replace('_', "-");
            let credential = credentials.map(|folder| folder.join(credential)).filter(|path| path.exists());
            let path = file.clone().or(credential)?;
            let text = std::fs::read_to_string(&path)
                .map_err(|error| {
                    errors.add(format!("{file_setting} {} cannot be read: {error}", path.display()));
                })
                .ok()?;
            self.sources.insert(name.into(), SettingSource::SecretFile);
            Some(text.trim().to_owned())
        };
        if let Some(key) = read("encryption_key", "encryption_key_file", &self.encryption_key_file) {
            self.encryption_key = Some(key.into());
        }
        if let Some(key) = read("chain_key", "chain_key_file", &self.chain_key_file) {
            self.chain_key = Some(key.into());
        }
        if let Some(url) = read("database", "database_url_file", &self.database_url_file) {
            self.database = Some(url.into());
        }
        if let Some(url) = read("keystore", "keystore_url_file", &self.keystore_url_file) {
            self.keystore = Some(url.into());
        }
        if let Some(urls) = read("chain", "chain_url_file", &self.chain_url_file) {
            self.chain = urls.into();
        }
    }

    /// The flags that show a secret to everybody who lists the machine's processes.
    pub(super) fn exposed_secrets(&self) -> Vec<String> {
        let is_flag = |name: &str| self.sources.get(name) == Some(&SettingSource::Flag);
        let exposed = declarations().into_iter().filter(|one| is_flag(one.name) && (one.has_secret)(self));
        exposed.map(|setting| format!("--{}", setting.flag())).collect()
    }
}

fn read_file(path: &Path) -> Result<Table> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the file {} cannot be read", path.display()))?;
    let invalid = || format!("the file {} is invalid", path.display());
    // Parsed as settings too, so that an error names the line.
    toml::from_str::<Settings>(&text).with_context(invalid)?;
    toml::from_str(&text).with_context(invalid)
}

#[cfg(test)]
pub(super) mod tests {
    use clap::Parser;

    use super::*;

    /// Has every flag.
    #[derive(Debug, Parser)]
    struct AllFlags {
        #[command(flatten)]
        common: CommonFlags,
        #[command(flatten)]
        command: ServeFlags,
    }

    /// The settings of a file and a command line.
    pub(in crate::config) fn load(text: &str, flags: &[&str]) -> Result<Settings> {
        let file = tempfile::NamedTempFile::new()?;
        std::fs::write(file.path(), text)?;
        let flags = AllFlags::try_parse_from(["portico"].iter().chain(flags))?;
        Settings::load(Some(file.path()), &flags.common, &flags.command)
    }

    pub(in crate::config) fn from_file(text: &str) -> Settings {
        load(text, &[]).unwrap()
    }

    /// As a variable: tests cannot set those of their process.
    fn from_environment(text: &str, variables: &str, flags: &[&str]) -> Settings {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut flags = AllFlags::try_parse_from(["portico"].iter().chain(flags)).unwrap();
        let variables: Table = toml::from_str(variables).unwrap();
        for (name, value) in variables {
            if !flags.command.values.contains_key(&name) {
                flags.command.values.insert(name.clone(), value);
                flags.command.sources.insert(name, SettingSource::Environment);
            }
        }
        Settings::load(Some(file.path()), &flags.common, &flags.command).unwrap()
    }

    fn error(text: &str, flags: &[&str]) -> String {
        load(text, flags).err().map(|error| format!("{error:#}")).unwrap_or_default()
    }

    #[test]
    fn flag_overrides_environment_overrides_file_overrides_default() {
        let country = |file: &str, variables: &str, flags: &[&str]| {
            let settings = from_environment(file, variables, flags);
            (settings.country.clone(), settings.sources.get("country").copied())
        };
        let (file, variable) = ("country = \"MX\"", "country = \"CA\"");
        assert_eq!(country("", "", &[]), ("US".into(), None));
        assert_eq!(country(file, "", &[]), ("MX".into(), Some(SettingSource::File)));
        assert_eq!(country(file, variable, &[]), ("CA".into(), Some(SettingSource::Environment)));
        let flag = country(file, variable, &["--country", "BR"]);
        assert_eq!(flag, ("BR".into(), Some(SettingSource::Flag)));
    }

    #[test]
    fn sandbox_has_its_own_defaults() {
        let limits = |text| {
            let settings = from_file(text);
            (settings.rate_limit, settings.checks_per_person, settings.chain_reads)
        };
        assert_eq!(limits(""), (0, 0, 0));
        assert_eq!(limits("rate_limit = 7"), (7, 0, 0));
        assert_eq!(limits("profile = \"live\""), (100, 40, 100));
        assert_eq!(limits("profile = \"live\"\nrate_limit = 0"), (0, 40, 100));
    }

    #[test]
    fn flags_have_the_types_of_the_file() {
        let settings = load(
            "cors_origin = [\"https://a\"]",
            &[
                "--allow-open",
                "--allow-host=a,b",
                "--allow-host=c",
                "--data=/d",
                "--chain-id=7",
                "--profile=live",
            ],
        )
        .unwrap();
        assert!(settings.allow_open);
        assert_eq!(settings.allow_host, ["a", "b", "c"]);
        assert_eq!(settings.cors_origin, ["https://a"]);
        assert_eq!((settings.data.as_path(), settings.chain_id), (Path::new("/d"), Some(7)));
        assert_eq!(settings.profile_or_sandbox(), Profile::Live);
        assert!(!load("allow_open = true", &["--allow-open=false"]).unwrap().allow_open);
        assert!(error("", &["--chain-id=x"]).contains("--chain-id"));
    }

    #[test]
    fn unknown_key_is_reported_with_its_line() {
        let unknown = error("log = \"info\"\nlisen = \"x\"\n", &[]);
        assert!(unknown.contains("lisen") && unknown.contains("line 2"), "{unknown}");
    }

    #[test]
    fn commands_have_only_their_flags() {
        fn names<const GROUPS: u8>() -> Vec<&'static str> {
            Flags::<GROUPS>::declarations().map(|setting| setting.name).collect()
        }
        assert_eq!(names::<{ Group::Profile.bit() }>(), ["profile"]);
        assert!(names::<{ Group::Chain.bit() }>().iter().all(|name| name.starts_with("chain_")));
        assert!(names::<0>().is_empty());
        let all = names::<{ u8::MAX }>();
        assert!(
            ["data", "listen", "chain_reads", "chain_key"].iter().all(|name| all.contains(name)),
            "{all:?}"
        );
    }

    #[test]
    fn value_wins_over_file_and_file_over_credential() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        write("encryption-key", "from systemd\n");
        write("database-url", "postgres://from-systemd/x\n");
        write("chain-key", "from systemd");
        write("chain-url", "https://from-systemd\n");
        let url = write("url", "postgres://from-file/x\n");
        let mut settings = from_file(&format!(
            "encryption_key = \"value\"\nencryption_key_file = \"/nowhere\"\ndatabase_url_file = \"{url}\""
        ));
        let mut errors = ConfigErrors::default();
        settings.read_secrets_in(Some(folder.path()), &mut errors);
        assert_eq!(errors.0, [""; 0]);
        assert_eq!(settings.encryption_key.as_deref(), Some("value"));
        assert_eq!(settings.database.as_deref(), Some("postgres://from-file/x"));
        assert_eq!(settings.chain_key.as_deref(), Some("from systemd"));
        assert_eq!(&*settings.chain, "https://from-systemd");
        assert!(settings.keystore.is_none());
    }

    #[test]
    fn unreadable_secret_file_is_named() {
        let mut settings = from_file("keystore_url_file = \"/nowhere\"");
        let mut errors = ConfigErrors::default();
        settings.read_secrets_in(None, &mut errors);
        assert!(errors.0[0].starts_with("keystore_url_file /nowhere cannot be read"), "{:?}", errors.0);
    }

    #[test]
    fn secrets_on_the_command_line_are_named() {
        let exposed = |flags: &[&str]| load("chain_key = \"aa\"", flags).unwrap().exposed_secrets();
        assert_eq!(
            exposed(&["--encryption-key", "aa", "--chain=https://rpc/v2/KEY"]),
            ["--encryption-key", "--chain"]
        );
        assert_eq!(exposed(&["--database=postgres://me:secret@db/x"]), ["--database"]);
        assert_eq!(
            exposed(&["--encryption-key-file=f", "--database=postgres://me@db/x", "--chain=https://a"]),
            [""; 0]
        );
    }
}
