//! Applications of users to listings: their states, and the transitions between them.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray, VariantNames};
use utoipa::ToSchema;

use crate::{ErrorCode, FaultCode, ListingId, UserId, ValidationError, validation};

/// The listings of a user's open and decided applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationMapping {
    pub user: UserId,
    pub listings: Vec<ListingId>,
}

/// Where an application stands.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    Serialize,
    Deserialize,
    IntoStaticStr,
    EnumString,
    VariantArray,
    ToSchema,
)]
#[strum(serialize_all = "lowercase", const_into_str)]
#[serde(rename_all = "lowercase")]
pub enum ApplicationStatus {
    Submitted,
    /// By the applicant.
    Withdrawn,
    Approved,
    Conditional,
    Declined,
    /// The listing was deleted.
    Closed,
}

impl ApplicationStatus {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    /// The name in the database and in JSON.
    pub const fn name(self) -> &'static str {
        self.into_str()
    }

    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Neither withdrawn nor closed: the report is shared with the owner, unless the applicant has ended that.
    pub const fn is_visible_to_owner(self) -> bool {
        !matches!(self, Self::Withdrawn | Self::Closed)
    }

    /// The only state whose report can still change.
    pub fn open(self) -> Result<(), ErrorCode> {
        match self {
            Self::Submitted => Ok(()),
            Self::Withdrawn => Err(ErrorCode::ApplicationWithdrawn),
            Self::Approved | Self::Conditional | Self::Declined => Err(ErrorCode::ApplicationDecided),
            Self::Closed => Err(ErrorCode::ApplicationClosed),
        }
    }

    /// By the applicant. A decision stays; what was shared for it ends.
    pub fn end_sharing(self) -> Result<Self, ErrorCode> {
        match self.open() {
            Ok(()) => Ok(Self::Withdrawn),
            Err(ErrorCode::ApplicationDecided) => Ok(self),
            Err(code) => Err(code),
        }
    }

    pub fn decide(self, decision: Decision) -> Result<Self, ErrorCode> {
        self.open().map(|()| decision.status())
    }
}

/// What the owner of a listing decides about an application.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumString,
    VariantArray,
    VariantNames,
    ToSchema,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    Approved,
    Conditional,
    Declined,
}

impl Decision {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    pub const fn status(self) -> ApplicationStatus {
        match self {
            Self::Approved => ApplicationStatus::Approved,
            Self::Conditional => ApplicationStatus::Conditional,
            Self::Declined => ApplicationStatus::Declined,
        }
    }

    pub const fn name(self) -> &'static str {
        self.status().name()
    }

    pub fn parse(name: &str) -> Result<Self, ValidationError> {
        validation::parse_name(name, FaultCode::UnknownDecision)
    }

    /// Whether naming a check makes it an adverse action (15 U.S.C. 1681m).
    pub const fn is_adverse(self) -> bool {
        !matches!(self, Self::Approved)
    }
}

/// What a decision is based on that names no checks.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    EnumString,
    VariantArray,
    VariantNames,
    ToSchema,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum DecisionBasis {
    NoReport,
}

impl DecisionBasis {
    pub fn parse(name: &str) -> Result<Self, ValidationError> {
        validation::parse_name(name, FaultCode::UnknownBasis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_names_round_trip() {
        for status in ApplicationStatus::ALL {
            assert_eq!(ApplicationStatus::parse(status.name()), Some(*status));
        }
        assert_eq!(ApplicationStatus::parse("open"), None);
    }

    #[test]
    fn only_a_submitted_application_changes() {
        for status in ApplicationStatus::ALL {
            let is_open = *status == ApplicationStatus::Submitted;
            assert_eq!(status.end_sharing().is_ok(), status.is_visible_to_owner());
            for decision in Decision::ALL {
                assert_eq!(status.decide(*decision).is_ok(), is_open);
            }
        }
        assert_eq!(ApplicationStatus::Submitted.end_sharing(), Ok(ApplicationStatus::Withdrawn));
        assert_eq!(ApplicationStatus::Declined.end_sharing(), Ok(ApplicationStatus::Declined));
        assert_eq!(
            ApplicationStatus::Withdrawn.decide(Decision::Declined),
            Err(ErrorCode::ApplicationWithdrawn)
        );
    }
}
