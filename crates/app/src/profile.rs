//! The two ways in which an instance runs.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// For trials: mostly open, on loopback only.
    Sandbox,
    /// For production.
    Live,
}

impl Profile {
    /// The name on the command line and in the database.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sandbox => "sandbox",
            Self::Live => "live",
        }
    }

    pub(crate) const fn key_prefix(self) -> &'static str {
        match self {
            Self::Sandbox => "test",
            Self::Live => "live",
        }
    }
}

/// Who may call what. A live instance has its own table; a sandbox is mostly open, or has that of live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessTable {
    Open,
    Live,
}

impl From<Profile> for AccessTable {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Sandbox => Self::Open,
            Profile::Live => Self::Live,
        }
    }
}
