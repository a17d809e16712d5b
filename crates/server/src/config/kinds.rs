//! Kinds of settings: how a value is read from a flag, and what of it may be shown.

use std::fmt::Display;
use std::ops::Deref;
use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Arg, ArgAction, ArgMatches, ValueEnum, value_parser};
use portico_app::Profile;
use portico_app::configuration::SettingValue;
use serde::{Deserialize, Serialize};
use toml::Value;

/// The type of a setting.
pub(super) trait SettingKind: Clone + Serialize + Send + Sync + 'static {
    /// Whether `--help` must not show the value that the environment has.
    const HIDE_VALUE: bool = false;

    fn parser(arg: Arg) -> Arg;
    /// The value in `matches`, as the file would have it.
    fn read(matches: &ArgMatches, name: &str) -> Result<Option<Value>, toml::ser::Error> {
        matches.get_one::<Self>(name).map(Value::try_from).transpose()
    }
    /// What an operator sees.
    fn show(&self) -> SettingValue;
    /// Whether it contains a secret, which a command line shows to everybody who lists the machine's processes.
    fn has_secret(&self) -> bool {
        false
    }
}

fn shown(value: impl Display) -> SettingValue {
    SettingValue::Shown(value.to_string())
}

macro_rules! plain_kinds {
    ($($kind:ty: $show:expr;)+) => {
        $(impl SettingKind for $kind {
            fn parser(arg: Arg) -> Arg {
                arg.value_parser(value_parser!($kind))
            }
            fn show(&self) -> SettingValue {
                let show: fn(&Self) -> SettingValue = $show;
                show(self)
            }
        })+
    };
}
plain_kinds! {
    u32: |value| shown(value);
    u64: |value| shown(value);
    usize: |value| shown(value);
    String: |value| shown(value);
    PathBuf: |path| shown(path.display());
    ProfileName: |name| shown(Profile::from(*name).name());
    SandboxAccess: |access| access.to_possible_value().map_or(SettingValue::NotSet, |value| shown(value.get_name()));
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ProfileName {
    Sandbox,
    Live,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::Sandbox => Self::Sandbox,
            ProfileName::Live => Self::Live,
        }
    }
}

/// The access table of a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum SandboxAccess {
    Open,
    Live,
}

/// `--flag` and `--flag=false`.
impl SettingKind for bool {
    fn parser(arg: Arg) -> Arg {
        arg.num_args(0..=1)
            .default_missing_value("true")
            .require_equals(true)
            .value_parser(BoolishValueParser::new())
            .hide_possible_values(true)
    }
    fn show(&self) -> SettingValue {
        shown(self)
    }
}

/// Separated by commas; an array in the file.
impl SettingKind for Vec<String> {
    fn parser(arg: Arg) -> Arg {
        arg.action(ArgAction::Append).value_delimiter(',').value_parser(value_parser!(String))
    }
    fn read(matches: &ArgMatches, name: &str) -> Result<Option<Value>, toml::ser::Error> {
        let values = matches.get_many::<String>(name);
        Ok(values.map(|values| values.cloned().map(Value::String).collect::<Vec<_>>().into()))
    }
    fn show(&self) -> SettingValue {
        if self.is_empty() { SettingValue::NotSet } else { shown(self.join(", ")) }
    }
}

/// A setting without a default.
impl<T: SettingKind> SettingKind for Option<T> {
    const HIDE_VALUE: bool = T::HIDE_VALUE;

    fn parser(arg: Arg) -> Arg {
        T::parser(arg)
    }
    fn read(matches: &ArgMatches, name: &str) -> Result<Option<Value>, toml::ser::Error> {
        T::read(matches, name)
    }
    fn show(&self) -> SettingValue {
        self.as_ref().map_or(SettingValue::NotSet, T::show)
    }
    fn has_secret(&self) -> bool {
        self.as_ref().is_some_and(T::has_secret)
    }
}

macro_rules! private_kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident: $show:expr, $has_secret:expr;)+) => {
        $($(#[doc = $doc])+
        #[derive(Clone, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $kind(String);

        impl From<String> for $kind {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl Deref for $kind {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl SettingKind for $kind {
            const HIDE_VALUE: bool = true;

            fn parser(arg: Arg) -> Arg {
                arg.value_parser(value_parser!($kind))
            }
            fn show(&self) -> SettingValue {
                let show: fn(&str) -> SettingValue = $show;
                show(self)
            }
            fn has_secret(&self) -> bool {
                let has_secret: fn(&str) -> bool = $has_secret;
                has_secret(self)
            }
        })+
    };
}
private_kinds! {
    /// Never shown.
    Secret: |_| SettingValue::Hidden, |_| true;
    /// A URL that may have a password: only its scheme and host are shown.
    PrivateUrl: |url| shown(without_secrets(url)), has_password;
    /// URLs of nodes, with commas between. Providers put the customer's key into the path.
    NodeUrls: |urls| shown(urls.split(',').map(|url| without_secrets(url.trim())).collect::<Vec<_>>().join(", ")),
        |urls| urls.split(',').any(|url| has_password(url) || has_path(url));
}

/// Of `scheme://user:password@host:port/path?query` only scheme, host and port: the rest may hold a secret.
pub(super) fn without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        let is_public = url == "embedded" || url.starts_with("sqlite:");
        return if is_public { url.into() } else { "…".into() };
    };
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let host = authority.rsplit('@').next().unwrap_or_default();
    // A password with a slash in it looks like a host.
    let host = if path.contains('@') { "…" } else { host };
    format!("{scheme}://{host}")
}

/// Whether a URL has one: `postgres://user:password@host/…`, or `?password=…`.
fn has_password(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    user.contains(':') || rest.contains("password=")
}

fn has_path(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or_default();
    rest.split_once(['/', '?']).is_some_and(|(_, path)| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_keys_in_urls_are_secrets() {
        let private = |url: &str| PrivateUrl::from(url.to_owned()).has_secret();
        assert!(private("postgres://me:secret@db/x") && private("postgres://db/x?user=a&password=b"));
        assert!(private("postgres://a,b/x?password=s") && private("postgres://me:pa,ss@db/x"));
        assert!(!private("postgres://me@db:5432/x") && !private("sqlite:/data/portico.db"));
        let node = |urls: &str| NodeUrls::from(urls.to_owned()).has_secret();
        for urls in [
            "https://rpc/v2/KEY",
            "https://rpc?key=KEY",
            "https://a,https://b/KEY",
            "https://a,https://u:p@b",
        ] {
            assert!(node(urls), "{urls}");
        }
        assert!(!node("https://a:8545,http://b/") && !node("embedded"));
    }
}
