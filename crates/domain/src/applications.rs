//! Applications of users to listings: their states, and the transitions between them.

use serde::Serialize;
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
    Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, IntoStaticStr, EnumString, VariantArray, ToSchema,
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

    /// Neither withdrawn nor closed: the applicant's flags and checks are shared with the owner.
    pub const fn is_visible_to_owner(self) -> bool {
        !matches!(self, Self::Withdrawn | Self::Closed)
    }

    /// The only state that can still change.
    fn open(self) -> Result<(), ErrorCode> {
        match self {
            Self::Submitted => Ok(()),
            Self::Withdrawn => Err(ErrorCode::ApplicationWithdrawn),
            Self::Approved | Self::Conditional | Self::Declined => Err(ErrorCode::ApplicationDecided),
            Self::Closed => Err(ErrorCode::ApplicationClosed),
        }
    }

    pub fn withdraw(self) -> Result<Self, ErrorCode> {
        self.open().map(|()| Self::Withdrawn)
    }

    pub fn decide(self, decision: Decision) -> Result<Self, ErrorCode> {
        self.open().map(|()| decision.status())
    }
}

/// What the owner of a listing decides about an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumString, VariantArray, VariantNames, ToSchema)]
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
            assert_eq!(status.withdraw().is_ok(), is_open);
            for decision in Decision::ALL {
                assert_eq!(status.decide(*decision).is_ok(), is_open);
            }
        }
        assert_eq!(ApplicationStatus::Approved.withdraw(), Err(ErrorCode::ApplicationDecided));
        assert_eq!(
            ApplicationStatus::Withdrawn.decide(Decision::Declined),
            Err(ErrorCode::ApplicationWithdrawn)
        );
    }
}
