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
