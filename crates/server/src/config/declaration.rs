//! A setting's declaration, and the macro that makes everything else from it.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches};
use portico_app::configuration::{SettingSource, SettingValue};
use toml::Value;

use super::Settings;

/// By setting; without those that were not given.
pub(super) type Sources = BTreeMap<String, SettingSource>;

/// The commands that take a setting as a flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    /// Every command.
    Common,
    /// Commands that act for an instance of one profile.
    Profile,
    Serve,
    /// `serve`, under a heading of its own.
    Budgets,
    /// Everything that uses the chain.
    Chain,
}

impl Group {
    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }

    const fn heading(self) -> Option<&'static str> {
        match self {
            Self::Common => Some("Global options"),
            Self::Budgets => Some("Budgets"),
            Self::Chain => Some("Chain options"),
            Self::Profile | Self::Serve => None,
        }
    }
}

/// One setting.
pub(super) struct Declaration {
    /// The key of the file.
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) value_name: &'static str,
    pub(super) help: &'static str,
    /// What applies if it is not given: a value, or for some settings a text.
    pub(super) default: SettingValue,
    pub(super) sandbox_default: SettingValue,
    pub(super) otherwise: Option<&'static str>,
    pub(super) hide_value: bool,
    pub(super) parser: fn(Arg) -> Arg,
    pub(super) read: fn(&ArgMatches, &str) -> Result<Option<Value>, toml::ser::Error>,
    pub(super) show: fn(&Settings) -> SettingValue,
    pub(super) has_secret: fn(&Settings) -> bool,
}

impl Declaration {
    pub(super) fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    pub(super) fn variable(&self) -> String {
        format!("PORTICO_{}", self.name.to_ascii_uppercase())
    }

    /// `quote`: around values, but not around texts.
    pub(super) fn default_text(&self, quote: &str) -> Option<String> {
        let value = match (self.otherwise, &self.default) {
            (Some(text), _) => return Some(text.into()),
            (None, SettingValue::Shown(value)) => value,
            (None, _) => return None,
        };
        Some(match &self.sandbox_default {
            SettingValue::Shown(sandbox) => {
                format!("{quote}{value}{quote}; sandbox: {quote}{sandbox}{quote}")
            }
            _ => format!("{quote}{value}{quote}"),
        })
    }

    pub(super) fn arg(&self) -> Arg {
        let mut help = self.help.trim().replace('`', "");
        if let Some(default) = self.default_text("").filter(|default| default != "false") {
            help.extend([" [default: ", default.as_ref(), "]"]);
        }
        let arg = Arg::new(self.name)
            .long(self.flag())
            .env(self.variable())
            .value_name(self.value_name)
            .help(help)
            .help_heading(self.group.heading())
            .hide_env_values(self.hide_value)
            .global(self.group == Group::Common);
        (self.parser)(arg)
    }
}

/// Declares the settings. For each: its documentation, which is also the text of `--help` and of docs/operations.md; its
/// name and that of its value; its type, which tells whether it is secret; its default, another one for a sandbox, or
/// a text that tells the default if it depends on other settings.
macro_rules! settings {
    (@default) => { Default::default() };
    (@default $default:expr) => { $default };
    (@shown $kind:ty) => { SettingValue::NotSet };
    (@shown $kind:ty, $default:expr) => { <$kind as SettingKind>::show(&$default) };
    (@text) => { None };
    (@text $text:literal) => { Some($text) };

    ($($group:ident { $(
        $(#[doc = $doc:literal])+
        $name:ident($value_name:literal): $kind:ty
            $(= $default:expr $(, sandbox $sandbox:expr)?)? $(, otherwise $otherwise:literal)?;
    )+ })+) => {
        /// The settings from flags, environment and file, not validated yet.
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Settings {
            $($($(#[doc = $doc])+ pub $name: $kind,)+)+
            /// In the file only, as the next two.
            pub bureaus: BTreeMap<String, BureauConfig>,
            /// Consent texts by version.
            pub consents: BTreeMap<String, String>,
            pub screening: ScreeningConfig,
            /// Where they were given, by name.
            #[serde(skip)]
            pub sources: Sources,
        }

        impl Default for Settings {
            fn default() -> Self {
                Self {
                    $($($name: settings!(@default $($default)?),)+)+
                    bureaus: BTreeMap::new(),
                    consents: BTreeMap::new(),
                    screening: ScreeningConfig::default(),
                    sources: Sources::new(),
                }
            }
        }

        impl Settings {
            /// Defaults of a sandbox, for what was not given.
            pub(super) fn use_sandbox_defaults(&mut self) {
                $($($($(if !self.sources.contains_key(stringify!($name)) {
                    self.$name = $sandbox;
                })?)?)+)+
            }
        }

        /// In the order of the documentation.
        pub(super) fn declarations() -> Vec<Declaration> {
            vec![$($(Declaration {
                name: stringify!($name),
                group: Group::$group,
                value_name: $value_name,
                help: concat!($($doc),+),
                default: settings!(@shown $kind $(, $default)?),
                sandbox_default: settings!(@shown $kind $($(, $sandbox)?)?),
                otherwise: settings!(@text $($otherwise)?),
                hide_value: <$kind as SettingKind>::HIDE_VALUE,
                parser: <$kind as SettingKind>::parser,
                read: <$kind as SettingKind>::read,
                show: |settings| settings.$name.show(),
                has_secret: |settings| settings.$name.has_secret(),
            },)+)+]
        }
    };
}
pub(super) use settings;
