//! Secrets that come from files: named by a setting, or given by systemd.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{ConfigErrors, Settings};

/// Where systemd puts the credentials of a service.
const CREDENTIALS_VARIABLE: &str = "CREDENTIALS_DIRECTORY";
/// The flags that hold a secret, or a URL that may hold one.
const FLAGS: [&str; 5] = ["--encryption-key", "--chain-key", "--database", "--keystore", "--chain"];

/// Where a setting's value may be.
struct Source<'s> {
    value: &'s mut Option<String>,
    file: &'s Option<PathBuf>,
    /// The file's setting, and the credential's name with `-` for `_`.
    file_setting: &'static str,
    credential: &'static str,
}

impl Settings {
    /// Reads the files that hold secrets. A value wins over a file, a file over a credential.
    pub(super) fn read_secrets(&mut self, faults: &mut ConfigErrors) {
        let credentials = std::env::var_os(CREDENTIALS_VARIABLE).map(PathBuf::from);
        self.read_secrets_in(credentials.as_deref(), faults);
    }

    fn read_secrets_in(&mut self, credentials: Option<&Path>, faults: &mut ConfigErrors) {
        let sources = [
            Source {
                value: &mut self.encryption_key,
                file: &self.encryption_key_file,
                file_setting: "encryption_key_file",
                credential: "encryption-key",
            },
            Source {
                value: &mut self.chain_key,
                file: &self.chain_key_file,
                file_setting: "chain_key_file",
                credential: "chain-key",
            },
            Source {
                value: &mut self.database,
                file: &self.database_url_file,
                file_setting: "database_url_file",
                credential: "database-url",
            },
            Source {
                value: &mut self.keystore,
                file: &self.keystore_url_file,
                file_setting: "keystore_url_file",
                credential: "keystore-url",
            },
            Source {
                value: &mut self.chain,
                file: &self.chain_url_file,
                file_setting: "chain_url_file",
                credential: "chain-url",
            },
        ];
        for source in sources.into_iter().filter(|source| source.value.is_none()) {
            let credential = credentials.map(|folder| folder.join(source.credential));
            let credential = credential.filter(|path| path.exists());
            let Some(path) = source.file.as_ref().or(credential.as_ref()) else { continue };
            match std::fs::read_to_string(path) {
                Ok(text) => *source.value = Some(text.trim().to_owned()),
                Err(error) => {
                    faults.add(format!("{} {} cannot be read: {error}", source.file_setting, path.display()));
                }
            }
        }
    }
}

/// The flags of a command line that show a secret to everybody who lists the machine's processes.
pub fn secrets_shown(arguments: impl IntoIterator<Item = OsString>) -> Vec<&'static str> {
    let mut arguments = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
    let mut shown = Vec::new();
    while let Some(argument) = arguments.next() {
        let (flag, value) = match argument.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), value.to_owned()),
            None if FLAGS.contains(&&*argument) => (argument, arguments.next().unwrap_or_default()),
            None => continue,
        };
        if let Some(flag) = FLAGS.into_iter().find(|known| *known == flag)
            && (flag.ends_with("-key")
                || has_password(&value)
                || (flag == "--chain" && value.split(',').any(|url| has_password(url) || has_path(url))))
        {
            shown.push(flag);
        }
    }
    shown
}

/// Whether a URL has one: `postgres://user:password@host/…`, or `?password=…`.
fn has_password(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    user.contains(':') || rest.contains("password=")
}

/// Whether a URL has one: providers of nodes have the key of their customer there.
fn has_path(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    rest.split_once(['/', '?']).is_some_and(|(_, path)| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_with_secrets_are_named() {
        let shown = |line: &str| secrets_shown(line.split(' ').map(OsString::from));
        assert_eq!(
            shown("portico serve --encryption-key aa --chain-key=bb"),
            ["--encryption-key", "--chain-key"]
        );
        assert_eq!(shown("portico key list --database postgres://me:secret@db/x"), ["--database"]);
        assert_eq!(shown("portico serve --keystore=postgres://db/x?user=a&password=b"), ["--keystore"]);
        for node in [
            "https://rpc/v2/KEY",
            "https://rpc?key=KEY",
            "https://a,https://b/KEY",
            "https://a,https://u:p@b",
        ] {
            assert_eq!(shown(&format!("portico serve --chain {node}")), ["--chain"], "{node}");
        }
        assert_eq!(shown("portico serve --database postgres://a,b/x?password=s"), ["--database"]);
        assert_eq!(shown("portico serve --database postgres://me:pa,ss@db/x"), ["--database"]);
        let harmless = "portico serve --encryption-key-file f --database postgres://me@db:5432/x --chain https://a:8545,http://b/";
        assert_eq!(shown(harmless), [""; 0]);
    }

    #[test]
    fn a_value_wins_over_a_file_and_a_file_over_a_credential() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        write("encryption-key", "from systemd\n");
        write("database-url", "postgres://from-systemd/x\n");
        write("chain-key", "from systemd");
        let mut settings = Settings {
            encryption_key: Some("value".into()),
            encryption_key_file: Some("/nowhere".into()),
            database_url_file: Some(write("url", "postgres://from-file/x\n")),
            ..Settings::default()
        };
        let mut faults = ConfigErrors::default();
        settings.read_secrets_in(Some(folder.path()), &mut faults);
        assert_eq!(faults.0, [""; 0]);
        assert_eq!(settings.encryption_key.as_deref(), Some("value"));
        assert_eq!(settings.database.as_deref(), Some("postgres://from-file/x"));
        assert_eq!(settings.chain_key.as_deref(), Some("from systemd"));
        assert_eq!(settings.keystore, None);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let mut settings = Settings { keystore_url_file: Some("/nowhere".into()), ..Settings::default() };
        let mut faults = ConfigErrors::default();
        settings.read_secrets_in(None, &mut faults);
        assert!(faults.0[0].starts_with("keystore_url_file /nowhere cannot be read"), "{:?}", faults.0);
    }
}
